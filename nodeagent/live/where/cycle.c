/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of ranks each of which waits for the next one. */
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/where/where.h"

/* Lists of others may name any number of ranks. */
#define STEPS_MOST 4096u

/* True if nobody leaves the call before all others have come. */
static bool needs_all(const struct where_place *p)
{
	static const char *const names[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather",
		"MPI_Alltoall", "MPI_Reduce_scatter"};
	const char *last = strrchr(p->path, WHERE_FRAME_BEGINS);

	last = last ? last + 1 : p->path;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(last, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Whom a rank waits for, if it is one rank alone or several of a collective call. */
static bool waits_for(
	const struct where *w, uint32_t rank, uint64_t least, struct where_ranks *awaited)
{
	*awaited = (struct where_ranks){0};
	for (size_t i = 0; i < w->n_sends; i++) {
		const struct where_send *s = &w->sends[i];

		if (s->from == rank && s->alone && s->since >= least)
			where_add_ranks(awaited, s->to, s->to);
	}
	for (size_t i = 0; i < w->n_places && !awaited->n; i++) {
		const struct where_place *p = &w->places[i];

		if (needs_all(p) && p->alone && p->state == WHERE_RUNS && p->since_least >= least &&
			where_has_rank(&p->ranks, rank) && !where_missing(w, p, awaited))
			*awaited = (struct where_ranks){0};
	}
	return awaited->n;
}

/* A way from rank to rank, each of which waits for the next one. */
struct way {
	const struct where *w;
	uint64_t least;
	uint32_t *ranks;
	size_t n, max;
	uint32_t steps;		 /* that are left */
	struct where_ranks been; /* from these no way leads to a cycle */
};

/* The length of the cycle that the way ends with if it goes on to this rank; 0: it does not. */
static size_t close_way(struct way *y, uint32_t rank)
{
	for (size_t i = 0; i < y->n; i++)
		if (y->ranks[i] == rank) {
			memmove(y->ranks, y->ranks + i, (y->n - i) * sizeof(*y->ranks));
			return y->n - i;
		}
	return 0;
}

/* Goes on to this rank, and to all that it waits for; at most max deep. */
static size_t follow_waits(struct way *y, uint32_t rank)
{
	struct where_ranks awaited;
	size_t cycle = close_way(y, rank);

	if (cycle || y->n == y->max || !y->steps || where_has_rank(&y->been, rank))
		return cycle;
	y->steps--;
	if (!waits_for(y->w, rank, y->least, &awaited))
		return 0;
	y->ranks[y->n++] = rank;
	for (uint32_t i = 0; i < awaited.n; i++)
		for (uint64_t to = awaited.run[i].first; to <= awaited.run[i].last && y->steps;
			to++) {
			cycle = follow_waits(y, (uint32_t)to);
			if (cycle)
				return cycle;
		}
	y->n--;
	where_add_ranks(&y->been, rank, rank);
	return 0;
}

static size_t cycle_from(
	const struct where *w, uint32_t rank, uint64_t least, uint32_t *ranks, size_t max)
{
	struct way y = {.w = w, .least = least, .ranks = ranks, .max = max, .steps = STEPS_MOST};

	return follow_waits(&y, rank);
}

size_t where_cycle(const struct where *w, uint64_t least, uint32_t *ranks, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_sends && !n; i++)
		n = cycle_from(w, w->sends[i].from, least, ranks, max);
	for (size_t i = 0; i < w->n_places && !n; i++)
		if (w->places[i].comm && w->places[i].ranks.n)
			n = cycle_from(w, w->places[i].ranks.run[0].first, least, ranks, max);
	return n;
}
