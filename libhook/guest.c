/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two tasks with one thread-local memory: a child of vfork() until it becomes
 * another program, and what clone() starts with CLONE_VM but without
 * CLONE_SETTLS. Nobody but the thread that had the memory first, the host, is
 * recorded; while there are guests every event takes the slow path, which asks
 * the kernel who is calling.
 */
#include <sys/syscall.h>
#include <unistd.h>
#include "libhook/process.h"

bool thread_is_guest(const struct thread *t)
{
	return t->guests && (int32_t)syscall(SYS_gettid) != t->host;
}

void guests_begin(void)
{
	struct thread *t = &vftr_thread;

	if (!t->guests)
		t->host = (int32_t)syscall(SYS_gettid);
	busy_begin(t);
	t->limit = NULL;
	if (t->busy == 1) /* from here on cur is not believed: guests move it, too */
		t->at = t->cur;
	t->guests++;
	busy_end(t);
}

void guests_end(void)
{
	vftr_thread.guests--; /* the next event sets limit again */
}
