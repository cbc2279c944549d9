/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of threads that wait, in a table by address. Locks that share an entry are given back
 * with a record more than needed. A thread that begins to wait while another one is between its
 * look at the table and giving the lock back waits no longer than that takes, and nobody is told.
 */
#include "libhook/openmp/locks.h"

#include "libhook/emit.h"
#include "libhook/process.h"

#define ENTRIES 256u /* a power of two */

/* Each on a cache line of its own, as locks are that different threads use. */
static struct {
	uint32_t waiting;
	char pad[60];
} entries[ENTRIES] __attribute__((aligned(64)));

static uint32_t *entry_of(const void *lock)
{
	return &entries[(uintptr_t)lock * 0x9e3779b97f4a7c15u >> 56].waiting;
}

_Static_assert(ENTRIES == 1u << (64 - 56), "entry_of() takes the upper bits");

void vftr_lock_wanted(const void *lock)
{
	/* pairs with the load in vftr_lock_leaves(); the lock itself orders the rest */
	add_relaxed_u32(entry_of(lock), 1);
}

void vftr_lock_got(const void *lock)
{
	add_relaxed_u32(entry_of(lock), UINT32_MAX); /* nothing depends on its order */
}

void vftr_lock_leaves(const void *lock)
{
	/* relaxed: who is not seen here yet gets the lock at once */
	if (load_relaxed(entry_of(lock)) && vftr_active())
		vftr_emit_3(RECORD_UNLOCK, openmp_lock((uintptr_t)lock),
			OPENMP_MARK | vftr_process_ticks());
}
