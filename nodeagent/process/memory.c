/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/memory.h"
#include "nodeagent/base/util.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Files of a control group; limit and use may be missing, as at the root. */
struct controller {
	const char *root; /* below the mount point of all */
	const char *limit, *use, *droppable;
};

static const struct controller controllers[] = {
	{"", "memory.max", "memory.current", "inactive_file"},
	{"/unified", "memory.max", "memory.current", "inactive_file"},
	{"/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
};

/* The number behind `name`, or the first of the file if there is no name. */
static bool number_in(const char *path, const char *name, uint64_t *out)
{
	size_t bytes = strlen(name);
	bool found = false;
	char line[256];
	FILE *f = fopen(path, "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, name, bytes) && (!bytes || line[bytes] == ' ') &&
			sscanf(line + bytes, "%" SCNu64, out) == 1;
	if (f)
		fclose(f);
	return found;
}

static void lower(struct memory_left *m, uint64_t most, uint64_t left)
{
	m->most = MIN(m->most, most);
	m->left = MIN(m->left, left);
}

static void look_at_group(struct memory_left *m, const char *directory, const struct controller *c)
{
	char path[PATH_MAX];
	uint64_t limit, use, files = 0;

	snprintf(path, sizeof(path), "%.3000s/%s", directory, c->limit);
	if (!number_in(path, "", &limit)) /* or it is "max" */
		return;
	/* what is used takes long to find out, and more than the machine has limits nothing */
	if (limit >= m->most)
		return;
	snprintf(path, sizeof(path), "%.3000s/%s", directory, c->use);
	if (!number_in(path, "", &use))
		return;
	snprintf(path, sizeof(path), "%.3000s/memory.stat", directory);
	if (!number_in(path, c->droppable, &files) || files > use)
		files = 0;
	use -= files;
	lower(m, limit, limit > use ? limit - use : 0);
}

/* A group and all above it. In a container the path may not be what we see: then the top counts. */
static void look_at_groups(
	struct memory_left *m, const char *cgroups, const char *path, const struct controller *c)
{
	char directory[2048];
	size_t top = (size_t)snprintf(directory, sizeof(directory), "%.800s%s", cgroups, c->root);
	char *slash;

	snprintf(directory + top, sizeof(directory) - top, "%s", path);
	for (;;) {
		look_at_group(m, directory, c);
		slash = strrchr(directory + top, '/');
		if (!slash)
			return;
		*slash = '\0';
	}
}

/* A line of /proc/self/cgroup: number, controllers (none: version 2), path. */
static void look_at_line(struct memory_left *m, const char *cgroups, char *line)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;

	if (!path)
		return;
	names++;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (!names[0]) {
		look_at_groups(m, cgroups, path, &controllers[0]);
		look_at_groups(m, cgroups, path, &controllers[1]);
	} else if (!strcmp(names, "memory")) {
		look_at_groups(m, cgroups, path, &controllers[2]);
	}
}

struct memory_left memory_left(const char *proc, const char *cgroups)
{
	struct memory_left m = {UINT64_MAX, UINT64_MAX, false};
	char path[PATH_MAX], line[1024];
	uint64_t total, available, overcommit;
	FILE *f;

	snprintf(path, sizeof(path), "%s/meminfo", proc);
	if (number_in(path, "MemTotal:", &total) && number_in(path, "MemAvailable:", &available))
		lower(&m, total << 10, available << 10);
	snprintf(path, sizeof(path), "%s/sys/vm/overcommit_memory", proc);
	m.strict = number_in(path, "", &overcommit) && overcommit == 2;
	snprintf(path, sizeof(path), "%s/self/cgroup", proc);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		look_at_line(&m, cgroups, line);
	if (f)
		fclose(f);
	return m;
}
