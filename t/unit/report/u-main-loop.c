/* SPDX-License-Identifier: BSD-3-Clause */
/* The main loop of profiles made in memory, against numbers that were computed by hand. */
#include "t/unit/report/output-files.h"

#include <math.h>

#include "nodeagent/report/main-loop.h"
#include "t/lib/suite.h"

static struct main_loop l;

static void setup(void)
{
	setup_files();
	memset(&l, 0, sizeof(l));
	p->world_size = p->ranks = 2;
	for (uint32_t i = 0; i < 4; i++) { /* main < init; step < main; sub < step */
		struct profile_stack *s = ADD_ELEMENT(p, stacks);
		static const char *const names[] = {"init", "main", "step", "sub"};

		s->parent = i ? i - 1 : PROFILE_NONE;
		s->name = i;
		s->hash = i + 1;
		s->ranks = 2;
		*ADD_ELEMENT(p, names) = xstrdup(names[i]);
	}
}

static void is(double value, double wanted)
{
	ck_assert_msg(fabs(value - wanted) < 1e-9, "%.12f, not %.12f", value, wanted);
}

/* Iteration i of two ranks: milliseconds, and of these in MPI. */
static void both(uint32_t stack, uint64_t i, double ms0, double mpi0, double ms1, double mpi1)
{
	const bool first_longer = ms0 >= ms1, first_busier = ms0 - mpi0 >= ms1 - mpi1;

	*ADD_ELEMENT(p, iterations) = (struct profile_iteration){.stack = stack,
		.run = i,
		.ranks = 2,
		.calls = 2,
		.ns = (uint64_t)((ms0 + ms1) * (double)MS),
		.mpi_ns = (uint64_t)((mpi0 + mpi1) * (double)MS),
		.least_ns = (uint64_t)((first_longer ? ms1 : ms0) * (double)MS),
		.most_ns = (uint64_t)((first_longer ? ms0 : ms1) * (double)MS),
		.most_at = i,
		.most_rank = !first_longer,
		.busy_ns = (uint64_t)((first_busier ? ms0 - mpi0 : ms1 - mpi1) * (double)MS),
		.busy_rank = !first_busier};
}

static void make(void)
{
	const char *why = profile_valid(p);

	ck_assert_msg(!why, "%s", why);
	ck_assert(main_loop_of(p, &l));
}

static void end(void)
{
	main_loop_done(&l);
	teardown();
}

START_TEST(none)
{
	ck_assert(!main_loop_of(p, &l));
}
END_TEST

START_TEST(numbers)
{
	for (uint64_t i = 0; i < 9; i++)
		both(2, i, 10, 2, 10, 4);
	both(2, 9, 60, 2, 60, 50);
	make();
	ck_assert_uint_eq(l.stack, 2);
	ck_assert_uint_eq(l.ranks, 2);
	ck_assert_uint_eq(l.n, 10);
	ck_assert_uint_eq(l.per_step, 1);
	is(l.sum, 0.150);
	is(l.mpi, (9 * 6 + 52) / 300.0);
	is(l.median, 0.010);
	is(l.p90, 0.015); /* a tenth of the way from the ninth to the tenth */
	is(l.least, 0.010);
	is(l.most, 0.060);
	is(l.excess, 0.050);
	/* means outside of MPI 7 and 34, most 8 and 58 */
	is(l.efficiency.balance, (9 * 7 + 34) / (9 * 8 + 58.0));
	ck_assert_uint_eq(l.n_slow, 1);
	ck_assert_uint_eq(l.steps[l.slow[0]].at, 9);
	is(l.steps[9].busy, 0.034);
	is(l.steps[9].busiest, 0.058);
	ck_assert_uint_eq(l.steps[9].by, 0);
	ck_assert_uint_eq(l.n_kinds, 2);
	ck_assert_uint_eq(l.kinds[0].n, 9);
	is(l.kinds[1].median, 0.060);
}
END_TEST

/* A kind of its own is not slow, however long; one of it may be. */
START_TEST(kinds)
{
	for (uint64_t i = 0; i < 40; i++)
		both(2, i, i % 4 == 3 ? 50 : 10, 0, i % 4 == 3 ? 50 : 10, 0);
	make();
	ck_assert_uint_eq(l.n_kinds, 2);
	ck_assert_uint_eq(l.kinds[0].n, 30);
	ck_assert_uint_eq(l.kinds[0].every, 0);
	ck_assert_uint_eq(l.kinds[1].n, 10);
	ck_assert_uint_eq(l.kinds[1].first, 3);
	ck_assert_uint_eq(l.kinds[1].every, 4);
	is(l.kinds[1].median, 0.050);
	ck_assert_uint_eq(l.n_slow, 0);
	ck_assert_uint_eq(l.steps[3].kind, 1);
	is(l.growth, 0.0);
	is(l.trend, 0.0);
}
END_TEST

/* Four of 60, as a busy machine makes them: slow, and no kind. Regular ones, or many, are one. */
START_TEST(long_ones_now_and_then)
{
	static const uint64_t now_and_then[] = {19, 20, 38, 40};

	for (uint64_t i = 0; i < 60; i++) {
		const bool is_long = ANY(k, 4, now_and_then[k] == i);

		both(2, i, is_long ? 300 : 10, 0, is_long ? 300 : 10, 0);
	}
	make();
	ck_assert_uint_eq(l.n_kinds, 2);
	ck_assert(!loop_kind_is_usual(&l, &l.kinds[1]));
	ck_assert_uint_eq(l.n_slow, 4);
	main_loop_done(&l);
	for (size_t i = 0; i < p->n_iterations; i++)
		p->iterations[i].ns = p->iterations[i].most_ns * 2;
	for (size_t k = 0; k < 4; k++) {
		struct profile_iteration *was = &p->iterations[now_and_then[k]],
					 *is = &p->iterations[15 * k + 7];
		const struct profile_iteration one = *was;

		*was = *is;
		*is = one;
		was->run = was->most_at = now_and_then[k];
		is->run = is->most_at = 15 * k + 7;
	}
	make();
	ck_assert_uint_eq(l.kinds[1].every, 15);
	ck_assert(loop_kind_is_usual(&l, &l.kinds[1]));
	ck_assert_uint_eq(l.n_slow, 0);
}
END_TEST

/* By the trend, 100 iterations would be shorter by five times the median. */
START_TEST(a_slow_start)
{
	for (uint64_t i = 0; i < 60; i++)
		both(2, i, i < 20 ? 30 : 10, 0, i < 20 ? 30 : 10, 0);
	make();
	is(l.median, 0.010);
	is(l.growth, -0.020);
	is(l.trend, -5.0);
}
END_TEST

START_TEST(no_more_kinds_than_there_is_room_for)
{
	double ms = 1;

	for (uint64_t i = 0; i < 12; i++, ms *= 1.4 + 0.1 * (double)i)
		for (uint64_t k = 0; k < 3; k++)
			both(2, 3 * i + k, ms, 0, ms, 0);
	make();
	ck_assert_uint_eq(l.n_kinds, LOOP_KINDS);
	/* the borders are where it grew most: above the last ones */
	is(l.kinds[0].median, 0.001 * 1.5 * 1.6 * 1.7);
	ck_assert_uint_eq(l.kinds[0].n, 3 * 7);
	for (unsigned i = 1; i < LOOP_KINDS; i++)
		ck_assert_uint_eq(l.kinds[i].n, 3);
}
END_TEST

START_TEST(growth)
{
	for (uint64_t i = 0; i < 200; i++)
		both(2, i, 10 + 0.01 * (double)i, 0, 10 + 0.01 * (double)i, 0);
	make();
	is(l.median, 0.010995);
	is(l.growth, 0.00134);
	is(l.trend, 1.0 / 10.995 * 134 / 134);
	ck_assert_uint_eq(l.n_kinds, 1);
}
END_TEST

/* The shallower of two that all ranks have; and one of all ranks before one of a single rank. */
START_TEST(which_loop)
{
	*ADD_ELEMENT(p, iterations) = (struct profile_iteration){
		.stack = 1, .ranks = 1, .calls = 1, .ns = 9 * MS, .most_ns = 9 * MS};
	both(2, 0, 5, 0, 5, 0);
	both(3, 0, 6, 0, 6, 0);
	make();
	ck_assert_uint_eq(l.stack, 2);
}
END_TEST

/* Rank 0 has chosen 2, and rank 1 another one, with 2 beside it. */
START_TEST(others_have_it_too)
{
	*ADD_ELEMENT(p, iterations) = (struct profile_iteration){
		.stack = 1, .ranks = 1, .calls = 1, .ns = 9 * MS, .most_ns = 9 * MS};
	both(2, 0, 5, 0, 5, 0);
	p->iterations[1].others = 1;
	make();
	ck_assert_uint_eq(l.stack, 2);
	ck_assert_uint_eq(l.ranks, 2);
}
END_TEST

START_TEST(one_that_most_have_chosen_goes_first)
{
	both(2, 0, 5, 0, 5, 0);
	both(3, 0, 5, 0, 5, 0);
	p->iterations[0].others = 1;
	make();
	ck_assert_uint_eq(l.stack, 3);
}
END_TEST

START_TEST(nobody_has_chosen_it)
{
	both(2, 0, 5, 0, 5, 0);
	p->iterations[0].others = 2;
	ck_assert(!main_loop_of(p, &l));
}
END_TEST

/* One rank made 4096 calls, the other 5: theirs are the same step where they have one number. */
START_TEST(ranks_with_other_steps)
{
	for (uint64_t i = 0; i < 5; i++)
		*ADD_ELEMENT(p, iterations) = (struct profile_iteration){.stack = 2,
			.run = i,
			.ranks = 1,
			.calls = 1,
			.ns = MS,
			.least_ns = MS,
			.most_ns = MS,
			.most_at = i};
	for (uint64_t i = 0; i < 2048; i++)
		*ADD_ELEMENT(p, iterations) = (struct profile_iteration){.stack = 2,
			.log2 = 1,
			.run = i,
			.ranks = 1,
			.calls = 2,
			.ns = 2 * MS,
			.least_ns = MS,
			.most_ns = MS,
			.most_at = 2 * i,
			.most_rank = 1,
			.busy_ns = 2 * MS,
			.busy_rank = 1};
	make();
	ck_assert_uint_eq(l.per_step, 2);
	ck_assert_uint_eq(l.n_steps, 2048);
	is(l.sum, 4.101 / 1);
	is(l.median, 0.001);
}
END_TEST

static struct profile_iteration *run_of(uint64_t i)
{
	for (size_t k = 0; k < p->n_iterations; k++)
		if (p->iterations[k].run == i)
			return &p->iterations[k];
	return NULL;
}

/* Of 20 iterations of 10 ms, 2 of them in MPI, one of each cause. */
START_TEST(causes)
{
	static const enum loop_cause wanted[] = {LOOP_WORK, LOOP_OFF_CPU, LOOP_TRANSFER, LOOP_WAIT};
	char *text;

	for (uint64_t i = 0; i < 16; i++)
		both(2, i, 10, 2, 10, 2);
	both(2, 16, 50, 42, 50, 2); /* rank 1 is late */
	both(2, 17, 80, 72, 80, 2);
	both(2, 18, 130, 122, 130, 122);
	both(2, 19, 210, 202, 210, 202);
	run_of(16)->wait_ns = 40 * MS;
	run_of(16)->busy_stack = 3 + 1;
	run_of(17)->wait_ns = 70 * MS;
	run_of(17)->off_ns = run_of(17)->busy_off_ns = 69 * MS;
	run_of(19)->wait_ns = 396 * MS;
	make();
	ck_assert_uint_eq(l.n_slow, 4);
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_int_eq(l.steps[16 + i].cause, wanted[i]);
	is(l.steps[16].cause_s, 0.040);
	is(l.steps[17].cause_s, 0.069);
	is(l.steps[18].cause_s, 0.120);
	is(l.steps[19].cause_s, 0.198);
	is(l.excess, 0.430);
	/* wait and work 20 each; 35, off 34.5 and work 0.5; transfer 120; 198 and 2 */
	is(l.parts.wait, 253 / 430.0);
	is(l.parts.transfer, 122 / 430.0);
	is(l.parts.off, 34.5 / 430.0);
	is(l.parts.work, 20.5 / 430.0);
	free(conf->output_layout);
	conf->output_layout = xstrdup("run");
	p->calls = 1;
	text = summary();
	/* nothing says that waits were looked for */
	has(text, "Above the median: 430 ms (68 %): waiting for others 59 %, in MPI 28 %, without "
		  "a CPU 8 %, own work 5 %");
	has(text, "waits 198 ms longer");
	has(text, "in MPI 120 ms longer");
	has(text, "rank 1 was not running 86 %");
	free(text);
	for (uint32_t i = 0; i < 2; i++)
		*ADD_ELEMENT(p, rank_times) = (struct profile_rank_time){
			.rank = i, .flags = RANK_HAS_WAITS, .threads = 1, .team_threads = 1};
	main_loop_done(&l);
	make();
	text = summary();
	has(text, "waiting for others 59 %, otherwise in MPI 28 %, without a CPU 8 %");
	has(text, "in MPI, not for a late rank, 120 ms longer");
	free(text);
	run_of(17)->busy_queued_ns = 9 * MS;
	run_of(17)->busy_asleep_ns = 60 * MS;
	run_of(17)->busy_stack = 3 + 1;
	main_loop_done(&l);
	make();
	text = summary();
	has(text, "rank 1 slept or was blocked 75 % in sub ");
	free(text);
	run_of(17)->busy_queued_ns = 64 * MS;
	run_of(17)->busy_asleep_ns = 5 * MS;
	main_loop_done(&l);
	make();
	text = summary();
	has(text, "rank 1 waited for a CPU 80 % in sub ");
	has(text, "rank 1 worked 40.0 ms longer in sub ");
	free(text);
}
END_TEST

START_TEST(efficiencies)
{
	for (uint64_t i = 0; i < 20; i++)
		if (i % 2)
			both(2, i, 20, 10, 20, 0); /* 10 and 20 of work */
		else
			both(2, i, 10, 5, 10, 5);
	make();
	is(l.steps[0].efficiency.parallel, 0.5);
	is(l.steps[0].efficiency.balance, 1.0);
	is(l.steps[0].efficiency.communication, 0.5);
	is(l.steps[1].efficiency.parallel, 0.75);
	is(l.steps[1].efficiency.balance, 0.75);
	is(l.steps[1].efficiency.communication, 1.0);
	is(l.efficiency.parallel, 200 / 300.0);
	is(l.efficiency.balance, 200 / 250.0);
	is(l.efficiency.communication, 250 / 300.0);
	ck_assert_uint_eq(l.n_kinds, 2);
	is(l.kinds[l.steps[1].kind].efficiency.parallel, 0.75);
}
END_TEST

START_TEST(in_json_and_summary)
{
	char *text;

	for (uint64_t i = 0; i < 20; i++)
		both(2, i, i == 7 ? 30 : 10, 1, i == 7 ? 30 : 10, 1);
	make();
	layout_run();
	text = summary();
	has(text, "Iterations of step < main: 20 on each of 2 ranks, 220 ms, 9 % of it in "
		  "MPI");
	has(text, "Kinds: 19 iterations of 10.0 ms, efficiency 90 %; 1 other");
	has(text, "| Iteration | Longest[ms] | of rank | Usual[ms] |");
	has(text, "|         7 |      30.000 |       0 |    10.000 |");
	free(text);
	p->world_size = 0;
	text = summary();
	has(text, "Iterations of step < main: 20 on each of 2 processes, ");
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {none, numbers, kinds, no_more_kinds_than_there_is_room_for,
		growth, long_ones_now_and_then, a_slow_start, which_loop, others_have_it_too,
		one_that_most_have_chosen_goes_first, nobody_has_chosen_it, ranks_with_other_steps,
		causes, efficiencies, in_json_and_summary};
	Suite *s = suite_create("main-loop");
	TCase *c = tcase_create("main-loop");

	tcase_add_checked_fixture(c, setup, end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
