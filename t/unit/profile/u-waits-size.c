/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits of jobs with thousands of ranks: what merging keeps of them, and what that costs. */
#include <check.h>
#include <stdlib.h>
#include <time.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "t/unit/profile/random-profile.h"
#include "t/lib/suite.h"

enum { NODES = 64, RANKS_EACH = 64, RANKS = NODES * RANKS_EACH, PLACES = 50 };

#define CULPRIT 1234u /* a rank for which others wait most */

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Each late rank was in one of two call paths; causes[] of ranks without waits are there, too. */
static void add_causes(struct profile *p)
{
	for (size_t i = 0; i < p->n_waits; i++)
		*(struct profile_cause *)profile_add(p, PROFILE_CAUSES) =
			(struct profile_cause){.stack = p->waits[i].stack,
				.kind = p->waits[i].kind,
				.late = p->waits[i].late ^ (i % 5 == 4),
				.activity = p->waits[i].late % 2,
				.ns = p->waits[i].ns / 2};
	profile_combine(p, PROFILE_CAUSES);
}

static uint64_t ns_of_causes(const struct profile *p)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->n_causes; i++)
		ns += p->causes[i].ns;
	return ns;
}

/* The profile of a node in which ranks [first, first + n) have waited for late ones, in PLACES. */
static struct profile *node_of(uint32_t first, uint32_t n, uint32_t late_of_each)
{
	struct profile *p = profile_new();
	const uint32_t root = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);

	p->ranks = n;
	for (int i = 0; i < PLACES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "MPI_%d", i);
		add_stack(p, root, name, UINT64_MAX);
	}
	sort_random_stacks(p);
	for (uint32_t s = 0; s < p->n_stacks; s++) {
		if (p->stacks[s].parent == PROFILE_NONE)
			continue;
		for (uint32_t r = first; r < first + n; r++)
			for (uint32_t k = 0; k < late_of_each; k++) {
				struct profile_wait *w = profile_add(p, PROFILE_WAITS);

				*w = (struct profile_wait){.stack = s,
					.kind = s % WAIT_KINDS_END,
					.late = k ? (r * 7 + k * 129) % RANKS : CULPRIT,
					.calls = 3,
					.ns = k ? 1000 + (r + k) % 500 : 5000};
			}
	}
	add_causes(p);
	profile_combine(p, PROFILE_WAITS);
	profile_waits_limit(p);
	return p;
}

static void sum_up(const struct profile *p, uint64_t *calls, uint64_t *ns)
{
	for (size_t i = 0; i < p->n_waits; i++) {
		*calls += p->waits[i].calls;
		*ns += p->waits[i].ns;
	}
}

/* No more than PROFILE_LATE_MAX ranks and all others at each place. */
static void check_places(const struct profile *p, size_t places)
{
	size_t n = 0, ranks = 0;

	for (size_t i = 0; i < p->n_waits; i++) {
		const struct profile_wait *w = &p->waits[i];

		if (!i || w[-1].stack != w->stack || w[-1].kind != w->kind) {
			n++;
			ranks = 0;
		}
		ranks += w->late != PROFILE_ELSEWHERE;
		ck_assert_uint_le(ranks, PROFILE_LATE_MAX);
	}
	ck_assert_uint_eq(n, places);
	ck_assert_uint_le(p->n_waits, places * (PROFILE_LATE_MAX + 1));
}

/* Of all at this place: the one with most. */
static const struct profile_wait *most_of(const struct profile *p, uint32_t stack)
{
	const struct profile_wait *most = NULL;

	for (size_t i = 0; i < p->n_waits; i++)
		if (p->waits[i].stack == stack && p->waits[i].late != PROFILE_ELSEWHERE &&
			(!most || p->waits[i].ns > most->ns))
			most = &p->waits[i];
	return most;
}

START_TEST(of_4096_ranks_those_with_most_are_told_apart_and_the_sums_stay)
{
	struct profile *at[NODES];
	uint64_t calls = 0, ns = 0, calls_now = 0, ns_now = 0, causes_ns = 0;
	const double begin = cpu_s();

	for (uint32_t i = 0; i < NODES; i++) {
		at[i] = node_of(i * RANKS_EACH, RANKS_EACH, 16);
		sum_up(at[i], &calls, &ns);
		causes_ns += ns_of_causes(at[i]);
		check_places(at[i], PLACES);
	}
	ck_assert_uint_eq(calls, (uint64_t)RANKS * PLACES * 16 * 3);
	/* as agents do, in a tree */
	for (int step = 1; step < NODES; step *= 2)
		for (int i = 0; i + step < NODES; i += 2 * step)
			at[i] = profile_merge(at[i], at[i + step]);
	sum_up(at[0], &calls_now, &ns_now);
	ck_assert_uint_eq(calls_now, calls);
	ck_assert_uint_eq(ns_now, ns);
	check_places(at[0], PLACES);
	/* two call paths of each of 17 at each place */
	ck_assert_uint_eq(ns_of_causes(at[0]), causes_ns);
	ck_assert_uint_le(at[0]->n_causes, PLACES * 17 * 2);
	ck_assert_ptr_null(profile_valid(at[0]));
	for (uint32_t s = 0; s < at[0]->n_stacks; s++) {
		const struct profile_wait *most = most_of(at[0], s);

		if (at[0]->stacks[s].parent == PROFILE_NONE)
			continue;
		ck_assert_uint_eq(most->late, CULPRIT);
		ck_assert_uint_ge(most->ns, 5000u * RANKS);
	}
	/* at agent 0: 48 bytes for each of 17 at each place, whatever the number of ranks */
	ck_assert_uint_le(at[0]->n_waits * sizeof(*at[0]->waits), PLACES * 17 * 48);
	/* 3.3 million records are made and merged; in a second on a machine of 2020 */
	ck_assert_double_lt(cpu_s() - begin, 20.0);
	profile_free(at[0]);
}
END_TEST

START_TEST(up_to_16_late_ranks_nothing_is_folded_in_any_order)
{
	for (uint32_t late = 1; late <= PROFILE_LATE_MAX; late += 5) {
		struct profile *a = node_of(0, 1, late), *b = node_of(0, 1, late);
		const size_t n = a->n_waits;

		ck_assert_uint_eq(n, (size_t)PLACES * late);
		a = profile_merge(a, b);
		ck_assert_uint_eq(a->n_waits, n);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_ne(a->waits[i].late, PROFILE_ELSEWHERE);
		profile_free(a);
	}
}
END_TEST

START_TEST(the_rest_is_added_to_those_of_other_jobs)
{
	struct profile *p = profile_new();
	const uint32_t root = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);

	for (uint32_t r = 0; r < 20; r++)
		*(struct profile_wait *)profile_add(p, PROFILE_WAITS) = (struct profile_wait){
			.stack = root, .kind = WAIT_NXN, .late = r, .calls = 1, .ns = r % 19 + 1};
	*(struct profile_wait *)profile_add(p, PROFILE_WAITS) = (struct profile_wait){
		.stack = root, .kind = WAIT_NXN, .late = PROFILE_ELSEWHERE, .calls = 7, .ns = 100};
	profile_combine(p, PROFILE_WAITS);
	profile_waits_limit(p);
	ck_assert_uint_eq(p->n_waits, 17);
	/* 0 and 19 waited 1 ns, 1 waited 2 ns, 2 waited 3 ns: these go */
	ck_assert_uint_eq(p->waits[0].late, 3);
	ck_assert_uint_eq(p->waits[15].late, 18);
	ck_assert_uint_eq(p->waits[16].late, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->waits[16].ns, 100 + 1 + 2 + 3 + 1);
	ck_assert_uint_eq(p->waits[16].calls, 7 + 4);
	profile_free(p);
}
END_TEST

/* As many threads of one rank as fit, and more, that are equal in all else. */
START_TEST(threads_that_are_waited_for_are_told_apart_likewise)
{
	const uint32_t n = PROFILE_LATE_MAX + (uint32_t)_i;
	struct profile *p = node_of(0, 1, 1);
	uint64_t calls = 0, ns = 0;

	p->n_waits = p->n_causes = 0;
	for (uint32_t s = 1; s <= 2; s++)
		for (uint32_t t = 0; t < n; t++)
			*(struct profile_wait *)profile_add(p, PROFILE_WAITS) =
				(struct profile_wait){.stack = s,
					.kind = WAIT_LOCK,
					.calls = 1,
					.ns = 100,
					.late_thread = 1 + t / 2,
					.late_stack = t % 2};
	profile_combine(p, PROFILE_WAITS);
	profile_waits_limit(p);
	sum_up(p, &calls, &ns);
	check_places(p, 2);
	ck_assert_uint_eq(p->n_waits, 2 * (PROFILE_LATE_MAX + (_i > 0)));
	ck_assert_uint_eq(calls, 2 * n);
	ck_assert_uint_eq(ns, 200 * n);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("u-waits-size");
	TCase *t = tcase_create("waits");

	tcase_set_timeout(t, 10);
	tcase_add_test(t, of_4096_ranks_those_with_most_are_told_apart_and_the_sums_stay);
	tcase_add_test(t, up_to_16_late_ranks_nothing_is_folded_in_any_order);
	tcase_add_test(t, the_rest_is_added_to_those_of_other_jobs);
	tcase_add_loop_test(t, threads_that_are_waited_for_are_told_apart_likewise, 0, 3);
	suite_add_tcase(s, t);
	return run_suite(s);
}
