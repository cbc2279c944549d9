/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/fold.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "nodeagent/profile/exact-sum.h"
#include "nodeagent/base/user-value.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

/* The extreme over processes, and whose it is: of equal ones that of the least rank. */
#define FOLD_EXTREME(to, from, is_beyond, value, rank)                                             \
	do {                                                                                       \
		if ((from)->ranks &&                                                               \
			(!(to)->ranks || (from)->value is_beyond(to)->value ||                     \
				((from)->value == (to)->value && (from)->rank < (to)->rank))) {    \
			(to)->value = (from)->value;                                               \
			(to)->rank = (from)->rank;                                                 \
		}                                                                                  \
	} while (0)

void fold_job(void *x, const void *y)
{
	struct profile *to = x;
	const struct profile *from = y;

	if (!to->start_s || (from->start_s && from->start_s < to->start_s))
		to->start_s = from->start_s;
}

void fold_begin(void *x, const void *y)
{
	struct profile *to = x;
	const struct profile *from = y;

	if (from->begin_known && (!to->begin_known || from->begin_ns < to->begin_ns)) {
		to->begin_known = true;
		to->begin_ns = from->begin_ns;
	}
}

/* Is a / wall_a more than b / wall_b, or the same of a lower rank? */
static bool is_greater_share(
	uint64_t a, uint64_t wall_a, uint32_t rank_a, uint64_t b, uint64_t wall_b, uint32_t rank_b)
{
	const unsigned __int128 x = (unsigned __int128)a * wall_b;
	const unsigned __int128 y = (unsigned __int128)b * wall_a;

	return x != y ? x > y : rank_a < rank_b;
}

/* One with a wall time of 0 is of no rank. */
void fold_cpu(void *x, const void *y)
{
	struct profile_cpu *to = &((struct profile *)x)->cpu;
	const struct profile_cpu *from = &((const struct profile *)y)->cpu;

	if (from->least_wall_ns &&
		(!to->least_wall_ns ||
			is_greater_share(to->least_ns, to->least_wall_ns, from->least_rank,
				from->least_ns, from->least_wall_ns, to->least_rank))) {
		to->least_rank = from->least_rank;
		to->least_ns = from->least_ns;
		to->least_wall_ns = from->least_wall_ns;
	}
	if (from->queued_wall_ns &&
		(!to->queued_wall_ns || is_greater_share(from->most_queued_ns, from->queued_wall_ns,
						from->queued_rank, to->most_queued_ns,
						to->queued_wall_ns, to->queued_rank))) {
		to->queued_rank = from->queued_rank;
		to->most_queued_ns = from->most_queued_ns;
		to->queued_wall_ns = from->queued_wall_ns;
	}
}

static bool is_worse(const struct profile_matching *a, const struct profile_matching *b)
{
	if (!a->violations || !b->violations)
		return a->violations;
	if (a->worst_ns != b->worst_ns)
		return a->worst_ns > b->worst_ns;
	return a->worst_from != b->worst_from ? a->worst_from < b->worst_from
					      : a->worst_to < b->worst_to;
}

void fold_matching(void *x, const void *y)
{
	struct profile_matching *to = &((struct profile *)x)->matching;
	const struct profile_matching *from = &((const struct profile *)y)->matching;

	if (is_worse(from, to)) {
		to->worst_ns = from->worst_ns;
		to->worst_from = from->worst_from;
		to->worst_to = from->worst_to;
	}
}

/* fold_LIST(): adds `from', a record of that list, to another one. */
#define FOLD(list)                                                                                 \
	static void fold_record_##list(                                                            \
		struct profile_##list *to, const struct profile_##list *from);                     \
	void fold_##list(void *to, const void *from)                                               \
	{                                                                                          \
		fold_record_##list(to, from);                                                      \
	}                                                                                          \
	static void fold_record_##list(struct profile_##list *to, const struct profile_##list *from)

FOLD(stack)
{
	FOLD_EXTREME(to, from, <, excl_min_ns, rank_min);
	FOLD_EXTREME(to, from, >, excl_max_ns, rank_max);
	if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns))
		to->first_ns = from->first_ns;
}

FOLD(function)
{
	FOLD_EXTREME(to, from, <, min_ns, rank_min);
	FOLD_EXTREME(to, from, >, max_ns, rank_max);
}

/* By time, then by rank and thread. */
static bool is_less(uint64_t ns, uint32_t rank, uint32_t thread, uint64_t than_ns,
	uint32_t than_rank, uint32_t than_thread)
{
	if (ns != than_ns)
		return ns < than_ns;
	return rank != than_rank ? rank < than_rank : thread < than_thread;
}

FOLD(thread_range)
{
	if (is_less(from->min_ns, from->rank_min, from->thread_min, to->min_ns, to->rank_min,
		    to->thread_min)) {
		to->min_ns = from->min_ns;
		to->rank_min = from->rank_min;
		to->thread_min = from->thread_min;
	}
	/* the least of those with the greatest time */
	if (is_less(to->max_ns, from->rank_max, from->thread_max, from->max_ns, to->rank_max,
		    to->thread_max)) {
		to->max_ns = from->max_ns;
		to->rank_max = from->rank_max;
		to->thread_max = from->thread_max;
	}
}

FOLD(lock)
{
	if (!to->first || (from->first && from->first < to->first))
		to->first = from->first;
}

FOLD(openmp)
{
	if (from->calls && (!to->calls || from->size_min < to->size_min))
		to->size_min = from->size_min;
	if (!to->ranks || from->beyond_ns > to->beyond_ns ||
		(from->beyond_ns == to->beyond_ns && from->slowest_rank < to->slowest_rank)) {
		to->slowest_ns = from->slowest_ns;
		to->beyond_ns = from->beyond_ns;
		to->slowest_rank = from->slowest_rank;
		to->slowest_thread = from->slowest_thread;
		to->slowest_stack = from->slowest_stack;
	}
}

/*
 * Members may see one communicator differently: the two sides of an intercommunicator, or
 * one that has not seen it being made.
 */
FOLD(comm)
{
	if (from->size > to->size ||
		(from->size == to->size && from->remote_size > to->remote_size)) {
		to->size = from->size;
		to->remote_size = from->remote_size;
	}
}

static int sides_cmp(const uint32_t a[3], const uint32_t b[3])
{
	return ORDER(a[0], b[0]) ?: ORDER(a[1], b[1]) ?: ORDER(a[2], b[2]);
}

/* By threads, then by all the rest. */
static int launch_cmp(const struct profile_gpu *a, const struct profile_gpu *b)
{
	double x = 1, y = 1;

	for (int i = 0; i < 3; i++) {
		x *= (double)a->grid[i] * a->block[i];
		y *= (double)b->grid[i] * b->block[i];
	}
	return ORDER(x, y) ?: sides_cmp(a->grid, b->grid) ?: sides_cmp(a->block, b->block) ?:
	       ORDER(a->local_bytes, b->local_bytes) ?: ORDER(a->occupancy, b->occupancy) ?:
	       ORDER(a->occupancy_bound, b->occupancy_bound);
}

FOLD(gpu)
{
	if (from->calls) {
		LEAST(to, from, min_ns);
		LEAST(to, from, threads_min);
		LEAST(to, from, blocks_min);
		LEAST(to, from, calls_min);
	}
	if (launch_cmp(from, to) <= 0)
		return;
	memcpy(to->grid, from->grid, sizeof(to->grid));
	memcpy(to->block, from->block, sizeof(to->block));
	to->local_bytes = from->local_bytes;
	to->occupancy = from->occupancy;
	to->occupancy_bound = from->occupancy_bound;
}

/* Of two entries of one key: where one is a sum, both count. */
#define FOLD_OTHERS(to, from) ((to)->others += (to)->others || (from)->others)

FOLD(gpu_stream)
{
	FOLD_OTHERS(to, from);
}

/* Of one node the times are those of the union, set later; nodes do not share GPUs. */
FOLD(gpu_device)
{
	FOLD_OTHERS(to, from);
	if (from->rank < to->rank) {
		to->rank = from->rank;
		to->number = from->number;
	}
}

static bool is_value_less(bool real, uint64_t a, uint64_t b)
{
	return user_value_less(real, (union user_value){.bits = a}, (union user_value){.bits = b});
}

FOLD(user_counter)
{
	if (is_value_less(to->real, from->min, to->min))
		to->min = from->min;
	if (is_value_less(to->real, to->max, from->max))
		to->max = from->max;
	if (from->last_ns > to->last_ns) {
		to->last = from->last;
		to->last_ns = from->last_ns;
	}
	to->sum = user_value_bits(user_value_real(to->sum) + user_value_real(from->sum));
}

FOLD(user_rest)
{
	if (is_value_less(to->real, from->min, to->min) ||
		(!is_value_less(to->real, to->min, from->min) && from->min_rank < to->min_rank)) {
		to->min = from->min;
		to->min_rank = from->min_rank;
	}
	if (is_value_less(to->real, to->max, from->max) ||
		(!is_value_less(to->real, from->max, to->max) && from->max_rank < to->max_rank)) {
		to->max = from->max;
		to->max_rank = from->max_rank;
	}
	exact_sum_add(&to->sum, &from->sum);
}

/* Of two processes of one rank the one that was first. */
FOLD(bad_end)
{
	if (from->end_ns < to->end_ns || (from->end_ns == to->end_ns && from->pid < to->pid))
		*to = *from;
}

/* Of a name that two ranks have nobody knows whom it means. */
FOLD(far_rank)
{
	if (to->rank != from->rank)
		to->rank = PROFILE_ELSEWHERE;
}

/* Several places are none, whatever comes later: the empty text is first in the alphabet. */
FOLD(source)
{
	if (to->line != from->line || strcmp(to->file, from->file)) {
		to->file[0] = '\0';
		to->line = 0;
	}
}

static int text_order(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

ORDER_BY(start_order, struct profile_start,
	RISING(agent) ?: RISING(time_s) ?: RISING(zone_s) ?: RISING(whose) ?: RISING(left) ?:
	text_order(x->command, y->command) ?: text_order(x->directory, y->directory) ?:
	text_order(x->job, y->job) ?: text_order(x->tags, y->tags) ?:
	text_order(x->changes, y->changes))

void fold_start(void *x, const void *y)
{
	struct profile_start *to = x, *from = (struct profile_start *)y, was = *to;

	if (start_order(from, to) >= 0)
		return;
	*to = *from;
	*from = was;
}

FOLD(iteration)
{
	if (from->most_ns > to->most_ns ||
		(from->most_ns == to->most_ns && from->most_rank < to->most_rank)) {
		to->most_ns = from->most_ns;
		to->most_at = from->most_at;
		to->most_rank = from->most_rank;
	}
	if (from->busy_ns > to->busy_ns ||
		(from->busy_ns == to->busy_ns && from->busy_rank < to->busy_rank)) {
		to->busy_ns = from->busy_ns;
		to->busy_rank = from->busy_rank;
		to->busy_off_ns = from->busy_off_ns;
		to->busy_queued_ns = from->busy_queued_ns;
		to->busy_asleep_ns = from->busy_asleep_ns;
		to->busy_stack = from->busy_stack;
	}
}

static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static uint32_t number_of(uint32_t a, uint32_t b)
{
	return a + b < a ? UINT32_MAX : a + b;
}

void fold_ranks_of_node(struct profile_rank_time *to, const struct profile_rank_time *from)
{
	static const size_t sums[] = {
#define SUM_OF(member) offsetof(struct profile_rank_time, member)
		SUM_OF(useful_ns),
		SUM_OF(mpi_ns),
		SUM_OF(openmp_wait_ns),
		SUM_OF(openmp_idle_ns),
		SUM_OF(gpu_wait_ns),
		SUM_OF(io_ns),
		SUM_OF(blocked_ns),
		SUM_OF(unknown_ns),
		SUM_OF(off_cpu_ns),
		SUM_OF(all_useful_ns),
		SUM_OF(all_mpi_ns),
		SUM_OF(all_openmp_wait_ns),
		SUM_OF(all_openmp_idle_ns),
		SUM_OF(all_io_ns),
		SUM_OF(all_blocked_ns),
		SUM_OF(all_unknown_ns),
		SUM_OF(team_useful_ns),
		SUM_OF(team_most_ns),
		SUM_OF(mpi_wait_ns),
		SUM_OF(lock_wait_ns),
		SUM_OF(all_lock_wait_ns),
#undef SUM_OF
	};

	for (size_t i = 0; i < ARRAY_SIZE(sums); i++) {
		uint64_t *sum = (uint64_t *)(void *)((char *)to + sums[i]);

		*sum = sum_of(
			*sum, *(const uint64_t *)(const void *)((const char *)from + sums[i]));
	}
	to->flags |= from->flags;
	to->rank = MIN(to->rank, from->rank);
	to->threads = number_of(to->threads, from->threads);
	to->team_threads = number_of(to->team_threads, from->team_threads);
	to->begin_ns = MIN(to->begin_ns, from->begin_ns);
	to->end_ns = MAX(to->end_ns, from->end_ns);
	to->error_ns = MAX(to->error_ns, from->error_ns);
	to->others = number_of(to->others, number_of(from->others, 1));
}

/*
 * Of two processes of one rank the one with the longer window, or the one that was first. Sums of
 * ranks are one.
 */
FOLD(rank_time)
{
	const int64_t is = to->end_ns - to->begin_ns, other = from->end_ns - from->begin_ns;

	if (to->others || from->others)
		fold_ranks_of_node(to, from);
	else if (other > is || (other == is && memcmp(from, to, sizeof(*to)) < 0))
		*to = *from;
}

FOLD(memory_rank)
{
	FOLD_OTHERS(to, from);
}
