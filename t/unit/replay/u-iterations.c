/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of a main loop, to the tick, from records made by hand. */
#include "t/unit/replay/replay-by-hand.h"

#include "mpi_id.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/period.h"

#define MPI(name) (RECORD_ID_MPI + VFTR_MPI_##name)
#define SHORTEST  100u
#define RUN(ticks_, mpi_, least_, most_, at_, most_mpi_)                                           \
	(struct iteration_run)                                                                     \
	{                                                                                          \
		.ticks = (ticks_), .mpi_ticks = (mpi_), .least = (least_), .most = (most_),        \
		.most_at = (at_), .most_mpi = (most_mpi_)                                          \
	}

static void begin(void)
{
	setup();
	replay_watch_iterations(r, SHORTEST);
}

static void in_at(uint64_t at, uint32_t id)
{
	ticks = START + at;
	put(0, id, 0);
}

static void out_at(uint64_t at, uint32_t id)
{
	ticks = START + at;
	put(RECORD_EXIT, id, 0);
}

static const struct iterations *of(const struct node *n)
{
	ck_assert_ptr_nonnull(n);
	return n->extra ? n->extra->iterations : NULL;
}

static void expect_run(const struct iterations *all, size_t i, struct iteration_run wanted)
{
	const struct iteration_run *run = iterations_run(all, i);

	ck_assert_ptr_nonnull(run);
	ck_assert_uint_eq(run->ticks, wanted.ticks);
	ck_assert_uint_eq(run->mpi_ticks, wanted.mpi_ticks);
	ck_assert_uint_eq(run->least, wanted.least);
	ck_assert_uint_eq(run->most, wanted.most);
	ck_assert_uint_eq(run->most_at, wanted.most_at);
}

START_TEST(each_call_is_told_with_its_time_in_mpi)
{
	const struct iterations *all;
	unsigned shift;

	in_at(0, A);
	in_at(10, B);
	in_at(20, MPI(ALLREDUCE));
	out_at(50, MPI(ALLREDUCE));
	out_at(110, B);
	in_at(120, MPI(BARRIER)); /* not in B */
	out_at(150, MPI(BARRIER));
	in_at(200, B);
	in_at(210, C);
	in_at(220, MPI(BARRIER)); /* nested deeper */
	out_at(225, MPI(BARRIER));
	out_at(230, C);
	in_at(231, MPI(BARRIER));
	out_at(233, MPI(BARRIER));
	out_at(500, B);
	out_at(600, A);
	end();
	all = of(AT(A, B));
	ck_assert_ptr_nonnull(all);
	ck_assert_uint_eq(iterations_count(all, &shift), 2);
	ck_assert_uint_eq(shift, 0);
	ck_assert_uint_eq(iterations_ticks(all), 400);
	expect_run(all, 0, RUN(100, 30, 100, 100, 0, 30));
	expect_run(all, 1, RUN(300, 7, 300, 300, 1, 7));
	ck_assert_ptr_null(iterations_run(all, 2));
	expect_run(of(AT(A)), 0, RUN(600, 67, 600, 600, 0, 67));
	ck_assert_ptr_null(of(AT(A, MPI(BARRIER))));
}
END_TEST

/* Direct recursion is one call, and a call that a jump has ended counts until then. */
START_TEST(recursion_is_one_and_a_jump_ends_it)
{
	unsigned shift;

	in_at(0, A);
	in_at(10, B);
	in_at(20, B);
	out_at(30, B);
	out_at(40, B);
	in_at(100, B);
	in_at(110, C);
	out_at(250, A);
	end();
	ck_assert_uint_eq(iterations_count(of(AT(A, B)), &shift), 2);
	expect_run(of(AT(A, B)), 0, RUN(30, 0, 30, 30, 0, 0));
	expect_run(of(AT(A, B)), 1, RUN(150, 0, 150, 150, 1, 0));
}
END_TEST

/* calls of B in A, of `took` each, one after the other */
static void loop(unsigned n, unsigned took, unsigned gap)
{
	uint64_t t = 0;

	in_at(0, A);
	for (unsigned i = 0; i < n; i++, t += took + gap) {
		in_at(t + 1, B);
		out_at(t + 1 + took + (i == 1000 ? 7 : 0), B);
	}
	out_at(t + gap + 1, A);
	end();
}

START_TEST(many_calls_are_taken_together)
{
	const struct iterations *all;
	const unsigned n = 3 * ITERATION_RUNS + 5;
	uint64_t ticks_sum = 0, last = 0;
	unsigned shift;

	loop(n, 1000, 10);
	all = of(AT(A, B));
	ck_assert_uint_eq(iterations_count(all, &shift), n);
	ck_assert_uint_eq(shift, 2);
	for (size_t i = 0; iterations_run(all, i); i++, last = i)
		ticks_sum += iterations_run(all, i)->ticks;
	ck_assert_uint_eq(last, (n + 3) / 4);
	ck_assert_uint_eq(ticks_sum, 1000ull * n + 7);
	expect_run(all, 250, RUN(4007, 0, 1000, 1007, 1000, 0));
	expect_run(all, last - 1, RUN(1000, 0, 1000, 1000, n - 1, 0));
}
END_TEST

START_TEST(short_calls_are_forgotten)
{
	loop(1024, SHORTEST - 1, 10);
	ck_assert_ptr_null(of(AT(A, B)));
	ck_assert_ptr_nonnull(of(AT(A)));
}
END_TEST

START_TEST(calls_between_others_are_forgotten)
{
	loop(1024, 1000, 2100);
	ck_assert_ptr_null(of(AT(A, B)));
}
END_TEST

START_TEST(a_third_of_the_time_is_kept)
{
	loop(1024, 1000, 1900);
	ck_assert_ptr_nonnull(of(AT(A, B)));
}
END_TEST

START_TEST(deep_and_many_paths_are_not_watched)
{
	for (unsigned i = 0; i < 10; i++)
		in(F(i));
	for (unsigned i = 10; i-- > 0;)
		out(F(i));
	for (unsigned i = 0; i < 100; i++) {
		in(F(100 + i));
		out(F(100 + i));
	}
	end();
	ck_assert_ptr_nonnull(of(AT(F(0), F(1), F(2), F(3), F(4), F(5))));
	ck_assert_ptr_null(of(AT(F(0), F(1), F(2), F(3), F(4), F(5), F(6))));
	ck_assert_ptr_nonnull(of(AT(F(100 + 62))));
	ck_assert_ptr_null(of(AT(F(100 + 63))));
}
END_TEST

START_TEST(they_move_to_the_tree_of_the_process)
{
	struct calltree *all = calltree_new();
	unsigned shift;

	loop(100, 1000, 10);
	calltree_add(all, replay_tree(r));
	ck_assert_ptr_null(of(AT(A, B)));
	ck_assert_uint_eq(iterations_count(of(calltree_at(all, 2)), &shift), 100);
	calltree_free(all);
}
END_TEST

static struct replay_slow told[8];
static unsigned n_told;

static void tell(void *ctx, const struct node *n, const struct replay_slow *call)
{
	ck_assert_ptr_eq(ctx, told);
	ck_assert_ptr_eq(n, AT(A, B));
	ck_assert_uint_lt(n_told, 8);
	told[n_told++] = *call;
}

/* B in A, with C in it; each 20th is of a kind of its own, and 137 and 180 are slow. The first one
 * of a kind is not known to be one. */
START_TEST(slow_calls_of_the_outermost_loop_are_told)
{
	uint64_t t = 1;

	n_told = 0;
	replay_watch_slow(r, 5000, false, tell, told);
	in_at(0, A);
	for (unsigned i = 0; i < 200; i++) {
		const unsigned took = i == 137	    ? 40000
				      : i == 180    ? 90000
				      : i == 150    ? 4000
				      : i % 20 == 9 ? 12000
						    : 1000 + i % 7 * 10;

		in_at(t, B);
		in_at(t + 1, C);
		out_at(t + took - 1, C);
		out_at(t + took, B);
		t += took + 5;
	}
	out_at(t, A);
	end();
	ck_assert_uint_eq(n_told, 3);
	ck_assert_uint_eq(told[0].number, 29);
	ck_assert_uint_eq(told[1].number, 137);
	ck_assert_uint_eq(told[1].ticks, 40000);
	ck_assert_uint_eq(told[1].usual, 1030);
	ck_assert_uint_eq(told[2].number, 180);
}
END_TEST

static void pause_at(uint64_t t, uint32_t what)
{
	ticks = START + t - 1;		      /* control() takes one */
	control(what, what == RECORD_RESUME); /* 1 + calls that are open unrecorded */
}

/* Calls 100 and 150 are long, as recording has paused in them; 150 is slow without that, too. */
START_TEST(a_pause_makes_no_call_slow)
{
	uint64_t t = 1;

	n_told = 0;
	replay_watch_slow(r, 5000, false, tell, told);
	in_at(0, A);
	for (unsigned i = 0; i < 200; i++) {
		const unsigned paused = i == 100 || i == 150 ? 50000 : 0,
			       took = paused + (i == 150 ? 40000 : 1000 + i % 7 * 10);

		in_at(t, B);
		if (paused)
			pause_at(t + 100, RECORD_PAUSE);
		if (paused)
			pause_at(t + 100 + paused, RECORD_RESUME);
		out_at(t + took, B);
		t += took + 5;
	}
	out_at(t, A);
	end();
	ck_assert_uint_eq(n_told, 1);
	ck_assert_uint_eq(told[0].number, 150);
	ck_assert_uint_eq(told[0].ticks, 90000);
}
END_TEST

START_TEST(calls_that_are_even_or_short_are_not_slow)
{
	n_told = 0;
	replay_watch_slow(r, 100000, false, tell, told);
	loop(1200, 1000, 10);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

/* What is known later belongs to the call in which it was, and goes where that has gone. */
START_TEST(waits_are_those_of_the_call_in_which_they_were)
{
	struct node *mpi;

	in_at(0, A);
	for (unsigned i = 0; i < 3; i++) {
		in_at(100 + 1000 * i, B);
		in_at(200 + 1000 * i, MPI(ALLREDUCE));
		out_at(700 + 1000 * i, MPI(ALLREDUCE));
		out_at(800 + 1000 * i, B);
	}
	in_at(3100, B);
	ck_assert_ptr_null(flush());
	mpi = AT(A, B, MPI(ALLREDUCE));
	calltree_wait_at(mpi, START + 1200, 40, 1);
	calltree_wait_at(mpi, START + 200, 30, 1);
	calltree_wait_at(mpi, START + 200, -(uint64_t)10, 1);
	calltree_wait_at(mpi, START + 3200, 50, 1); /* in the one that is open */
	out_at(3900, B);
	out_at(4000, A);
	end();
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 0)->wait_ticks, 20);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 1)->wait_ticks, 40);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 2)->wait_ticks, 0);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 3)->wait_ticks, 50);
	ck_assert_uint_eq(iterations_run(of(AT(A)), 0)->wait_ticks, 110);
}
END_TEST

/* Time without a CPU, and waiting for one, is shared out by when it was; what of it was in MPI is
 * not told. */
START_TEST(time_without_a_cpu_is_of_the_call_in_which_it_was)
{
	const struct off_time some = {1000, 400};

	replay_note_off_cpu(r, START, (struct off_time){0, 0});
	replay_note_off_cpu(r, START + 2000, (struct off_time){0, 0});
	replay_note_off_cpu(r, START + 4000, some);
	replay_note_off_cpu(r, START + 6000, some);
	in_at(0, A);
	in_at(1000, B);
	out_at(3000, B);
	in_at(3000, B);
	in_at(3000, MPI(BARRIER));
	out_at(3400, MPI(BARRIER));
	out_at(5000, B);
	out_at(5500, A);
	end();
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 0)->off.ns, 500);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 0)->off.queued_ns, 200);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 1)->off.ns, 300);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 1)->off.queued_ns, 120);
	ck_assert_uint_eq(iterations_run(of(AT(A)), 0)->off.ns, 800);
	ck_assert_uint_eq(iterations_run(of(AT(A)), 0)->off.queued_ns, 320);
}
END_TEST

START_TEST(the_callee_that_took_longer_than_before_is_known)
{
	uint64_t t = 0;

	in_at(0, A);
	for (unsigned i = 0; i < 20; i++) {
		const unsigned c = i == 15 ? 700 : 200, d = i == 17 ? 900 : 200,
			       own = i == 19 ? 800 : 200;

		in_at(t, B);
		in_at(t, C);
		out_at(t + c, C);
		in_at(t + c, F(1));
		out_at(t + c + d, F(1));
		out_at(t + c + d + own, B);
		t += c + d + own;
	}
	out_at(t, A);
	end();
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 14)->most_key, 0);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 15)->most_key, C);
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 17)->most_key, F(1));
	ck_assert_uint_eq(iterations_run(of(AT(A, B)), 19)->most_key, 0);
}
END_TEST

/* A loop in A: MPI first, work twice, MPI last, if they are wanted; iteration i lasts 1000 + i. */
static struct period_loop flat_loop(unsigned n, bool first, bool last, bool collective)
{
	struct period_loop found = {.iterations = NULL}, l;
	uint64_t t = 100;

	in_at(0, A);
	in_at(10, MPI(BCAST)); /* once, before */
	out_at(50, MPI(BCAST));
	for (unsigned i = 0; i < n; i++) {
		const uint64_t begin = t;

		if (first) {
			in_at(t, MPI(ISEND));
			out_at(t + 10, MPI(ISEND));
			in_at(t + 10, MPI(WAITALL));
			out_at(t + 100, MPI(WAITALL));
			t += 100;
		}
		for (unsigned k = 0; k < 2; k++) {
			in_at(t, B);
			out_at(t + 300, B);
			t += 300;
		}
		t = begin + 900 + i;
		in_at(t, last ? MPI(ALLREDUCE) : C);
		out_at(t + 100, last ? MPI(ALLREDUCE) : C);
		t += 100;
	}
	in_at(t + 5000, MPI(REDUCE)); /* once, after */
	out_at(t + 6000, MPI(REDUCE));
	out_at(t + 7000, A);
	end();
	period_end(AT(A)->extra->period);
	for (size_t i = 0; period_loop(AT(A)->extra->period, i, &l); i++)
		if (l.collective == collective && iterations_runs(l.iterations) > 1 &&
			!found.iterations)
			found = l;
	return found;
}

static void expect_flat(const struct iterations *all, unsigned n)
{
	unsigned shift;

	ck_assert_ptr_nonnull(all);
	ck_assert_uint_eq(iterations_count(all, &shift), n);
	for (unsigned i = 0; i < n; i++) {
		ck_assert_uint_eq(iterations_run(all, i)->ticks, 1000 + i);
		ck_assert_uint_eq(iterations_run(all, i)->most_at, i);
	}
}

START_TEST(a_loop_without_a_function_ends_with_its_last_call_of_mpi)
{
	const struct period_loop l = flat_loop(100, true, true, true);

	ck_assert_uint_eq(l.key, MPI(ALLREDUCE));
	ck_assert(!l.is_first);
	expect_flat(l.iterations, 100);
	for (unsigned i = 0; i < 100; i++)
		ck_assert_uint_eq(iterations_run(l.iterations, i)->mpi_ticks, 200);
}
END_TEST

START_TEST(it_begins_with_the_work_before_that)
{
	expect_flat(flat_loop(100, false, true, true).iterations, 100);
}
END_TEST

START_TEST(it_begins_with_its_first_call_of_mpi)
{
	const struct period_loop l = flat_loop(100, true, true, false);
	unsigned shift;

	/* from the end of one to the end of the next */
	ck_assert_uint_eq(l.key, MPI(ISEND));
	ck_assert(l.is_first);
	ck_assert_uint_eq(iterations_count(l.iterations, &shift), 100);
	for (unsigned i = 0; i < 99; i++)
		ck_assert_uint_eq(iterations_run(l.iterations, i)->ticks, 1000 + i);
	ck_assert_uint_eq(iterations_run(l.iterations, 99)->ticks, 1000 + 99 - 10);
}
END_TEST

START_TEST(calls_that_follow_each_other_closely_are_no_iterations)
{
	struct period_loop l;

	in_at(0, A);
	for (unsigned i = 0; i < 1000; i++) {
		in_at(90 * i, MPI(BARRIER));
		out_at(90 * i + 50, MPI(BARRIER));
	}
	out_at(100000, A);
	end();
	ck_assert(!period_loop(AT(A)->extra->period, 0, &l));
}
END_TEST

/* A timer reads it in each iteration, before all else. */
START_TEST(the_clock_of_mpi_begins_no_iteration)
{
	struct period_loop l;

	in_at(0, A);
	for (unsigned i = 0; i < 100; i++) {
		in_at(1000 * i, MPI(WTIME));
		out_at(1000 * i + 10, MPI(WTIME));
		in_at(1000 * i + 10, B);
		out_at(1000 * i + 500, B);
		in_at(1000 * i + 500, B);
		out_at(1000 * i + 900, B);
		in_at(1000 * i + 900, MPI(SEND));
		out_at(1000 * i + 990, MPI(SEND));
	}
	out_at(100000, A);
	end();
	ck_assert(period_loop(AT(A)->extra->period, 0, &l));
	ck_assert_uint_eq(l.key, MPI(SEND));
	ck_assert(!period_loop(AT(A)->extra->period, 1, &l));
}
END_TEST

static struct replay_slow between[8];
static unsigned n_between;

static void tell_between(void *ctx, const struct node *n, const struct replay_slow *call)
{
	ck_assert_ptr_eq(ctx, between);
	ck_assert_uint_lt(n_between, 8);
	ck_assert(call->between);
	ck_assert_ptr_eq(n, AT(A, MPI(ALLREDUCE)));
	between[n_between++] = *call;
}

/* Work twice and MPI_Allreduce; iterations 137 and 180 are slow, as their work is. `function`: that
 * has the work, and is the loop then; `wide`: other calls of MPI before it. */
static void slow_loop(uint32_t function, bool wide)
{
	uint64_t t = 100;

	n_between = 0;
	in_at(0, A);
	for (unsigned i = 0; i < 200; i++) {
		const unsigned took = i == 137 ? 40000 : i == 180 ? 90000 : 1000 + i % 7 * 10;

		if (function)
			in_at(t, function);
		for (unsigned k = 0; k < 2; k++) {
			in_at(t, B);
			out_at(t + took / 2, B);
			t += took / 2;
		}
		if (function)
			out_at(t, function);
		if (wide) {
			in_at(t, MPI(ISEND));
			out_at(t + 10, MPI(ISEND));
		}
		in_at(t + 10, MPI(ALLREDUCE));
		out_at(t + 100, MPI(ALLREDUCE));
		t += 100;
	}
	out_at(t, A);
	end();
}

START_TEST(slow_iterations_between_calls_of_mpi_are_told)
{
	replay_watch_slow(r, 5000, false, tell_between, between);
	slow_loop(0, _i);
	ck_assert_uint_eq(n_between, 2);
	ck_assert_uint_eq(between[0].number, 137);
	ck_assert_uint_eq(between[0].ticks, 40100);
	ck_assert_uint_eq(between[1].number, 180);
}
END_TEST

static void tell_function(void *ctx, const struct node *n, const struct replay_slow *call)
{
	ck_assert(!call->between);
	ck_assert_ptr_eq(n, AT(A, C));
	n_told++;
}

START_TEST(a_function_that_each_iteration_calls_once_is_told_instead)
{
	n_told = 0;
	replay_watch_slow(r, 5000, false, tell_function, NULL);
	slow_loop(C, false);
	ck_assert_uint_eq(n_told, 2);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {each_call_is_told_with_its_time_in_mpi,
		recursion_is_one_and_a_jump_ends_it, many_calls_are_taken_together,
		short_calls_are_forgotten, calls_between_others_are_forgotten,
		a_third_of_the_time_is_kept, deep_and_many_paths_are_not_watched,
		they_move_to_the_tree_of_the_process, slow_calls_of_the_outermost_loop_are_told,
		a_pause_makes_no_call_slow, calls_that_are_even_or_short_are_not_slow,
		waits_are_those_of_the_call_in_which_they_were,
		time_without_a_cpu_is_of_the_call_in_which_it_was,
		the_callee_that_took_longer_than_before_is_known,
		a_loop_without_a_function_ends_with_its_last_call_of_mpi,
		it_begins_with_the_work_before_that, it_begins_with_its_first_call_of_mpi,
		calls_that_follow_each_other_closely_are_no_iterations,
		the_clock_of_mpi_begins_no_iteration,
		a_function_that_each_iteration_calls_once_is_told_instead};
	Suite *s = suite_create("iterations");
	TCase *c = tcase_create("iterations");

	tcase_add_checked_fixture(c, begin, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, slow_iterations_between_calls_of_mpi_are_told, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
