/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and what they did at stacks are known by numbers, which change from one profile
 * to the next: that of a process by its rank, of a stack by its place.
 */
#include "nodeagent/profile/subtract.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/map.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"
#include "nodeagent/base/user-value.h"
#include "nodeagent/base/util.h"

/* Times are measured anew each time: so little of what there was is nothing. */
#define NOTHING 10000

struct subtraction {
	struct profile *round, *now;
	const struct profile *before;
	uint32_t *stack_before, *stack_round; /* of those of now; PROFILE_NONE: none */
	uint32_t *thread_before, *thread_round;
};

static uint64_t pair_key(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Of each stack of a, the same one of b, or PROFILE_NONE. Both are sorted. */
static uint32_t *same_stacks(const struct profile *a, const struct profile *b)
{
	uint32_t *same = xmalloc((a->n_stacks + 1) * sizeof(*same)), k = 0;

	for (uint32_t i = 0; i < a->n_stacks; i++) {
		same[i] = PROFILE_NONE;
		while (b && k < b->n_stacks && profile_stack_cmp(b, k, a, i) < 0)
			k++;
		if (b && k < b->n_stacks && !profile_stack_cmp(b, k, a, i))
			same[i] = k;
	}
	return same;
}

/* Ranks may be others in each round. A process that executed another program is another one. */
static uint32_t rank_now(const struct subtraction *s, uint32_t rank)
{
	const struct profile_process *was = NULL, *best = NULL;

	for (size_t i = 0; i < s->before->n_processes && !was; i++)
		if (s->before->processes[i].rank == rank)
			was = &s->before->processes[i];
	for (size_t i = 0; was && i < s->now->n_processes; i++) {
		const struct profile_process *p = &s->now->processes[i];

		if (p->pid == was->pid && (!best || fabs(p->started_s - was->started_s) <
							    fabs(best->started_s - was->started_s)))
			best = p;
	}
	return best ? best->rank : PROFILE_NONE;
}

/* Ranks of before, as now has them, each looked for once. */
static uint32_t rank_of_before(const struct subtraction *s, struct map64 *known, uint32_t rank)
{
	const uint32_t *at = map64_find(known, rank);
	uint32_t is;

	if (at)
		return *at;
	is = rank_now(s, rank);
	map64_add(known, rank, is);
	return is;
}

/* ---- threads --------------------------------------------------------------------- */

static void find_threads(struct subtraction *s)
{
	const size_t n = s->before ? s->before->n_ended_threads : 0;
	struct map64 ranks = {0}, at = {0};

	for (size_t i = 0; i < n; i++) {
		const struct profile_thread *t = &s->before->ended_threads[i];
		const uint32_t rank = rank_of_before(s, &ranks, t->rank);

		if (rank != PROFILE_NONE && !map64_find(&at, pair_key(rank, t->number)))
			map64_add(&at, pair_key(rank, t->number), (uint32_t)i);
	}
	s->thread_before = xmalloc((s->now->n_ended_threads + 1) * sizeof(uint32_t));
	for (size_t i = 0; i < s->now->n_ended_threads; i++) {
		const struct profile_thread *t = &s->now->ended_threads[i];
		const uint32_t *was = map64_find(&at, pair_key(t->rank, t->number));

		s->thread_before[i] = was ? *was : PROFILE_NONE;
	}
	map64_free(&ranks);
	map64_free(&at);
}

/* Whether anything is left. */
static bool subtract_thread(struct profile_thread *t, const struct profile_thread *was)
{
	const uint64_t alive = t->alive_ns;

	profile_record_subtract(&profile_schema[PROFILE_EACH], t, was);
	return t->records || t->lost_calls || t->sends || t->receives ||
	       t->alive_ns > alive / NOTHING;
}

static void keep_threads(struct subtraction *s)
{
	struct profile *r = s->round, *now = s->now;

	s->thread_round = xmalloc((now->n_ended_threads + 1) * sizeof(uint32_t));
	r->ended_threads = xcalloc(now->n_ended_threads + 1, sizeof(*r->ended_threads));
	for (size_t i = 0; i < now->n_ended_threads; i++) {
		struct profile_thread t = now->ended_threads[i];
		const uint32_t was = s->thread_before[i];

		s->thread_round[i] = PROFILE_NONE;
		if (was != PROFILE_NONE && !subtract_thread(&t, &s->before->ended_threads[was]))
			continue;
		profile_record_own_texts(&profile_schema[PROFILE_EACH], &t);
		s->thread_round[i] = (uint32_t)r->n_ended_threads;
		r->ended_threads[r->n_ended_threads++] = t;
	}
}

static void keep_thread_stacks(struct subtraction *s)
{
	const struct profile *before = s->before;
	struct profile *r = s->round, *now = s->now;
	struct map64 at = {0};

	for (size_t i = 0; before && i < before->n_thread_stacks; i++)
		map64_add(&at,
			pair_key(before->thread_stacks[i].thread, before->thread_stacks[i].stack),
			(uint32_t)i);
	r->thread_stacks = xcalloc(now->n_thread_stacks + 1, sizeof(*r->thread_stacks));
	for (size_t i = 0; i < now->n_thread_stacks; i++) {
		struct profile_thread_stack t = now->thread_stacks[i];
		const uint32_t *was = map64_find(
			&at, pair_key(s->thread_before[t.thread], s->stack_before[t.stack]));

		if (was)
			profile_record_subtract(&profile_schema[PROFILE_THREAD_STACKS], &t,
				&before->thread_stacks[*was]);
		t.thread = s->thread_round[t.thread];
		t.stack = s->stack_round[t.stack];
		if (t.thread != PROFILE_NONE && t.stack != PROFILE_NONE &&
			(t.calls || t.lost_calls || t.incl_ns))
			r->thread_stacks[r->n_thread_stacks++] = t;
	}
	map64_free(&at);
}

ORDER_BY(by_count, struct profile_thread_count, RISING(thread) ?: RISING(stack) ?: RISING(counter))

/* The same count of before, or NULL; sorted there. */
static const struct profile_thread_count *count_before(
	const struct subtraction *s, const struct profile_thread_count *c)
{
	const struct profile_thread_count wanted = {.thread = s->thread_before[c->thread],
		.stack = c->stack == PROFILE_NONE ? PROFILE_NONE : s->stack_before[c->stack],
		.counter = c->counter};

	if (wanted.thread == PROFILE_NONE ||
		(wanted.stack == PROFILE_NONE && c->stack != PROFILE_NONE) ||
		!s->before->n_thread_counts)
		return NULL;
	return bsearch(&wanted, s->before->thread_counts, s->before->n_thread_counts,
		sizeof(wanted), by_count);
}

static void keep_thread_counts(struct subtraction *s)
{
	struct profile *r = s->round, *now = s->now;

	r->thread_counts = xcalloc(now->n_thread_counts + 1, sizeof(*r->thread_counts));
	for (size_t i = 0; i < now->n_thread_counts; i++) {
		struct profile_thread_count c = now->thread_counts[i];
		const struct profile_thread_count *was = count_before(s, &c);

		if (was)
			profile_record_subtract(&profile_schema[PROFILE_THREAD_COUNTS], &c, was);
		c.thread = s->thread_round[c.thread];
		if (c.stack != PROFILE_NONE) {
			c.stack = s->stack_round[c.stack];
			if (c.stack == PROFILE_NONE)
				continue;
		}
		if (c.value && c.thread != PROFILE_NONE)
			r->thread_counts[r->n_thread_counts++] = c;
	}
	if (r->n_thread_counts)
		qsort(r->thread_counts, r->n_thread_counts, sizeof(*r->thread_counts), by_count);
}

ORDER_BY(by_stack, struct profile_thread_stack, RISING(stack) ?: RISING(thread))

/* The least and the greatest of all threads, where each has all its stacks. */
static void make_ranges(struct profile *r)
{
	struct profile_thread_stack *all;
	struct profile_thread_range *to = NULL;

	for (size_t i = 0; i < r->n_ended_threads; i++)
		if (r->ended_threads[i].number == PROFILE_NONE)
			return;
	all = xmalloc(r->n_thread_stacks * sizeof(*all) + 1);
	if (r->n_thread_stacks)
		memcpy(all, r->thread_stacks, r->n_thread_stacks * sizeof(*all));
	if (r->n_thread_stacks)
		qsort(all, r->n_thread_stacks, sizeof(*all), by_stack);
	free(r->thread_ranges); /* they were dropped from single processes: it is empty */
	r->thread_ranges = xcalloc(r->n_thread_stacks + 1, sizeof(*r->thread_ranges));
	r->n_thread_ranges = 0;
	for (size_t i = 0; i < r->n_thread_stacks; i++) {
		const struct profile_thread *t = &r->ended_threads[all[i].thread];
		const uint64_t ns = all[i].excl_ns;

		if (!to || to->stack != all[i].stack) {
			to = &r->thread_ranges[r->n_thread_ranges++];
			*to = (struct profile_thread_range){
				.stack = all[i].stack, .min_ns = UINT64_MAX};
		}
		if (ns < to->min_ns) {
			to->min_ns = ns;
			to->rank_min = t->rank;
			to->thread_min = t->number;
		}
		if (!to->threads++ || ns > to->max_ns) {
			to->max_ns = ns;
			to->rank_max = t->rank;
			to->thread_max = t->number;
		}
	}
	free(all);
}

/* ---- places in the tree of OpenMP's threads ------------------------------------------ */

struct thread_key {
	uint32_t rank, parent, level, number, index;
};

static int by_thread_key(const void *x, const void *y)
{
	return memcmp(x, y, offsetof(struct thread_key, index));
}

/* Of each of now, the same of before; parents come first in both. */
static uint32_t *same_openmp_threads(const struct subtraction *s)
{
	const size_t n = s->before ? s->before->n_openmp_threads : 0;
	uint32_t *same = xmalloc((s->now->n_openmp_threads + 1) * sizeof(*same));
	struct thread_key *keys = xcalloc(n + 1, sizeof(*keys)), *found, wanted;
	struct map64 ranks = {0};

	for (size_t i = 0; i < n; i++) {
		const struct profile_openmp_thread *t = &s->before->openmp_threads[i];

		keys[i] = (struct thread_key){rank_of_before(s, &ranks, t->rank), t->parent,
			t->level, t->number, (uint32_t)i};
	}
	if (n)
		qsort(keys, n, sizeof(*keys), by_thread_key);
	for (size_t i = 0; i < s->now->n_openmp_threads; i++) {
		const struct profile_openmp_thread *t = &s->now->openmp_threads[i];
		const uint32_t above = t->parent == PROFILE_NONE ? PROFILE_NONE : same[t->parent];

		wanted = (struct thread_key){t->rank, above, t->level, t->number, 0};
		found = n && (above != PROFILE_NONE || t->parent == PROFILE_NONE)
				? bsearch(&wanted, keys, n, sizeof(*keys), by_thread_key)
				: NULL;
		same[i] = found ? found->index : PROFILE_NONE;
	}
	map64_free(&ranks);
	free(keys);
	return same;
}

/* All places of processes that are in the round, as others hang on them. */
static void keep_openmp(struct subtraction *s)
{
	struct profile *r = s->round, *now = s->now;
	uint32_t *same = same_openmp_threads(s);

	for (size_t i = 0; i < now->n_openmp_threads; i++) {
		struct profile_openmp_thread *t = &now->openmp_threads[i];

		if (same[i] == PROFILE_NONE)
			continue;
		profile_record_subtract(&profile_schema[PROFILE_OPENMP_THREADS], t,
			&s->before->openmp_threads[same[i]]);
	}
	profile_move_list(r, now, PROFILE_OPENMP_THREADS);
	free(same);
}

/* ---- counters of the program ------------------------------------------------------------ */

static const struct profile_user_counter *counter_before(
	const struct subtraction *s, struct map64 *ranks, const struct profile_user_counter *c)
{
	for (size_t i = 0; s->before && i < s->before->n_user_counters; i++) {
		const struct profile_user_counter *b = &s->before->user_counters[i];

		if (!strcmp(b->name, c->name) && b->real == c->real &&
			rank_of_before(s, ranks, b->rank) == c->rank)
			return b;
	}
	return NULL;
}

/* Least and greatest value are those of the round already: user_counters_only_round(). */
static void keep_counters(struct subtraction *s)
{
	struct profile *r = s->round, *now = s->now;
	struct map64 ranks = {0};

	free(r->user_counters); /* they were dropped from single processes: it is empty */
	r->user_counters = xcalloc(now->n_user_counters + 1, sizeof(*r->user_counters));
	for (size_t i = 0; i < now->n_user_counters; i++) {
		struct profile_user_counter c = now->user_counters[i];
		const struct profile_user_counter *was = counter_before(s, &ranks, &c);

		if (was) {
			profile_record_subtract(&profile_schema[PROFILE_USER_COUNTERS], &c, was);
			c.sum = user_value_bits(user_value_real(c.sum) - user_value_real(was->sum));
		}
		if (!c.values)
			continue;
		c.name = xstrdup(c.name);
		r->user_counters[r->n_user_counters++] = c;
	}
	map64_free(&ranks);
}

void profile_subtract_node(struct profile *round, struct profile *now, const struct profile *before)
{
	struct subtraction s = {.round = round, .now = now, .before = before};

	s.stack_before = same_stacks(now, before);
	s.stack_round = same_stacks(now, round);
	find_threads(&s);
	keep_threads(&s);
	keep_thread_stacks(&s);
	keep_thread_counts(&s);
	make_ranges(round);
	keep_openmp(&s);
	keep_counters(&s);
	profile_subtract_devices(round, now, before);
	free(s.stack_before);
	free(s.stack_round);
	free(s.thread_before);
	free(s.thread_round);
}
