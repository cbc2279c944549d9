/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of many ranks, in a bounded number of entries: those with the most and the least of each
 * measure are kept, and the others are added up by node, those apart of which other things are
 * known. The measures of a whole, its sums, and the greatest and the least of a rank stay exact.
 *
 * Any order of merging gives the same: a rank that has others of a part before it has them before
 * it in the whole, and entries are added up only if the ranks of the whole are too many, too. But a
 * rank that is in two parts, of two runs, counts twice if it is in a sum of one of them.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"

/* ---- those that are kept ------------------------------------------------------------------ */

enum measure {
	USEFUL,
	OUTSIDE,
	TEAM_MOST,
	MPI,
	MPI_WAIT,
	OPENMP_WAIT,
	OPENMP_IDLE,
	LOCK_WAIT,
	GPU_WAIT,
	IO,
	BLOCKED,
	UNKNOWN,
	OFF_CPU,
	MEASURES
};

static uint64_t measure_of(const struct profile_rank_time *t, enum measure measure)
{
	const uint64_t of[MEASURES] = {
		[USEFUL] = t->useful_ns,
		[OUTSIDE] = profile_outside_mpi_ns(t),
		[TEAM_MOST] = t->team_most_ns,
		[MPI] = t->mpi_ns,
		[MPI_WAIT] = t->mpi_wait_ns,
		[OPENMP_WAIT] = t->openmp_wait_ns,
		[OPENMP_IDLE] = t->openmp_idle_ns,
		[LOCK_WAIT] = t->lock_wait_ns,
		[GPU_WAIT] = t->gpu_wait_ns,
		[IO] = t->io_ns,
		[BLOCKED] = t->blocked_ns,
		[UNKNOWN] = t->unknown_ns,
		[OFF_CPU] = t->off_cpu_ns,
	};

	return of[measure];
}

/* Those with the most, the first one of all before the others. */
struct extremes {
	struct {
		uint64_t value;
		uint32_t at; /* in rank_times[] */
	} * of;
	size_t n, most;
};

/* To be called in the order of rank_times[]: of equal ones the lowest ranks are kept. */
static void add_extreme(struct extremes *x, uint64_t value, uint32_t at)
{
	size_t i = x->n;

	if (x->n == x->most && (!x->most || value <= x->of[x->most - 1].value))
		return;
	if (x->n < x->most)
		x->n++;
	else
		i--;
	for (; i && x->of[i - 1].value < value; i--)
		x->of[i] = x->of[i - 1];
	x->of[i].value = value;
	x->of[i].at = at;
}

/* Entries of ranks, or of processes without one. */
struct entries {
	uint32_t first, end; /* in rank_times[] */
};

/* flip: 0 for those with the most, UINT64_MAX for those with the least. */
static void mark_extremes(const struct profile *p, struct entries e, struct extremes *x,
	enum measure measure, uint64_t flip, bool *kept)
{
	x->n = 0;
	for (uint32_t i = e.first; i < e.end; i++)
		if (!p->rank_times[i].others)
			add_extreme(x, measure_of(&p->rank_times[i], measure) ^ flip, i);
	for (size_t i = 0; i < x->n; i++)
		kept[x->of[i].at] = true;
}

static uint64_t ranks_of(const struct profile *p, struct entries e)
{
	uint64_t n = 0;

	for (uint32_t i = e.first; i < e.end; i++)
		n += 1 + (uint64_t)p->rank_times[i].others;
	return n;
}

/* Marks all if they are `most' at most, else the extremes. */
static void mark_kept(
	const struct profile *p, struct entries e, uint64_t most, struct extremes *x, bool *kept)
{
	if (ranks_of(p, e) <= most) {
		memset(&kept[e.first], true, (e.end - e.first) * sizeof(*kept));
		return;
	}
	for (enum measure i = 0; i < MEASURES; i++) {
		mark_extremes(p, e, x, i, 0, kept);
		mark_extremes(p, e, x, i, UINT64_MAX, kept);
	}
}

/* NULL: all are. */
static bool *find_kept(const struct profile *p, uint64_t most, size_t extremes)
{
	const uint32_t n = (uint32_t)p->n_rank_times;
	const uint32_t ranks = (uint32_t)LOWER_BOUND(
		i, 0, p->n_rank_times, p->rank_times[i].rank < PROFILE_UNRANKED);
	const struct entries with = {0, ranks}, without = {ranks, n};
	struct extremes x = {.most = extremes};
	bool *kept;

	if (ranks_of(p, with) <= most && ranks_of(p, without) <= most)
		return NULL;
	kept = xcalloc(n + 1, sizeof(*kept));
	x.of = xcalloc(extremes + 1, sizeof(*x.of));
	mark_kept(p, with, most, &x, kept);
	mark_kept(p, without, most, &x, kept);
	free(x.of);
	return kept;
}

/* ---- those that are added up ---------------------------------------------------------------- */

struct rest {
	const struct profile_rank_time *t;
	const char *host; /* "": not known */
	uint32_t known;	  /* of each of them */
};

/* What entries tell of each rank (report/efficiency.c, report/log/efficiency.c): where that differs
 * they stay apart. */
static uint32_t known_of(const struct profile_rank_time *t)
{
	const uint32_t own = RANK_FLAGS + 1, ranks = 1 + t->others;

	_Static_assert(!((RANK_FLAGS + 1) & RANK_FLAGS), "all flags are the lowest bits");
	return t->flags | (t->all_unknown_ns ? own : 0) | (t->lock_wait_ns ? 2 * own : 0) |
	       (t->threads > ranks ? 4 * own : 0) | (t->threads > t->team_threads ? 8 * own : 0) |
	       (t->error_ns == UINT64_MAX ? 16 * own : 0) |
	       (t->rank >= PROFILE_UNRANKED ? 32 * own : 0) |
	       (t->mpi_ns == t->all_mpi_ns ? 64 * own : 0);
}

static const char *host_of(const struct profile *p, uint32_t rank)
{
	const struct profile_rank_range *r = places_find(p, rank);

	return r ? r->host : "";
}

ORDER_BY(by_host, struct rest, ALPHABETIC(host) ?: RISING(known) ?: ORDER(x->t->rank, y->t->rank))

/* Puts those that are kept, and sums of the n others, in place of all. */
static void put_rank_times(struct profile *p, const bool *kept, const struct rest *rest, size_t n)
{
	struct profile_rank_time *out = xcalloc(p->n_rank_times + 1, sizeof(*out));
	size_t used = 0;

	for (size_t i = 0; i < p->n_rank_times; i++)
		if (kept[i])
			out[used++] = p->rank_times[i];
	for (size_t i = 0; i < n; i++) {
		const bool is_more = i && !strcmp(rest[i].host, rest[i - 1].host) &&
				     rest[i].known == rest[i - 1].known;

		if (is_more)
			fold_ranks_of_node(&out[used - 1], rest[i].t);
		else
			out[used++] = *rest[i].t;
	}
	free(p->rank_times);
	p->rank_times = xrealloc(out, (used + 1) * sizeof(*out));
	p->n_rank_times = used;
	profile_combine(p, PROFILE_RANK_TIMES);
}

void profile_rank_times_limit(struct profile *p, uint64_t most, size_t extremes)
{
	bool *kept = find_kept(p, most, extremes);
	struct rest *rest;
	size_t n = 0;

	if (!kept)
		return;
	rest = xcalloc(p->n_rank_times + 1, sizeof(*rest));
	for (size_t i = 0; i < p->n_rank_times; i++) {
		const struct profile_rank_time *t = &p->rank_times[i];

		if (!kept[i])
			rest[n++] = (struct rest){t, host_of(p, t->rank), known_of(t)};
	}
	qsort(rest, n, sizeof(*rest), by_host);
	put_rank_times(p, kept, rest, n);
	places_forget(p);
	free(rest);
	free(kept);
}

uint64_t profile_timed_ranks(const struct profile *p)
{
	return ranks_of(p, (struct entries){0, (uint32_t)p->n_rank_times});
}
