/* SPDX-License-Identifier: BSD-3-Clause */
/* From an agent that has gone to the next one of its session. */
#ifndef VFTR_LIBHOOK_SUCCESSOR_H
#define VFTR_LIBHOOK_SUCCESSOR_H

#include <stdbool.h>
#include <stdint.h>
#include "libhook/thread.h"

/* Ticks between two looks at the agent, about a second at most. */
#if defined(__x86_64__)
#define AGENT_LOOK_TICKS ((uint64_t)1 << 30)
#else
#define AGENT_LOOK_TICKS ((uint64_t)1 << 25) /* counters of 25 MHz to 1 GHz */
#endif

#pragma GCC visibility push(hidden)

/* The agent wants it, and the process has no state that only its first agent knows. */
bool vftr_successor_may_come(void);

/* The agent is gone, and a successor may come: closes the socket. With the lock held. */
void vftr_agent_lost(void);

/*
 * With the lock held: a packet could not be sent, or its answer not be received, with this -errno.
 * The process waits for a successor if the agent is gone and one may come; else it is switched off.
 */
void vftr_agent_failed(int error);

/*
 * If the agent is gone, goes over to its successor, if that is there now; vftr_process.generation
 * is another one then. ticks: of clock_counter(), now. The calling thread is busy, without the
 * lock.
 */
void vftr_successor_look(uint64_t ticks);

/* When the first record was stored that nobody has read of the calling thread's ring, about; or
 * now. In ticks of vftr_process_ticks(). */
uint64_t vftr_ring_unread_since(const struct ring *r);

/* What nobody has read of ring `from', of thread tid, which has ended, goes to the new ring `to'.
 */
void vftr_ring_give(struct ring *to, const struct ring *from, int32_t tid);

/*
 * Thread t, the calling one, has a new ring, in which nothing is stored: what nobody has read of
 * the left ring that it had `before' goes there, the new ring to the place of that one, and t goes
 * on as it was then. False: there was no room for it, or the rings differ in size; the left
 * ring is still there, unless the state is THREAD_OFF now. With the lock held.
 */
bool vftr_ring_take_along(struct thread *t, const struct thread *before);

#pragma GCC visibility pop

#endif
