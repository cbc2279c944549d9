/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short locks of a process, by turning. 0: free. Signal handlers must not come to one that they
 * have interrupted the holder of.
 */
#ifndef VFTR_SHM_SPIN_H
#define VFTR_SHM_SPIN_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "shm/atomic.h"

#define SPINS_BEFORE_YIELD 100
#define SPINS_BEFORE_SLEEP 200

/* The holder may wait for this CPU: with a lower real-time priority, also where we yield. The bare
 * call is no point where a thread is cancelled. */
static __attribute__((noinline, cold, unused)) void spin_give_way(unsigned spins)
{
	const struct timespec moment = {.tv_nsec = 50000};
	const int saved_errno = errno;

	if (spins < SPINS_BEFORE_SLEEP)
		syscall(SYS_sched_yield);
	else
		syscall(SYS_nanosleep, &moment, NULL);
	errno = saved_errno;
}

static inline void spin_lock(uint32_t *lock)
{
	for (unsigned spins = 0; !claim_u32(lock, 0, 1); spins++) {
		if (spins < SPINS_BEFORE_YIELD)
			cpu_relax();
		else
			spin_give_way(spins);
	}
}

/* False: another thread has held the lock for the whole time of the attempts. */
static inline bool spin_try_lock(uint32_t *lock)
{
	for (unsigned spins = 0; !claim_u32(lock, 0, 1); spins++) {
		if (spins == 10 * SPINS_BEFORE_YIELD)
			return false;
		syscall(SYS_sched_yield);
	}
	return true;
}

static inline void spin_unlock(uint32_t *lock)
{
	store_release(lock, 0); /* pairs with the claim in spin_lock() */
}

#endif
