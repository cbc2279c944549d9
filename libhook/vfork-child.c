/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two tasks with one thread-local memory: a child of vfork() until it becomes
 * another program, and what clone() starts with CLONE_VM but without
 * CLONE_SETTLS. Nobody but the thread that had the memory first, the host, is
 * recorded; while there are vfork children every event takes the slow path, which asks
 * the kernel who is calling.
 */
#include <sys/syscall.h>
#include <unistd.h>
#include "libhook/process.h"
#include "libhook/switches.h"

bool vftr_thread_is_vfork_child(const struct thread *t)
{
	return t->vfork_children && (int32_t)syscall(SYS_gettid) != t->host;
}

void vftr_vfork_children_begin(void)
{
	struct thread *t = &vftr_thread;

	if (!t->vfork_children)
		t->host = (int32_t)syscall(SYS_gettid);
	busy_begin(t);
	t->limit = NULL;
	vftr_switches_share(t, true);
	if (t->busy == 1) /* from here on cur is not believed: vfork children move it, too */
		t->at = t->cur;
	t->vfork_children++;
	busy_end(t);
}

void vftr_vfork_children_end(void)
{
	vftr_thread.vfork_children--; /* the next event sets limit again */
	if (!vftr_thread.vfork_children)
		vftr_switches_share(&vftr_thread, false);
}
