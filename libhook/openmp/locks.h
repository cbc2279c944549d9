/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which locks of OpenMP threads wait for: giving a lock back is recorded only if another thread
 * waits for it. Any thread may call these functions; none waits, fails, or changes errno.
 */
#ifndef VFTR_LIBHOOK_OPENMP_LOCKS_H
#define VFTR_LIBHOOK_OPENMP_LOCKS_H

#include <stdint.h>
#include "shm/record.h"

/* The bits of a WAIT record for the lock at this address; flags: OPENMP_HOLDS, OPENMP_TURN. */
static inline uint64_t vftr_lock_bits(const void *lock, uint64_t flags)
{
	return (uint64_t)openmp_lock((uintptr_t)lock) << 32 | flags;
}

/*
 * vftr_lock_wanted(): the calling thread may have to wait for the lock from now on.
 * vftr_lock_got(): it does not any more.
 */
void vftr_lock_wanted(const void *lock);
void vftr_lock_got(const void *lock);
/* The calling thread is about to give the lock back: recorded if a thread waits for it. */
void vftr_lock_leaves(const void *lock);

#endif
