/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory may still be taken before the kernel ends a process for it:
 * that of the machine and of the memory control groups we are in, versions 1 and
 * 2. The kernel ends the largest process, which would be the application.
 */
#ifndef VFTR_NODEAGENT_MEMORY_LEFT_H
#define VFTR_NODEAGENT_MEMORY_LEFT_H

#include <stdint.h>

struct memory_left {
	uint64_t most; /* the smallest limit there is, bytes */
	uint64_t left; /* what may be taken now, files that can be dropped included */
};

/*
 * proc and cgroups are "/proc" and "/sys/fs/cgroup" but in tests. What cannot
 * be read limits nothing: then a number is UINT64_MAX.
 */
struct memory_left memory_left(const char *proc, const char *cgroups);

#endif
