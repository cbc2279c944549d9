/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of a process (shm/memory.h): its live blocks, and what was allocated by call path.
 * Blocks may be freed by another thread, whose ring is read first: all is right in any order.
 */
#ifndef VFTR_NODEAGENT_REPLAY_MEMORY_H
#define VFTR_NODEAGENT_REPLAY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/memory.h"

#define MEMORY_BLOCKS_MOST (1u << 22) /* that are known at a time; others are not followed */

struct memory;
struct node_memory;

/* What a record of the process says, unchecked but for ticks, which are not in the future. */
struct memory_record {
	uint64_t bytes;
	uint32_t block, stretch;
	bool peak, mapped;
	uint64_t ticks;
	uint32_t thread;
};

/* Totals of the process: exact, but for the last allocations of threads that have not ended. */
struct memory_totals {
	uint64_t allocations, bytes, frees;
	uint32_t stretch;      /* the last one */
	uint64_t peak_ticks;   /* when it began; 0: never */
	uint64_t not_followed; /* records of blocks whose end is not known */
};

/* large: bytes from which each allocation is recorded; mean: bytes between samples of others. */
struct memory *memory_new(uint64_t large, uint64_t mean);
void memory_free(struct memory *m);

/*
 * A block was allocated at the path whose counts are *at. If *at is NULL, sets it to new counts,
 * owned by m.
 */
void memory_allocated(struct memory *m, struct node_memory **at, const struct memory_record *r);
/* A block was freed, by any thread; its allocation may be read later. */
void memory_freed(struct memory *m, const struct memory_record *r);
/* The block counts as if it had been allocated at this path, *at as above. One whose end was read
 * before stays where it was. */
void memory_belongs(struct memory *m, struct node_memory **at, uint32_t block);
/* Adds what a thread has done since its last record of this kind. */
void memory_counted(struct memory *m, uint64_t allocations, uint64_t bytes, uint64_t frees);
/* Sets the ages of what is live at `now`, of all paths. m may be NULL. */
void memory_note_ages(struct memory *m, uint64_t now);
/* m may be NULL: all zero. */
struct memory_totals memory_totals(const struct memory *m);

#endif
