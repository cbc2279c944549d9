/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that may still be taken before the kernel kills a process: by the
 * machine and by our memory control groups, versions 1 and 2. The kernel kills the
 * largest process, which would be the application.
 */
#ifndef VFTR_NODEAGENT_PROCESS_MEMORY_H
#define VFTR_NODEAGENT_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct memory_left {
	uint64_t most; /* the smallest limit, bytes */
	uint64_t left; /* free now, bytes; cached files that can be dropped included */
	bool strict;   /* vm.overcommit_memory is 2: a page that was promised may be refused */
};

/*
 * proc and cgroups are "/proc" and "/sys/fs/cgroup", except in tests. A limit that
 * cannot be read is UINT64_MAX.
 */
struct memory_left memory_left(const char *proc, const char *cgroups);

#endif
