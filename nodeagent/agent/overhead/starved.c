/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/overhead/starved.h"

#include <dirent.h>
#include <stdio.h>

#include "nodeagent/process/procfs.h"

#define SHARE_LEAST 0.01 /* of a share: of less nothing can be told */

uint64_t starved_ns(int pid)
{
	const struct dirent *entry;
	uint64_t ns = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = pid > 0 ? opendir(path) : NULL;
	if (!tasks)
		return 0;
	while ((entry = readdir(tasks))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.20s/schedstat", entry->d_name);
		ns += procfs_queued_ns(dirfd(tasks), path);
	}
	closedir(tasks);
	return ns;
}

double starved_share(double cpu, double starved, double blocked)
{
	const double wanted = cpu + starved + blocked;

	if (!(cpu > 0))
		return 1;
	return cpu / wanted > SHARE_LEAST ? cpu / wanted : SHARE_LEAST;
}
