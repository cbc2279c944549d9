/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kinds of waits of one rank for another one, or of a thread for another one of its process;
 * vftr-analysis(7) says how each is computed.
 */
#ifndef VFTR_NODEAGENT_BASE_WAIT_KINDS_H
#define VFTR_NODEAGENT_BASE_WAIT_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * X(KIND, name in JSON and CSV, title in logs): one row each. Profiles have the numbers, so a new
 * kind comes last.
 */
#define WAIT_KINDS(X)                                                                              \
	X(LATE_SENDER, "late_sender", "Late sender")                                               \
	X(BARRIER, "barrier", "Wait at barrier")                                                   \
	X(NXN, "nxn", "Wait at NxN")                                                               \
	X(LATE_ROOT, "late_root", "Late root")                                                     \
	X(EARLY_ROOT, "early_root", "Early root")                                                  \
	X(SCAN, "scan", "Wait at scan")                                                            \
	X(NEIGHBOURS, "neighbours", "Wait for neighbours")                                         \
	X(LATE_RECEIVER, "late_receiver", "Late receiver")                                         \
	X(LOCK, "lock", "Lock")                                                                    \
	X(WRONG_ORDER, "wrong_order", "Wrong order")                                               \
	X(RMA_FENCE, "rma_fence", "Wait at fence")                                                 \
	X(RMA_POST, "rma_post", "Late post")                                                       \
	X(RMA_COMPLETE, "rma_complete", "Late complete")                                           \
	X(RMA_LOCK, "rma_lock", "Window lock")                                                     \
	X(MUTEX, "mutex", "Mutex")                                                                 \
	X(CONDITION, "condition", "Condition variable")                                            \
	X(RWLOCK, "rwlock", "Read-write lock")                                                     \
	X(SPIN, "spin_lock", "Spin lock")                                                          \
	X(THREAD_BARRIER, "thread_barrier", "Barrier of threads")                                  \
	X(SEMAPHORE, "semaphore", "Semaphore")                                                     \
	X(THREAD_END, "thread_end", "End of a thread")

enum wait_kind {
#define WAIT_KIND(kind, name, title) WAIT_##kind,
	WAIT_KINDS(WAIT_KIND)
#undef WAIT_KIND
		WAIT_KINDS_END
};

/* Static texts; kind < WAIT_KINDS_END. */
const char *wait_kind_name(uint32_t kind);
const char *wait_kind_title(uint32_t kind);

/* True if a receive waited until its message was sent. */
static inline bool wait_is_for_sender(uint32_t kind)
{
	return kind == WAIT_LATE_SENDER || kind == WAIT_WRONG_ORDER;
}

/* True if threads of one process wait for each other. */
static inline bool wait_is_of_threads(uint32_t kind)
{
	return kind == WAIT_LOCK || (kind >= WAIT_MUTEX && kind <= WAIT_THREAD_END);
}

/* ---- whether the program or MPI has chosen the message that a receive gets ----------------- */

/*
 * A message has a queue, made of its communicator and tag. A receive from MPI_ANY_SOURCE takes what
 * comes first in one queue, or with MPI_ANY_TAG in any: there is no other order for the program to
 * choose.
 */
#define CHOICE_NAMED 0u		/* it names its sender */
#define CHOICE_ALL   UINT32_MAX /* it takes any message; also: what it takes is not known */

/* Neither of these two. Different queues may have one number, by chance. */
static inline uint32_t choice_queue(uint64_t comm, uint32_t tag)
{
	uint64_t h = (comm ^ (uint64_t)tag << 32) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 29) * 0xd6e8feb86659fd93u;
	return (uint32_t)(h >> 32 | 1) & ~2u;
}

/* What a receive takes: one of the two, or the number of a queue. */
static inline uint32_t choice_of(bool any_source, bool any_tag, uint32_t queue)
{
	if (!any_source)
		return CHOICE_NAMED;
	return any_tag ? CHOICE_ALL : queue;
}

/* True if the program could have chosen a message of this queue before what the receive got. */
static inline bool choice_is_free(uint32_t takes, uint32_t queue)
{
	return takes == CHOICE_NAMED || (takes != CHOICE_ALL && takes != queue);
}

#endif
