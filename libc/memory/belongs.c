/* SPDX-License-Identifier: BSD-3-Clause */
/* Who allocates for others says, afterwards, what for: Kokkos, whose labels come with the data. */
#include "libc/memory/memory.h"

#define ALIGNMENT   16u
#define BEFORE_MOST 256u /* bytes of a header, and what aligns it, in front of the data */

EXPORT memory_belongs_function vftrace_memory_belongs;

/*
 * A large block is recorded for sure, and no other one begins between it and its data. A small one
 * may be no sample while a neighbour is: then only a block that begins with the data is theirs.
 */
EXPORT void vftrace_memory_belongs(const void *p, uint64_t bytes)
{
	const char *at = (const char *)((uintptr_t)p & ~(uintptr_t)(ALIGNMENT - 1));
	const uint64_t before = bytes >= load_relaxed(&memory_large) ? BEFORE_MOST : 0;

	for (uint64_t i = 0; p && i <= before; i += ALIGNMENT)
		if (memory_may_know(at - i) && memory_belongs(at - i))
			return;
}
