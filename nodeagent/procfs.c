/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/procfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int procfs_maps_has(int pid, const char *text)
{
	char path[64], line[4608];
	int found = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && found != 1 && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return found;
}

uint64_t procfs_program(int pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) ? 0 : (uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino;
}

/* Linux 6.13, ioctl(2) on a pidfd; the headers of older systems lack it. */
struct pidfd_exit_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_INFO_EXIT_BIT 8u
#define PIDFD_INFO_IOCTL    _IOWR(0xFF, 11, struct pidfd_exit_info)

_Static_assert(sizeof(struct pidfd_exit_info) == 64, "the kernel's first version");

static bool from_pidfd(int pidfd, int *status)
{
	struct pidfd_exit_info info = {.mask = PIDFD_INFO_EXIT_BIT};

	if (pidfd < 0 || ioctl(pidfd, PIDFD_INFO_IOCTL, &info) ||
		!(info.mask & PIDFD_INFO_EXIT_BIT))
		return false;
	*status = info.exit_code;
	return true;
}

/* Of a process that nobody has waited for yet: the last field of its line. */
static bool from_zombie(int pid, int *status)
{
	char path[64], line[2048], *p, *last;
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f) && (p = strrchr(line, ')')) && p[1] == ' ' &&
		p[2] == 'Z' && (last = strrchr(p, ' '))) {
		*status = atoi(last + 1);
		ok = true;
	}
	fclose(f);
	return ok;
}

bool procfs_exit_status(int pidfd, int pid, int *status)
{
	return from_zombie(pid, status) || from_pidfd(pidfd, status);
}
