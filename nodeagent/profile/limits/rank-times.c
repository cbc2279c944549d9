/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of many ranks, and of processes without one apart from these: internal.h. The measures of a
 * whole, its sums, and the greatest and the least of a rank stay exact.
 */
#include <stddef.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/limits/internal.h"
#include "nodeagent/profile/profile.h"

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

static uint64_t measure_of(const void *record, unsigned measure)
{
	const struct profile_rank_time *t = record;
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

static unsigned class_of(const void *record)
{
	const struct profile_rank_time *t = record;

	return t->rank >= PROFILE_UNRANKED;
}

/* What entries tell of each rank (report/efficiency.c, report/log/efficiency.c): where that differs
 * they stay apart. */
static uint32_t known_of(const void *record)
{
	const struct profile_rank_time *t = record;
	const uint32_t own = RANK_FLAGS + 1, ranks = 1 + t->others;

	_Static_assert(!((RANK_FLAGS + 1) & RANK_FLAGS), "all flags are the lowest bits");
	return t->flags | (t->all_unknown_ns ? own : 0) | (t->lock_wait_ns ? 2 * own : 0) |
	       (t->threads > ranks ? 4 * own : 0) | (t->threads > t->team_threads ? 8 * own : 0) |
	       (t->error_ns == UINT64_MAX ? 16 * own : 0) |
	       (t->rank >= PROFILE_UNRANKED ? 32 * own : 0) |
	       (t->mpi_ns == t->all_mpi_ns ? 64 * own : 0);
}

static void add_times(void *sum, void *row)
{
	fold_ranks_of_node(sum, row);
}

static const struct row_limit limit = {.list = PROFILE_RANK_TIMES,
	.rank = offsetof(struct profile_rank_time, rank),
	.others = offsetof(struct profile_rank_time, others),
	.measures = MEASURES,
	.measure = measure_of,
	.class = class_of,
	.known = known_of,
	.add = add_times};

void profile_rank_times_limit(struct profile *p, uint64_t most, size_t extremes)
{
	profile_rows_limit(p, &limit, most, extremes);
}

uint64_t profile_timed_ranks(const struct profile *p)
{
	return profile_rows_of(p, &limit);
}
