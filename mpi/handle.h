/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles are pointers in one MPI and ints in another; here they are 64-bit keys. */
#ifndef VFTR_MPI_HANDLE_H
#define VFTR_MPI_HANDLE_H

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "shm/atomic.h"

#define HANDLE_KEY(handle)                                                                         \
	__extension__({                                                                            \
		__typeof__(handle) h_ = (handle);                                                  \
		uint64_t key_ = 0;                                                                 \
		memcpy(&key_, &h_, sizeof(h_));                                                    \
		key_;                                                                              \
	})

static inline uint64_t handle_hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 32;
}

/* Short locks, taken only where several threads may be inside of MPI. */
#define SPINS_BEFORE_YIELD 100
#define SPINS_BEFORE_SLEEP 200

/* The holder may wait for this CPU: with a lower real-time priority, also where we yield. The bare
 * call is no point where a thread is cancelled. */
static __attribute__((noinline, cold, unused)) void spin_give_way(unsigned spins)
{
	const struct timespec moment = {.tv_nsec = 50000};
	const int saved_errno = errno;

	if (spins < SPINS_BEFORE_SLEEP)
		sched_yield();
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
		sched_yield();
	}
	return true;
}

static inline void spin_unlock(uint32_t *lock)
{
	store_release(lock, 0); /* pairs with the claim in spin_lock() */
}

#endif
