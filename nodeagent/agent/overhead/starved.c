/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/overhead/starved.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LEAST 0.01 /* of a share: of less nothing can be told */

static uint64_t of_thread(int tasks, const char *tid)
{
	char path[64], line[128];
	uint64_t ns = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%.20s/schedstat", tid);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = 0;
	return sscanf(line, "%*u %" SCNu64, &ns) == 1 ? ns : 0;
}

uint64_t starved_ns(int pid)
{
	const struct dirent *entry;
	uint64_t ns = 0;
	char path[32];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = pid > 0 ? opendir(path) : NULL;
	if (!tasks)
		return 0;
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			ns += of_thread(dirfd(tasks), entry->d_name);
	closedir(tasks);
	return ns;
}

double starved_share(double cpu, double starved, double blocked)
{
	const double wanted = cpu + starved + blocked;

	if (!(cpu > 0))
		return 1;
	return cpu / wanted > LEAST ? cpu / wanted : LEAST;
}
