/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles are pointers in one MPI and ints in another; here they are 64-bit keys. */
#ifndef VFTR_MPI_HANDLE_H
#define VFTR_MPI_HANDLE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
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

static inline void spin_lock(uint32_t *lock)
{
	for (unsigned spins = 0; !claim_u32(lock, 0, 1); spins++) {
		if (spins < SPINS_BEFORE_YIELD)
			cpu_relax();
		else
			sched_yield(); /* its holder may wait for this CPU */
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
