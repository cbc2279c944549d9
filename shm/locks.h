/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the C library, and the other objects that its threads wait at: the message with the
 * address of one, and the interface between libvftrace and libvftrace-locks.so in a process. The
 * latter stands in for the functions of the C library.
 *
 * A wait has the records WAIT and UNLOCK (shm/record.h), like one of OpenMP: a WAIT is the frame of
 * a region with the function's name.
 */
#ifndef VFTR_SHM_LOCKS_H
#define VFTR_SHM_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "shm/record.h"
#include "shm/wire.h"

/* X(KIND, name): a row adds one. Profiles have the numbers, so a new one comes last. */
#define LOCK_KINDS(X)                                                                              \
	X(MUTEX, "mutex")                                                                          \
	X(CONDITION, "condition variable")                                                         \
	X(RWLOCK, "read-write lock")                                                               \
	X(SPIN, "spin lock")                                                                       \
	X(BARRIER, "barrier")                                                                      \
	X(SEMAPHORE, "semaphore")                                                                  \
	X(THREAD, "thread") /* its end, which others wait for */

enum lock_kind {
#define LOCK_KIND(kind, name) LOCK_##kind,
	LOCK_KINDS(LOCK_KIND)
#undef LOCK_KIND
		LOCK_KINDS_END
};

#define LOCKS_NAMED_MOST 4096u /* of a process; all others of a kind are one */

/* _(function): the functions in which threads wait. A WAIT has the region of this name. */
#define LOCK_WAITS(_)                                                                              \
	_(pthread_mutex_lock)                                                                      \
	_(pthread_mutex_timedlock)                                                                 \
	_(pthread_mutex_clocklock)                                                                 \
	_(pthread_rwlock_rdlock)                                                                   \
	_(pthread_rwlock_timedrdlock)                                                              \
	_(pthread_rwlock_clockrdlock)                                                              \
	_(pthread_rwlock_wrlock)                                                                   \
	_(pthread_rwlock_timedwrlock)                                                              \
	_(pthread_rwlock_clockwrlock)                                                              \
	_(pthread_spin_lock)                                                                       \
	_(mtx_lock)                                                                                \
	_(mtx_timedlock)                                                                           \
	_(pthread_cond_wait)                                                                       \
	_(pthread_cond_timedwait)                                                                  \
	_(pthread_cond_clockwait)                                                                  \
	_(cnd_wait)                                                                                \
	_(cnd_timedwait)                                                                           \
	_(pthread_barrier_wait)                                                                    \
	_(sem_wait)                                                                                \
	_(sem_timedwait)                                                                           \
	_(sem_clockwait)                                                                           \
	_(pthread_join)                                                                            \
	_(pthread_timedjoin_np)                                                                    \
	_(pthread_clockjoin_np)                                                                    \
	_(thrd_join)

static inline bool lock_waits_in(const char *function)
{
	static const char *const names[] = {
#define LOCK_WAIT_NAME(name) #name,
		LOCK_WAITS(LOCK_WAIT_NAME)
#undef LOCK_WAIT_NAME
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], function))
			return true;
	return false;
}

/*
 * The number of a lock in WAIT and UNLOCK. Two locks of one kind have different numbers where those
 * of openmp_lock() are, and so have locks of different kinds at one address, but for a few in 2^30.
 */
static inline uint32_t lock_number(uint64_t address, enum lock_kind kind)
{
	const uint32_t n = (openmp_lock(address) + (kind + 1u) * 0x2545f49u) & OPENMP_LOCKS;

	return n > LOCK_KINDS_END ? n : LOCK_KINDS_END + 1;
}

/* The number that all locks of a kind share that are beyond LOCKS_NAMED_MOST. */
static inline uint32_t lock_others(enum lock_kind kind)
{
	return kind + 1u;
}

/* WIRE_LOCK: a lock that a thread had to wait for. */
struct wire_lock {
	struct wire_head head;
	uint32_t number; /* lock_number() */
	uint32_t kind;	 /* enum lock_kind */
	uint32_t nth;	 /* from 1, among the locks of its kind that this process had to wait for */
	uint32_t reserved;
	uint64_t address;
};

_Static_assert(LOCK_KINDS_END < 256, "kinds are few");

/* ---- the interface in the process --------------------------------------------------------- */

#define LOCKS_SEAM_VERSION 1u

/* How a wait has ended. */
enum lock_wait {
	LOCK_WAIT_BEGINS,
	LOCK_WAIT_GOT,	/* the thread has the lock */
	LOCK_WAIT_OVER, /* it has waited, and holds nothing that others may wait for */
	LOCK_WAIT_NONE, /* it has not waited: the call failed, or the others waited for this one */
};

/*
 * Functions that libvftrace offers. Any thread and any signal handler may call them. They keep
 * errno, and never fail.
 */
struct locks_host {
	uint32_t version;
	/*
	 * True if waits of this thread are recorded now. Connects to the agent first if that was
	 * not done.
	 */
	bool (*on)(void);
	/*
	 * Number of forks so far: locks named by tell() before a fork have to be named again after
	 * it.
	 */
	uint32_t (*generation)(void);
	/* Names a lock to the agent. To be called before its number is used, while on() is true. */
	void (*tell)(uint32_t number, enum lock_kind kind, uint32_t nth, const void *address);
	/*
	 * The frame of the function `name` begins, or ends as `how` says; while on() is true.
	 * *cache is 0 at first, one for each name.
	 */
	void (*wait)(enum lock_wait how, const char *name, uint32_t *cache, uint32_t number);
	/* The thread gives the lock back at these ticks, 0: now. Does nothing if on() is false. */
	void (*leaves)(uint32_t number, uint64_t ticks);
	uint64_t (*ticks)(void);
};

/* libvftrace exports vftrace_locks_host(). */
typedef const struct locks_host *locks_host_function(void);

#endif
