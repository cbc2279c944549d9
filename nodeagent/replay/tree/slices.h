/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a thread in MPI and in waits, or the bytes that a process moves, by slices of time of
 * equal length: at most SLICES_MOST, which become twice as long when there would be more. Times are
 * ticks. For one thread of the agent.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_SLICES_H
#define VFTR_NODEAGENT_REPLAY_TREE_SLICES_H

#include <stddef.h>
#include <stdint.h>

#ifndef SLICES_MOST
#define SLICES_MOST	  512u
#define SLICES_LOG2_LEAST 20u /* ticks of a slice */
#endif

/* The first two are ticks of a thread, the others bytes of a process: never in one struct slices.
 */
enum slice_class { SLICE_MPI, SLICE_WAIT, SLICE_READ, SLICE_WRITTEN, SLICE_CLASSES };
#define SLICE_COLUMNS 2u

static inline unsigned slice_column(enum slice_class class)
{
	return class % SLICE_COLUMNS;
}

/* Its members are for the functions below. */
struct slices {
	uint64_t begin;
	unsigned log2; /* of the ticks of one */
	size_t n;
	uint64_t last[SLICE_COLUMNS];		 /* by column, the slice that was added to last */
	uint64_t of[SLICES_MOST][SLICE_COLUMNS]; /* modulo 2^64 while parts are taken back */
};

/* Slice 0 begins then. */
struct slices *slices_new(uint64_t begin);
void slices_free(struct slices *s);

/* The same as slices_add(). */
void slices_add_to_several(
	struct slices *s, enum slice_class class, uint64_t since, uint64_t ticks, uint64_t times);
/*
 * Adds `ticks' from `since' on to a class; what was before the begin is left out. times: factor; -1
 * modulo 2^64 takes back.
 */
static inline void slices_add(
	struct slices *s, enum slice_class class, uint64_t since, uint64_t ticks, uint64_t times)
{
	const unsigned k = slice_column(class);
	const uint64_t from = since - s->begin, last = s->last[k];

	if (from >> s->log2 == last && (from + ticks) >> s->log2 == last && last < s->n)
		s->of[last][k] += times * ticks;
	else
		slices_add_to_several(s, class, since, ticks, times);
}

/* Spreads bytes evenly over the time in which they were moved; 0 ticks: all at once. What began
 * before slice 0 is left out. */
void slices_spread(
	struct slices *s, enum slice_class class, uint64_t since, uint64_t ticks, uint64_t bytes);

/* How many there are, when the first one begins, and how long each is. */
size_t slices_count(const struct slices *s, uint64_t *begin, uint64_t *ticks);
/* Ticks of a class in slice i, not more than it has; or bytes. */
uint64_t slices_of(const struct slices *s, size_t i, enum slice_class class);

#endif
