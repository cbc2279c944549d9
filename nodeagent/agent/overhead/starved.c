/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/overhead/starved.h"

#include <dirent.h>
#include <stdio.h>

#include "nodeagent/process/procfs.h"
#include "nodeagent/profile/running-share.h"

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
	return cpu > 0 ? running_share(cpu, starved + blocked) : 1;
}
