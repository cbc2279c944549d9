/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/annotations.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/base/util.h"
#include "nodeagent/symbols/elf.h"
#include "shm/annotation.h"

static const struct {
	const char *word;
	enum annotation_way way;
} adapters[] = {
#define ADAPTER(word, way, what) {#word, way},
	ANNOTATIONS(ADAPTER)
#undef ADAPTER
};

/*
 * How a library finds its tool: by `variable`. Kokkos ends the program if two say different
 * things: `option` is the beginning of an argument.
 */
static const struct {
	enum annotation_way way;
	const char *variable, *option;
} ways[] = {
	{ANNOTATION_KOKKOS_LOADS, "KOKKOS_TOOLS_LIBS", "--kokkos-tools-"},
	{ANNOTATION_ITT_LOADS, "INTEL_LIBITTNOTIFY64", NULL},
};

/* Kokkos before 3.7 knows this name only, and later versions complain of it. */
static const char old_kokkos[] = "KOKKOS_PROFILE_LIBRARY";

static bool is_wanted(const char *wanted, enum annotation_way way)
{
	return ANY(i, ARRAY_SIZE(adapters),
		adapters[i].way == way && conf_has_word(wanted, adapters[i].word));
}

bool annotations_need_preload(const char *wanted)
{
	return is_wanted(wanted, ANNOTATION_IS_PRELOADED);
}

static bool is_said(char *const *command, const char *option)
{
	for (; option && *command; command++)
		if (!strncmp(*command, option, strlen(option)))
			return true;
	return false;
}

/* True if the file contains the text `old`, and not `new`. */
static bool has_only(const char *path, const char *old, const char *new)
{
	const size_t overlap = strlen(old) > strlen(new) ? strlen(old) : strlen(new);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool has_old = false, has_new = false;
	char part[1 << 16];
	size_t kept = 0;
	ssize_t n;

	while (fd >= 0 && !has_new && (n = read(fd, part + kept, sizeof(part) - kept)) > 0) {
		const size_t bytes = kept + (size_t)n;

		has_old = has_old || memmem(part, bytes, old, strlen(old));
		has_new = memmem(part, bytes, new, strlen(new));
		kept = bytes < overlap ? bytes : overlap;
		memmove(part, part + bytes - kept, kept);
	}
	if (fd >= 0)
		close(fd);
	return has_old && !has_new;
}

/* libkokkoscore.so.3.4, libtrilinos_kokkoscore.so.13.2: a Kokkos before 3.7, by the version. */
static bool is_old_library(const char *name)
{
	static const char core[] = "kokkoscore.so.";
	const char *found = strstr(name, core), *minor;
	int major;

	if (!found)
		return false;
	found += strlen(core);
	major = atoi(found);
	minor = strchr(found, '.');
	return strstr(name, "trilinos") ? major < 14
					: major < 3 || (major == 3 && minor && atoi(minor + 1) < 7);
}

static bool has_old_kokkos(char *const *command)
{
	bool old = false;

	for (; *command && !old; command++) {
		struct elf_facts facts;
		char path[PATH_MAX];

		if (!launcher_resolve(*command, path) || elf_facts_read(&facts, path, NULL))
			continue;
		for (size_t i = 0; i < facts.n_needed && !old; i++)
			old = is_old_library(facts.needed[i]);
		elf_facts_done(&facts);
		old = old || has_only(path, old_kokkos, ways[0].variable);
	}
	return old;
}

static void set_offered(const char *variable, const char *library, struct arguments *pass)
{
	setenv(variable, library, 1);
	arguments_add(pass, variable);
}

void annotations_offer(
	const char *wanted, const char *library, char *const *command, struct arguments *pass)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		const bool kokkos = ways[i].way == ANNOTATION_KOKKOS_LOADS;

		if (!is_wanted(wanted, ways[i].way) || getenv(ways[i].variable) ||
			(kokkos && getenv(old_kokkos)) || is_said(command, ways[i].option))
			continue;
		set_offered(kokkos && has_old_kokkos(command) ? old_kokkos : ways[i].variable,
			library, pass);
	}
}
