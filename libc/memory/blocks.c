/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The live blocks that were recorded, by address: tables of growing size, of which the next is
 * made when a block finds no room in its row of the last. A block is only looked for by who frees
 * it, and put by who has allocated it, so nobody else is at its slot; others are at slots nearby.
 */
#include "libc/memory/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROW	   8u /* slots that a block may be in, in each table */
#define FIRST_LOG  10u
#define GROWTH_LOG 3u
#define TABLES	   5u /* the last has 4 Mi rows */
#define NOBODY	   0u
#define TAKEN	   1u /* somebody is about to fill the slot */

#define PLACE_MOST 255u /* such a place stays as it is */

struct slot {
	uint64_t address; /* NOBODY, TAKEN, or of a block */
	uint32_t number;
	float weight;
};

uint8_t memory_places[1 << MEMORY_PLACES_LOG];
static uint64_t tables[TABLES]; /* their addresses; 0: not made yet */

static uint32_t table_log(unsigned table)
{
	return FIRST_LOG + GROWTH_LOG * table;
}

static size_t table_bytes(unsigned table)
{
	return (sizeof(struct slot) * ROW) << table_log(table);
}

/* The row in a table, or NULL if that is not there. */
static struct slot *row_of(unsigned table, const void *p)
{
	/* pairs with A in make_table() */
	struct slot *all = (struct slot *)load_acquire(&tables[table]);
	const uint64_t hash = ((uintptr_t)p >> 4) * 0x9e3779b97f4a7c15u;

	return all ? all + ROW * (hash >> (64 - table_log(table))) : NULL;
}

static bool make_table(unsigned table)
{
	const int saved_errno = errno;
	const long made = syscall(SYS_mmap, NULL, table_bytes(table), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = saved_errno;
	if (made == -1)
		return false;
	/* A: whoever sees the table sees it empty */
	if (!claim_u64(&tables[table], 0, (uint64_t)made))
		syscall(SYS_munmap, made, table_bytes(table)); /* another thread was first */
	return true;
}

static void count_place(const void *p, int by)
{
	uint8_t *at = &memory_places[memory_place(p)], old;

	do
		old = load_relaxed(at);
	while (old != PLACE_MOST && !claim_u8(at, old, (uint8_t)(old + by)));
}

void memory_mark(const void *p)
{
	store_relaxed(&memory_places[memory_place(p)], PLACE_MOST);
}

static bool put_in(struct slot *row, const void *p, uint32_t number, float weight)
{
	for (unsigned i = 0; i < ROW; i++) {
		if (load_relaxed(&row[i].address) != NOBODY ||
			!claim_u64(&row[i].address, NOBODY, TAKEN))
			continue;
		row[i].number = number;
		row[i].weight = weight;
		/* release: only the thread that frees the block looks for it, and the program has
		 * given it the block; but a signal handler may come between */
		store_release(&row[i].address, (uintptr_t)p);
		return true;
	}
	return false;
}

bool memory_put(const void *p, uint32_t number, float weight)
{
	for (unsigned table = 0; table < TABLES; table++) {
		struct slot *row = row_of(table, p);

		if (!row && make_table(table))
			row = row_of(table, p);
		if (!row)
			return false;
		if (put_in(row, p, number, weight)) {
			count_place(p, 1);
			return true;
		}
	}
	return false;
}

bool memory_take(const void *p, uint32_t *number, float *weight)
{
	for (unsigned table = 0; table < TABLES; table++) {
		struct slot *row = row_of(table, p);

		for (unsigned i = 0; row && i < ROW; i++) {
			if (load_relaxed(&row[i].address) != (uintptr_t)p)
				continue;
			*number = row[i].number;
			*weight = row[i].weight;
			store_release(&row[i].address, NOBODY);
			count_place(p, -1);
			return true;
		}
		if (!row)
			return false;
	}
	return false;
}

/* The tables stay: a signal handler that forks may have interrupted who looks at one. */
void memory_forget(void)
{
	const int saved_errno = errno;

	for (unsigned table = 0; table < TABLES; table++) {
		void *all = (void *)load_acquire(&tables[table]);

		if (all && syscall(SYS_madvise, all, table_bytes(table), MADV_DONTNEED))
			memset(all, 0, table_bytes(table));
	}
	for (size_t i = 0; i < sizeof(memory_places); i++)
		if (memory_places[i] != PLACE_MOST)
			memory_places[i] = 0;
	errno = saved_errno;
}
