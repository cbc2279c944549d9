/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths with little time become one row for each caller, and all sums stay. */
#include "nodeagent/profile/prune.h"

#include <check.h>
#include <stdlib.h>

#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/suite.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/profile/same-profile.h"

#define NODES 7

static uint32_t timed(struct profile *p, uint32_t parent, const char *name, uint64_t ns)
{
	const uint32_t i = add_stack(p, parent, name, UINT64_MAX);
	struct profile_stack *s = &p->stacks[i];

	s->calls = 10;
	s->excl_ns = s->incl_ns = s->excl_min_ns = s->excl_max_ns = ns;
	s->ranks = 1;
	s->first_ns = 100 + i;
	return i;
}

/* init calls main, which calls hot and two short ones; one of these calls a shorter one. */
static struct profile *simple(void)
{
	struct profile *p = profile_new();
	uint32_t init = timed(p, PROFILE_NONE, "init", 0), main = timed(p, init, "main", 0), once;

	timed(p, main, "hot", 2000000000);
	once = timed(p, main, "once", 9000);
	timed(p, once, "below", 500);
	timed(p, main, "twice", 3000);
	sort_random_stacks(p);
	return p;
}

static const struct profile_stack *stack_at(const struct profile *p, const char *path)
{
	const uint32_t i = find_stack(p, path);

	ck_assert_msg(i != PROFILE_NONE, "there is no %s", path);
	return &p->stacks[i];
}

START_TEST(short_ones_are_one_row)
{
	struct profile *p = simple();
	const struct profile_stack *s;

	prune_job(p, 0);
	assert_valid(p);
	ck_assert_uint_eq(p->n_stacks, 4);
	stack_at(p, "hot<main<init");
	s = stack_at(p, PRUNED_NAME "<main<init");
	ck_assert_uint_eq(s->calls, 30);
	ck_assert_uint_eq(s->excl_ns, 12500);
	ck_assert_uint_eq(s->incl_ns, 12500);
	ck_assert_uint_eq(s->ranks, 0);
	ck_assert_int_eq(s->first_ns, 103);
	ck_assert_uint_eq(p->n_pruned, 1);
	ck_assert_uint_eq(p->pruned->paths, 6);
	ck_assert_uint_eq(p->pruned->below_ns, 2000012500 / PRUNE_PART);
	profile_free(p);
}
END_TEST

/* Nothing happens where it need not. */
START_TEST(few_paths_stay)
{
	struct profile *p = simple(), *before = simple();

	prune_job(p, 6);
	assert_same(p, before);
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].excl_ns = p->stacks[i].incl_ns = 0;
	prune_job(p, 0);
	ck_assert_uint_eq(p->n_stacks, 6);
	ck_assert_uint_eq(p->n_pruned, 0);
	profile_free(p);
	profile_free(before);
}
END_TEST

/* Below a short caller, and less than it itself: the caller is a row, too. */
START_TEST(a_caller_has_the_time_of_what_it_calls)
{
	struct profile *p = simple();
	uint32_t at = find_stack(p, "below<once<main<init");

	p->stacks[at].excl_ns = p->stacks[at].incl_ns = 1000000;
	prune_job(p, 0);
	assert_valid(p);
	stack_at(p, "below<once<main<init");
	ck_assert_uint_eq(stack_at(p, PRUNED_NAME "<main<init")->excl_ns, 3000);
	profile_free(p);
}
END_TEST

/* The name of who had a lock is kept, and the GPU's time counts. */
START_TEST(what_is_named_stays)
{
	struct profile *p = simple();
	struct profile_lock *l = ADD_ELEMENT(p, locks);
	struct profile_gpu *g = ADD_ELEMENT(p, gpu);

	*l = (struct profile_lock){.name = xstrdup("mutex 1"),
		.holder = 1 + find_stack(p, "below<once<main<init"),
		.ranks = 1};
	*g = (struct profile_gpu){.stack = find_stack(p, "twice<main<init"),
		.name = xstrdup("kernel"),
		.calls = 1,
		.ns = 50000};
	prune_job(p, 0);
	ck_assert_uint_eq(p->n_stacks, 6);
	ck_assert_uint_eq(p->locks->holder, 1 + find_stack(p, "below<once<main<init"));
	profile_free(p);
}
END_TEST

/* Tables that go by names still tell MPI and waits from functions; what waits for a lock in MPI
 * waits for MPI. */
START_TEST(waits_have_rows_of_their_own)
{
	static const char *const rows[] = {PRUNED_NAME, "MPI_* " PRUNED_NAME,
		"omp_* waits " PRUNED_NAME, "(idle) " PRUNED_NAME, "lock waits " PRUNED_NAME};
	struct profile *p = simple();
	const uint32_t main = find_stack(p, "main<init");
	uint32_t send = timed(p, main, "MPI_Send", 70);

	timed(p, send, "pthread_mutex_lock", 7);
	timed(p, main, "omp_barrier@a.c:1", 600);
	timed(p, main, "omp_for@a.c:1", 50);
	timed(p, main, "(idle)", 40);
	timed(p, main, "sem_wait", 30);
	sort_random_stacks(p);
	for (int i = 0; i < 2; i++) { /* the second time all that is pruned is so already */
		prune_job(p, 0);
		assert_valid(p);
		ck_assert_uint_eq(p->n_stacks, 3 + ARRAY_SIZE(rows));
		for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
			static const uint64_t ns[] = {12550, 77, 600, 40, 30};
			char *path = xasprintf("%s<main<init", rows[k]);

			ck_assert_uint_eq(stack_at(p, path)->excl_ns, ns[k]);
			ck_assert_int_eq(pruned_kind(rows[k]), k);
			free(path);
		}
	}
	ck_assert_uint_eq(pruned_rows(p).n, ARRAY_SIZE(rows));
	ck_assert_uint_eq(pruned_rows(p).excl_ns, 13297);
	profile_free(p);
}
END_TEST

static struct profile_memory *allocated(struct profile *p, const char *path, uint64_t bytes)
{
	struct profile_memory *m = ADD_ELEMENT(p, memory);

	*m = (struct profile_memory){
		.stack = find_stack(p, path), .ranks = 1, .allocations = 1, .bytes = bytes};
	return m;
}

/* A rank would count for each of its paths. */
START_TEST(no_ranks_are_known_of_what_is_added_up)
{
	struct profile *p = simple();

	allocated(p, "once<main<init", 100);
	allocated(p, "twice<main<init", 10);
	allocated(p, "hot<main<init", 1);
	prune_job(p, 0);
	ck_assert_uint_eq(p->n_memory, 2);
	EACH(const struct profile_memory, m, p->memory, p->n_memory) {
		const bool is_hot = m->stack == find_stack(p, "hot<main<init");

		ck_assert_uint_eq(m->bytes, is_hot ? 1 : 110);
		ck_assert_uint_eq(m->ranks, is_hot ? 1 : 0);
	}
	profile_free(p);
}
END_TEST

/* So would a thread; what is pruned already has none either. */
START_TEST(no_threads_are_known_of_what_is_added_up)
{
	static const char *const paths[] = {"once<main<init", "twice<main<init", "hot<main<init"};
	struct profile *p = simple();

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct profile_thread_range *r = profile_add(p, PROFILE_THREAD_RANGES);

		*r = (struct profile_thread_range){
			.stack = find_stack(p, paths[i]), .threads = 3, .min_ns = 1, .max_ns = 2};
	}
	profile_combine(p, PROFILE_THREAD_RANGES);
	for (int i = 0; i < 2; i++) {
		prune_job(p, 0);
		assert_valid(p);
		ck_assert_uint_eq(p->n_thread_ranges, 1);
		ck_assert_uint_eq(p->thread_ranges->stack, find_stack(p, "hot<main<init"));
		ck_assert_uint_eq(p->thread_ranges->threads, 3);
	}
	profile_free(p);
}
END_TEST

/* Where nothing is added up, processes and threads stay. */
START_TEST(processes_stay_if_nothing_is_added_up)
{
	struct dice d = {.state = 7};
	struct profile *p = random_profile_with_waits(&d, 0, 20, UINT64_MAX);
	const struct profile *before = profile_copy(p);

	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].excl_ns = 0;
	for (size_t i = 0; i < p->n_gpu; i++)
		p->gpu[i].ns = 0;
	ck_assert_uint_gt(p->n_processes, 0);
	prune_job(p, 0);
	ck_assert_uint_eq(p->n_pruned, 0);
	ck_assert_uint_eq(p->n_processes, before->n_processes);
	ck_assert_uint_eq(p->n_thread_pairs, before->n_thread_pairs);
	profile_free((struct profile *)before);
	profile_free(p);
}
END_TEST

/* Half of the call paths have next to no time. */
static struct profile *uneven(uint32_t state, uint32_t node)
{
	struct dice d = {.state = state * 100 + node};
	struct profile *p = random_profile_with_waits(&d, node, 60, UINT64_MAX);

	for (size_t i = 0; i < p->n_stacks; i++) {
		p->stacks[i].excl_ns >>= p->stacks[i].hash % 2 ? 24 : 0;
		p->stacks[i].incl_ns = MAX(p->stacks[i].incl_ns, p->stacks[i].excl_ns);
	}
	for (size_t i = 0; i < p->n_gpu; i++)
		p->gpu[i].ns >>= 24;
	profile_drop_processes(p);
	return p;
}

static struct profile *merge_nodes(struct profile **at)
{
	struct profile *p = NULL;

	for (int i = 0; i < NODES; i++)
		p = profile_merge(p, profile_copy(at[i]));
	return p;
}

/* For the path of each stack of p its place in whole. */
static uint32_t *places_in(const struct profile *whole, const struct profile *p)
{
	uint32_t *place = xcalloc(p->n_stacks, sizeof(*place));

	for (uint32_t i = 0, at = 0; i < p->n_stacks; i++) {
		while (profile_stack_cmp(whole, at, p, i) < 0)
			at++;
		place[i] = at;
	}
	return place;
}

/* The sums of what paths weigh on each node. */
static uint64_t *weigh_all(const struct profile *whole, struct profile **at)
{
	uint64_t *all = xcalloc(whole->n_stacks, sizeof(*all));

	for (int k = 0; k < NODES; k++) {
		uint32_t *place = places_in(whole, at[k]);
		uint64_t *weight = prune_weights(at[k]);

		for (uint32_t i = 0; i < at[k]->n_stacks; i++)
			all[place[i]] = prune_add(all[place[i]], weight[i]);
		free(place);
		free(weight);
	}
	return all;
}

/* Of what the job will prune, a part by the dice. weight: in the job. */
static void prune_some(
	struct dice *d, struct profile *p, const struct profile *whole, const uint64_t *weight)
{
	const uint64_t below_ns = prune_total_ns(whole) / PRUNE_PART / 2;
	uint32_t *place = places_in(whole, p);
	bool *keep = xcalloc(p->n_stacks, sizeof(*keep));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		keep[i] = weight[place[i]] >= below_ns || !throw_dice(d, 4);
	prune_others(p, keep, below_ns, whole->n_stacks);
	free(keep);
	free(place);
}

START_TEST(pruned_before_or_after_merging)
{
	struct dice d = {.state = (uint32_t)_i};
	struct profile *at[NODES], *whole, *before;
	uint64_t *weight;
	size_t paths;

	for (uint32_t k = 0; k < NODES; k++)
		at[k] = uneven((uint32_t)_i, k);
	whole = merge_nodes(at);
	weight = weigh_all(whole, at);
	for (uint32_t k = 0; k < NODES; k++) {
		prune_some(&d, at[k], whole, weight);
		assert_valid(at[k]);
	}
	before = merge_nodes(at);
	paths = whole->n_stacks;
	prune_job(whole, 0);
	ck_assert_uint_lt(whole->n_stacks, paths);
	assert_valid(whole);
	prune_job(before, UINT64_MAX);
	assert_same(whole, before);
	for (uint32_t k = 0; k < NODES; k++)
		profile_free(at[k]);
	profile_free(whole);
	profile_free(before);
	free(weight);
}
END_TEST

START_TEST(all_sums_stay)
{
	struct profile *p = uneven((uint32_t)_i, 0), *was = profile_copy(p);
	uint64_t calls[2] = {0}, bytes[2] = {0}, waits[2] = {0};

	prune_job(p, 0);
	ck_assert_uint_eq(p->n_pruned, 1);
	for (int k = 0; k < 2; k++) {
		const struct profile *x = k ? was : p;

		for (size_t i = 0; i < x->n_stacks; i++)
			calls[k] += x->stacks[i].calls;
		for (size_t i = 0; i < x->n_messages; i++)
			bytes[k] += x->messages[i].bytes_sent;
		for (size_t i = 0; i < x->n_waits; i++)
			waits[k] += x->waits[i].ns;
	}
	ck_assert_uint_eq(calls[0], calls[1]);
	ck_assert_uint_eq(bytes[0], bytes[1]);
	ck_assert_uint_eq(waits[0], waits[1]);
	ck_assert_uint_eq(prune_total_ns(p), prune_total_ns(was));
	profile_free(p);
	profile_free(was);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prune");
	TCase *c = tcase_create("prune");

	tcase_add_test(c, short_ones_are_one_row);
	tcase_add_test(c, few_paths_stay);
	tcase_add_test(c, a_caller_has_the_time_of_what_it_calls);
	tcase_add_test(c, what_is_named_stays);
	tcase_add_test(c, waits_have_rows_of_their_own);
	tcase_add_test(c, no_ranks_are_known_of_what_is_added_up);
	tcase_add_test(c, no_threads_are_known_of_what_is_added_up);
	tcase_add_test(c, processes_stay_if_nothing_is_added_up);
	tcase_add_loop_test(c, pruned_before_or_after_merging, 1, 60);
	tcase_add_loop_test(c, all_sums_stay, 1, 20);
	suite_add_tcase(s, c);
	return run_suite(s);
}
