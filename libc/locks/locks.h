/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of this folder offer each other. All of it may run in signal handlers, in a
 * child of vfork(), and before any constructor; nothing allocates from the heap, takes a lock,
 * or changes errno.
 */
#ifndef VFTR_LOCKS_LOCKS_H
#define VFTR_LOCKS_LOCKS_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>
#include "libc/locks/functions.h"
#include "libc/interpose.h"
#include "shm/atomic.h"
#include "shm/locks.h"

enum function {
#define FUNCTION_NUMBER(symbol, version) CALL_##symbol,
	FUNCTIONS(FUNCTION_NUMBER)
#undef FUNCTION_NUMBER
		CALLS
};

/* ---- real.c: the functions of whoever comes behind us ---- */

/* Addresses by enum function; 0: not looked for yet. */
extern uintptr_t locks_real[CALLS];
/*
 * Finds the address of f and stores it in locks_real[]. If there is none, it is that of a function
 * that returns ENOSYS.
 */
uintptr_t locks_find(enum function f);

#define REAL(symbol)                                                                               \
	((__typeof__(&symbol))(likely(locks_real[CALL_##symbol]) ? locks_real[CALL_##symbol]       \
								 : locks_find(CALL_##symbol)))

/* ---- names.c: the locks that were waited for ---- */

/*
 * The number of this lock; names it to the agent first if that was not done. Only while
 * locks_host->on() is true.
 */
uint32_t locks_number(const void *lock, enum lock_kind kind);

/* ---- wait.c: a thread that waits ---- */

/* NULL: the process has no libvftrace, or one of another version. */
extern const struct locks_host *locks_host;

struct wait {
	enum function function;
	uint32_t number; /* 0: it is not recorded */
	const void *lock;
};

/* Opens the frame of f: the calling thread is about to wait for this lock. *w is the caller's, for
 * locks_end(). */
void locks_begin(struct wait *w, enum function f, const void *lock, enum lock_kind kind);
/* Closes the frame: the thread waits no longer. how: whether it has the lock now. */
void locks_end(const struct wait *w, enum lock_wait how);
/* The same when the thread is cancelled in the wait; wait: a struct wait. */
void locks_cancelled(void *wait);

/* Threads that wait, by the lock's address; locks may share one. */
#define WAITING 256u /* a power of two */
struct waiting {
	uint32_t n;
	char pad[60]; /* each on a cache line of its own, as locks are that different threads use */
};
extern struct waiting locks_waiting[WAITING];

static inline uint32_t *locks_waiting_for(const void *lock)
{
	return &locks_waiting[(uintptr_t)lock * 0x9e3779b97f4a7c15u >> 56].n;
}

_Static_assert(WAITING == 1u << (64 - 56), "locks_waiting_for() takes the upper bits");

/*
 * The calling thread is about to give this lock back: recorded if another thread waits for it. A
 * thread that begins to wait at this moment gets it at once, and needs no record.
 */
void locks_leave(const void *lock, enum lock_kind kind);

static inline void locks_leaves(const void *lock, enum lock_kind kind)
{
	/* relaxed: the lock itself orders the rest */
	if (unlikely(load_relaxed(locks_waiting_for(lock))))
		locks_leave(lock, kind);
}

#endif
