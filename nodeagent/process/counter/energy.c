/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Energy: zones of Linux' powercap, in which Intel and AMD report what packages and
 * their parts have used. All of a kind are added up. The processes read the files
 * themselves; here it is found out which, and whether they may.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/process/counter/events.h"
#include "nodeagent/base/util.h"

#define FOLDER	 "/sys/class/powercap"
#define PACKAGES 16u
#define PARTS	 14u

/* Our names, those of perf(1), and those of zones; "-": a number follows. */
static const struct {
	const char *name, *perf, *zone;
} kinds[] = {
	{"energy:package", "power/energy-pkg/", "package-"},
	{"energy:core", "power/energy-cores/", "core"},
	{"energy:uncore", "power/energy-gpu/", "uncore"},
	{"energy:dram", "power/energy-ram/", "dram"},
	{"energy:psys", "power/energy-psys/", "psys"},
};

/* The name of a zone, without a newline; false: there is no such zone. */
static bool zone_name(const char *path, char *name, size_t bytes)
{
	char *file = xasprintf("%s/name", path);
	FILE *f = fopen(file, "re");
	bool got;

	free(file);
	if (!f)
		return false;
	got = fgets(name, (int)bytes, f) != NULL;
	fclose(f);
	if (got)
		name[strcspn(name, "\n")] = '\0';
	return got;
}

static bool is_kind(const char *kind, const char *name)
{
	size_t n = strlen(kind);

	return kind[n - 1] == '-' ? !strncmp(kind, name, n) : !strcmp(kind, name);
}

/* Adds the zone at path if it is of the kind. */
static void add_zone(
	struct counter_shm *to, const char *kind, const char *path, unsigned zone, char **why)
{
	char name[64], *file;

	if (!zone_name(path, name, sizeof(name)) || !is_kind(kind, name) ||
		to->type == COUNTER_ZONES)
		return;
	file = xasprintf("%s/energy_uj", path);
	if (access(file, R_OK)) {
		free(*why);
		*why = xasprintf("%s cannot be read: %s", file, strerror(errno));
	} else {
		*counter_zone_word(to, to->type) |= (uint64_t)zone << to->type % 8 * 8;
		to->type++;
	}
	free(file);
}

static void add_zones(struct counter_shm *to, const char *kind, char **why)
{
	for (unsigned package = 0; package < PACKAGES; package++) {
		char *path = xasprintf("%s/intel-rapl:%u", to->name, package);

		add_zone(to, kind, path, package << 4, why);
		for (unsigned part = 0; part < PARTS && !access(path, F_OK); part++) {
			char *below = xasprintf("%s/intel-rapl:%u:%u", to->name, package, part);

			add_zone(to, kind, below, package << 4 | (part + 1), why);
			free(below);
		}
		free(path);
	}
}

int counter_energy(const char *name, struct counter_shm *to, char **why)
{
	const char *folder = getenv("VFTR_TEST_POWERCAP");

	if (!folder || !folder[0] || strlen(folder) >= sizeof(to->name))
		folder = FOLDER;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(name, kinds[i].name) && strcmp(name, kinds[i].perf))
			continue;
		*to = (struct counter_shm){.source = COUNTER_ENERGY};
		strcpy(to->name, folder);
		add_zones(to, kinds[i].zone, why);
		if (!to->type && !*why)
			*why = xasprintf("this machine does not tell: no zone \"%s\" in %s",
				kinds[i].zone, folder);
		if (*why)
			to->source = COUNTER_NONE;
		return 0;
	}
	return -1;
}
