/* SPDX-License-Identifier: BSD-3-Clause */
/* The room at a home of collective calls: an agent that takes all it can leaves others theirs. */
#include <check.h>
#include <stdlib.h>

#define HOME_GROUPS_MAX	   ((size_t)40)
#define HOME_INSTANCES_MAX ((size_t)400)
#define HOME_RUNS_MAX	   ((size_t)600)
#define HOME_ASKS_MAX	   ((size_t)800)
#include "nodeagent/internode/home.c"

#include "t/lib/suite.h"

enum { AGENTS = 4, GREEDY = 3 };

static struct home *h;

static void up(void)
{
	h = home_new(AGENTS);
}

static void down(void)
{
	home_free(h);
}

/* Of agent 0 to 2: the run of 2 of 6 ranks in these calls of one communicator. */
static void report(int agent, uint64_t comm, uint32_t tickets, uint64_t kind)
{
	for (uint32_t t = 0; t < tickets; t++) {
		const uint64_t w[] = {HOME_VERSION, 0, comm, 1, (uint64_t)6 << 32 | 1, 0,
			(uint64_t)t << 32 | kind << 24 | 1, (uint64_t)(2 * agent) << 32 | 2,
			2 * (uint64_t)agent, 100 + (uint64_t)agent};

		ck_assert_ptr_null(home_take(h, agent, w, ARRAY_SIZE(w)));
	}
}

/* n calls, each of another communicator or all of one. */
static void grab(uint32_t n, bool of_many, uint64_t kind)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t w[] = {HOME_VERSION, 0, of_many ? 1000 + i : 999, 1,
			(uint64_t)6 << 32 | 1, 0, (uint64_t)i << 32 | kind << 24 | 1, 1, 0, 7};

		ck_assert_ptr_null(home_take(h, GREEDY, w, ARRAY_SIZE(w)));
	}
}

/* Answers to an agent, and how many of them say something. */
static size_t answers(int agent, size_t *known)
{
	struct words w = {0};
	size_t n = 0;

	*known = 0;
	while (home_give(h, agent, 64, &w)) {
		struct words_in in = {w.at + 2, w.n - 2, false};
		struct home_answer a;

		for (; in.n; n++) {
			home_read_answer(&in, &a);
			*known += a.status == HOME_KNOWN;
		}
		words_free(&w);
		w = (struct words){0};
	}
	return n;
}

static void check_honest(uint32_t calls)
{
	size_t known;

	for (int agent = 0; agent < GREEDY; agent++) {
		ck_assert_uint_eq(answers(agent, &known), calls);
		ck_assert_uint_eq(known, calls);
	}
}

/* Before the others come, it takes half of all, and no more. */
START_TEST(a_greedy_agent)
{
	const bool of_many = _i & 1;
	const uint64_t kind = _i & 2 ? COLLECTIVE_CHAIN : COLLECTIVE_BETWEEN_ALL;
	size_t known;

	grab(5000, of_many, kind);
	ck_assert_uint_le(h->groups.n, HOME_GROUPS_MAX / 2);
	ck_assert_uint_le(h->meetings.n, HOME_INSTANCES_MAX / 2);
	ck_assert_uint_le(h->of_runs.used, HOME_RUNS_MAX / 2);
	ck_assert_uint_eq(answers(GREEDY, &known), HOME_ASKS_MAX / 2);
	for (int agent = 0; agent < GREEDY; agent++)
		report(agent, 1, 50, COLLECTIVE_BETWEEN_ALL);
	grab(5000, !of_many, kind); /* it goes on */
	check_honest(50);
}
END_TEST

/* And where all take what they can, all together stay below the bound. */
START_TEST(all_are_greedy)
{
	size_t known, n = 0;

	for (int agent = 0; agent < GREEDY; agent++)
		for (uint64_t comm = 1; comm < 100; comm++)
			report(agent, comm * AGENTS + (uint64_t)agent, 20, COLLECTIVE_CHAIN);
	grab(5000, true, COLLECTIVE_CHAIN);
	ck_assert_uint_le(h->groups.n, HOME_GROUPS_MAX);
	ck_assert_uint_le(h->meetings.n, HOME_INSTANCES_MAX);
	ck_assert_uint_le(h->of_runs.used, HOME_RUNS_MAX);
	for (int agent = 0; agent < AGENTS; agent++)
		n += answers(agent, &known);
	ck_assert_uint_le(n, HOME_ASKS_MAX);
}
END_TEST

/* Of an instance beyond the bound nothing is known, to all that ask. */
START_TEST(what_found_no_room_is_unknown)
{
	size_t known;

	for (int agent = 0; agent < GREEDY; agent++)
		report(agent, 1, 250, COLLECTIVE_BETWEEN_ALL);
	for (int agent = 0; agent < GREEDY; agent++) {
		ck_assert_uint_ge(answers(agent, &known), HOME_ASKS_MAX / 2 / AGENTS);
		ck_assert_uint_le(known, 250);
	}
	ck_assert_uint_le(h->meetings.n, HOME_INSTANCES_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("home");
	TCase *c = tcase_create("home");

	tcase_add_checked_fixture(c, up, down);
	tcase_add_loop_test(c, a_greedy_agent, 0, 4);
	tcase_add_test(c, all_are_greedy);
	tcase_add_test(c, what_found_no_room_is_unknown);
	suite_add_tcase(s, c);
	return run_suite(s);
}
