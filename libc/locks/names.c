/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The locks that were waited for, by address and kind. An entry is written once and stays: a lock
 * that comes to lie where another one of its kind was is the same to us.
 */
#include "libc/locks/locks.h"

#define ENTRIES (2 * LOCKS_NAMED_MOST) /* a power of two */

static struct entry {
	uint64_t key;	/* address << 8 | kind + 1; 0: free */
	uint32_t nth;	/* 0: it has no number yet */
	uint32_t known; /* 1 + the generation of the process in which the agent was told */
} entries[ENTRIES];

static uint32_t used, nths[LOCK_KINDS_END];

/* NULL: there are too many. */
static struct entry *entry_of(uint64_t key)
{
	uint32_t i = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) % ENTRIES;

	for (;; i = (i + 1) % ENTRIES) {
		struct entry *e = &entries[i];
		/* relaxed: nothing else of an entry depends on it */
		uint64_t k = load_relaxed(&e->key);

		if (k == key)
			return e;
		if (k)
			continue;
		if (load_relaxed(&used) >= LOCKS_NAMED_MOST)
			return NULL;
		if (claim_u64(&e->key, 0, key)) {
			add_relaxed_u32(&used, 1);
			return e;
		}
		if (load_relaxed(&e->key) == key)
			return e;
	}
}

static uint32_t nth_of(struct entry *e, enum lock_kind kind)
{
	uint32_t nth = load_relaxed(&e->nth);

	if (!nth && claim_u32(&e->nth, 0, UINT32_MAX)) {
		nth = add_relaxed_u32(&nths[kind], 1) + 1;
		store_relaxed(&e->nth, nth);
	}
	return nth == UINT32_MAX ? 0 : nth;
}

uint32_t locks_number(const void *lock, enum lock_kind kind)
{
	struct entry *e = entry_of((uint64_t)(uintptr_t)lock << 8 | (kind + 1u));
	const uint32_t generation = locks_host->generation() + 1;
	const uint32_t number = lock_number((uintptr_t)lock, kind);
	uint32_t nth;

	if (!e)
		return lock_others(kind);
	/* told twice if two threads are here at once: that does no harm */
	if (load_relaxed(&e->known) == generation)
		return number;
	nth = nth_of(e, kind);
	locks_host->tell(number, kind, nth, lock);
	if (nth)
		store_relaxed(&e->known, generation);
	return number;
}
