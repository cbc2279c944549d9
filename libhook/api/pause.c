/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pauses of recording: the program's own, which nest, and one of the agent's. Only code that runs
 * rarely looks whether the agent wants one: when a block is full, when the time of 31 bits wraps,
 * and, as then no event takes the fast path, with each event of a thread that is paused.
 */
#include "libhook/process.h"
#include "libhook/vftrace.h"
#include "shm/message.h"

#define EXPORT __attribute__((visibility("default")))

static uint32_t posted_in_pause; /* number of the first request, by any thread; 0: none yet */

/*
 * With the process locked, by a thread that is busy: libvftrace-locks would record a wait for the
 * lock, and that may follow the agent's pause, which takes it again.
 */
static void set_pauses(uint32_t pauses)
{
	if (!vftr_process.pauses)
		store_relaxed(&posted_in_pause, 0);
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
	vftr_slow(clock_counter(), 0, 0, __builtin_return_address(0));
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

static bool is_posting(const struct message *m)
{
	switch (m->kind) {
	case RECORD_SEND:
	case RECORD_POST:
	case RECORD_COLLECTIVE:
	case RECORD_RMA:
	case RECORD_FILE:
		return m->request && !(m->flags & MESSAGE_MATCHED); /* that has its probe's */
	default:
		return false;
	}
}

bool vftr_pause_keeps(const uint64_t *word)
{
	struct message m;
	uint32_t first;

	if (!message_read(word, &m))
		return false;
	if (is_posting(&m))
		claim_u32(&posted_in_pause, 0, m.request);
	first = load_relaxed(&posted_in_pause); /* threads that race may let one more by */
	return m.kind == RECORD_DONE && (!first || (int32_t)((m.request - first) << 1) < 0);
}
