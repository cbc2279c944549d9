/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses of recording: the program's own, which nest, and one of the agent's. Only code that runs
 * rarely looks whether the agent wants one: when a block is full, when the time of 31 bits wraps,
 * and, as then no event takes the fast path, with each event of a thread that is paused.
 */
#include "libhook/process.h"
#include "libhook/vftrace.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * With the process locked, by a thread that is busy: libvftrace-locks would record a wait for the
 * lock, and that may follow the agent's pause, which takes it again.
 */
static void set_pauses(uint32_t pauses)
{
	store_release(&vftr_process.pauses, pauses);
	vftr_process_gate();
}

EXPORT void vftrace_pause(void)
{
	busy_begin(&vftr_thread);
	vftr_process_lock();
	set_pauses(vftr_process.pauses + 1);
	vftr_process_unlock();
	busy_end(&vftr_thread);
	vftr_slow(clock_counter(), 0, 0, NULL);
}

EXPORT void vftrace_resume(void)
{
	busy_begin(&vftr_thread);
	vftr_process_lock();
	if (vftr_process.pauses & ~PAUSED_BY_AGENT)
		set_pauses(vftr_process.pauses - 1);
	vftr_process_unlock();
	busy_end(&vftr_thread);
	vftr_slow(clock_counter(), 0, 0, NULL);
}

static bool is_wanted(void)
{
	return load_relaxed(&vftr_process.agent->orders) & ORDER_PAUSE;
}

void vftr_pause_attach(void)
{
	const bool wanted = is_wanted();

	set_pauses((vftr_process.pauses & ~PAUSED_BY_AGENT) | (wanted ? PAUSED_BY_AGENT : 0));
	store_relaxed(&vftr_process.app->paused, wanted);
}

bool vftr_pause_follow(void)
{
	const uint32_t pauses = load_relaxed(&vftr_process.pauses);

	if (is_wanted() != !!(pauses & PAUSED_BY_AGENT)) {
		vftr_process_lock();
		if (process_is_on())
			vftr_pause_attach();
		vftr_process_unlock();
	}
	return load_relaxed(&vftr_process.pauses);
}
