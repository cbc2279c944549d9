/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/identity.h"
#include "mpi/object/comm.h"
#include "mpi/handle.h"
#include "mpi/memory.h"
#include "shm/identity.h"

struct base {
	uint64_t base; /* never 0 */
	uint64_t count;
};

/* Open addressing; at most half full. */
static struct base *table;
static uint64_t mask;
static uint64_t used;
static uint32_t lock;

uint64_t vftr_mix_text(uint64_t hash, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		hash = identity_mix(hash, (unsigned char)text[i]);
	return identity_mix(hash, length);
}

static struct base *find(uint64_t base)
{
	uint64_t i = base & mask;

	while (table[i].base && table[i].base != base)
		i = (i + 1) & mask;
	return &table[i];
}

static bool grow(void)
{
	struct base *old = table;
	const uint64_t n = old ? mask + 1 : 0, more = n ? n * 2 : 64;
	struct base *at = vftr_memory_take(more * sizeof(*at));

	if (!at)
		return false;
	table = at;
	mask = more - 1;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].base)
			*find(old[i].base) = old[i];
	vftr_memory_give(old, n * sizeof(*old));
	return true;
}

uint64_t vftr_identity_count(uint64_t base)
{
	uint64_t count = 0;
	struct base *b;

	spin_lock(&lock);
	if ((table && used < (mask + 1) / 2) || grow()) {
		b = find(base);
		used += !b->base;
		b->base = base;
		count = b->count++;
	}
	spin_unlock(&lock);
	return count;
}
