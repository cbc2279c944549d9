/* SPDX-License-Identifier: BSD-3-Clause */
/* Strong or weak scaling, and its factors, of profiles made in memory. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/report.h"
#include "nodeagent/report/scaling.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define RUNS 3

static struct conf *conf;
static struct profile *p;
static struct scaling_run runs[RUNS];

/* One more call path: "init" first, and others below it. */
static uint32_t path(const char *name)
{
	const uint32_t i = (uint32_t)p->n_stacks;

	*ADD_ELEMENT(p, stacks) = (struct profile_stack){
		.hash = i, .parent = i ? 0 : PROFILE_NONE, .name = i, .ranks = 1};
	*ADD_ELEMENT(p, names) = xstrdup(name);
	return i;
}

static void empty_profile(void)
{
	profile_free(p);
	p = profile_new();
	path("init");
}

static void setup(void)
{
	conf = conf_default();
	p = NULL;
	empty_profile();
	memset(runs, 0, sizeof(runs));
}

static void teardown(void)
{
	profile_free(p);
	conf_free(conf);
}

static void is(double value, double expected)
{
	ck_assert_msg(fabs(value - expected) < 1e-9, "%.12f, not %.12f", value, expected);
}

static void add(const char *name, uint64_t calls)
{
	const uint32_t i = path(name);

	p->stacks[i].calls = calls;
}

static void count(uint32_t stack, uint32_t counter, uint64_t value)
{
	*ADD_ELEMENT(p, counts) =
		(struct profile_count){.stack = stack, .counter = counter, .value = value};
}

/* Takes what is in the profile, and empties it. */
static void run_is(size_t i, double ranks, double useful_s)
{
	struct report r;

	report_init(&r, p, conf, NULL, 0);
	runs[i] = scaling_of(&r);
	runs[i].ranks = runs[i].threads = ranks;
	runs[i].useful_s = useful_s;
	report_done(&r);
	empty_profile();
}

static struct scaling recognised(const char *sentence)
{
	struct scaling s = scaling_recognise(runs, RUNS, 0);
	char *text = scaling_sentence(&s);

	ck_assert_str_eq(text, sentence);
	free(text);
	for (size_t i = 0; i < RUNS; i++)
		scaling_done(&runs[i]);
	return s;
}

/* Calls of MPI are no calls of the program, and 1 % more or less is the same. */
START_TEST(work_that_is_shared)
{
	static const uint64_t calls[RUNS] = {1000, 1009, 995};

	for (size_t i = 0; i < RUNS; i++) {
		add("cell", calls[i]);
		add("step", 10u << i);
		add("MPI_Send", 5000u << i);
		add("(idle)", 7);
		run_is(i, 1 << i, 8.0);
		ck_assert_uint_eq(runs[i].n_functions, 2);
	}
	ck_assert(!recognised("Strong scaling: 96 % of the calls are of functions that are called "
			      "as often in all runs.")
			   .weak);
}
END_TEST

START_TEST(work_that_grows)
{
	for (size_t i = 0; i < RUNS; i++) {
		add("cell", 1000u << i);
		add("step", 10u << i);
		add("report", 30);
		run_is(i, 1 << i, 8 << i);
	}
	ck_assert(recognised(
		"Weak scaling: 99 % of the calls are of functions that each rank calls as "
		"often in all runs.")
			  .weak);
}
END_TEST

/* Loops without calls: each rank does as many steps, which are shorter. */
START_TEST(work_in_loops)
{
	for (size_t i = 0; i < RUNS; i++) {
		add("step", 10u << i);
		run_is(i, 1 << i, 8.0 + 0.5 * (double)i);
	}
	ck_assert(!recognised(
		"Strong scaling is assumed: each rank calls functions as often in all "
		"runs (100 % of the calls), but useful times are those of the same work.")
			   .weak);
}
END_TEST

START_TEST(calls_that_say_nothing)
{
	for (size_t i = 0; i < RUNS; i++) {
		add("cell", 1000 + 700 * i);
		add("fixed", 1000);
		run_is(i, 1 << i, 8.0);
	}
	ck_assert(!recognised(
		"Strong scaling is assumed: of the calls, 29 % are of functions that are "
		"called as often in all runs, and 0 % of those that each rank calls as "
		"often.")
			   .weak);
	/* a function that the reference does not have */
	for (size_t i = 0; i < RUNS; i++) {
		add(i ? "cell" : "other", 1000);
		run_is(i, 1 << i, 8.0);
	}
	ck_assert_int_eq(
		recognised("Strong scaling is assumed: of the calls, 0 % are of functions that "
			   "are called as often in all runs, and 0 % of those that each rank "
			   "calls as often.")
			.reason,
		SCALING_NEITHER);
}
END_TEST

START_TEST(the_same_ranks)
{
	for (size_t i = 0; i < RUNS; i++) {
		add("cell", 1000);
		run_is(i, 4, 8.0);
		runs[i].threads = 4 << i;
	}
	ck_assert(!recognised("Strong scaling is assumed: the runs have the same number of ranks.")
			   .weak);
}
END_TEST

/* By hand: 2 times the instructions, in 3 times the cycles, in 4 times the useful time. */
START_TEST(factors_of_counters)
{
	static const char *const names[][2] = {
		{"I instructions", "C cycles"}, {"I PAPI_TOT_INS", "C PAPI_TOT_CYC"}};
	struct scaling_factors f;

	for (size_t i = 0; i < RUNS; i++) {
		const uint32_t work = path("work");
		const uint32_t wait = path("MPI_Wait");

		for (uint32_t k = 0; k < 2; k++)
			*ADD_ELEMENT(p, counters) = (struct profile_counter){
				.number = k + 3, .name = xstrdup(names[_i][k])};
		count(work, 3, i ? 2000 : 1000);
		count(work, 4, i ? 3000 : 1000);
		count(wait, 3, 777777);
		count(wait, 4, 777777);
		run_is(i, i ? 2 : 1, i ? 4.0 : 1.0);
	}
	is(runs[1].instructions, 2000);
	f = scaling_factors(&runs[1], &runs[0], false);
	is(f.instructions, 0.5);
	is(f.ipc, 2.0 / 3.0);
	is(f.frequency, 0.75);
	is(f.instructions * f.ipc * f.frequency, 0.25);
	f = scaling_factors(&runs[1], &runs[0], true);
	is(f.instructions, 1.0);
	is(f.instructions * f.ipc * f.frequency, 0.5);
	f = scaling_factors(&runs[0], &runs[0], false);
	is(f.instructions * f.ipc * f.frequency, 1.0);
	runs[1].useful_s = 0.0; /* not known */
	f = scaling_factors(&runs[1], &runs[0], false);
	ck_assert(isnan(f.frequency));
	f = scaling_factors(&runs[0], &runs[1], false);
	is(f.instructions, 2.0);
	ck_assert(isnan(f.frequency));
	for (size_t i = 0; i < RUNS; i++)
		scaling_done(&runs[i]);
}
END_TEST

START_TEST(without_counters)
{
	struct scaling_factors f;

	for (size_t i = 0; i < RUNS; i++) {
		add("work", 1);
		run_is(i, 1, 1.0);
	}
	f = scaling_factors(&runs[1], &runs[0], false);
	ck_assert(isnan(f.instructions) && isnan(f.ipc) && isnan(f.frequency));
	for (size_t i = 0; i < RUNS; i++)
		scaling_done(&runs[i]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scaling");
	TCase *t = tcase_create("runs");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, work_that_is_shared);
	tcase_add_test(t, work_that_grows);
	tcase_add_test(t, work_in_loops);
	tcase_add_test(t, calls_that_say_nothing);
	tcase_add_test(t, the_same_ranks);
	tcase_add_loop_test(t, factors_of_counters, 0, 2);
	tcase_add_test(t, without_counters);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
