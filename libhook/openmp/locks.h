/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for which lock of OpenMP: so that a lock is given back without a record unless another
 * thread waits for it. Any thread; no function waits, fails, or changes errno.
 */
#ifndef VFTR_LIBHOOK_OPENMP_LOCKS_H
#define VFTR_LIBHOOK_OPENMP_LOCKS_H

#include <stdint.h>
#include "shm/record.h"

/* What a WAIT has of the lock at this address; flags: OPENMP_HOLDS, OPENMP_TURN. */
static inline uint64_t vftr_lock_bits(const void *lock, uint64_t flags)
{
	return (uint64_t)openmp_lock((uintptr_t)lock) << 32 | flags;
}

/* The calling thread may have to wait for the lock from now on; it no longer does. */
void vftr_lock_wanted(const void *lock);
void vftr_lock_got(const void *lock);
/* The calling thread is about to give the lock back: recorded if a thread waits for it. */
void vftr_lock_leaves(const void *lock);

#endif
