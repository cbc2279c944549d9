/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of a main loop, to the tick, from records made by hand. */
#include "t/unit/replay/replay-by-hand.h"

#include "mpi_id.h"
#include "nodeagent/replay/tree/iterations.h"

#define MPI(name) (RECORD_ID_MPI + VFTR_MPI_##name)
#define SHORTEST  100u

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
	expect_run(all, 0, (struct iteration_run){100, 30, 100, 100, 0, 30});
	expect_run(all, 1, (struct iteration_run){300, 7, 300, 300, 1, 7});
	ck_assert_ptr_null(iterations_run(all, 2));
	expect_run(of(AT(A)), 0, (struct iteration_run){600, 67, 600, 600, 0, 67});
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
	expect_run(of(AT(A, B)), 0, (struct iteration_run){30, 0, 30, 30, 0, 0});
	expect_run(of(AT(A, B)), 1, (struct iteration_run){150, 0, 150, 150, 1, 0});
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
	expect_run(all, 250, (struct iteration_run){4007, 0, 1000, 1007, 1000, 0});
	expect_run(all, last - 1, (struct iteration_run){1000, 0, 1000, 1000, n - 1, 0});
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

START_TEST(calls_that_are_even_or_short_are_not_slow)
{
	n_told = 0;
	replay_watch_slow(r, 100000, false, tell, told);
	loop(1200, 1000, 10);
	ck_assert_uint_eq(n_told, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {each_call_is_told_with_its_time_in_mpi,
		recursion_is_one_and_a_jump_ends_it, many_calls_are_taken_together,
		short_calls_are_forgotten, calls_between_others_are_forgotten,
		a_third_of_the_time_is_kept, deep_and_many_paths_are_not_watched,
		they_move_to_the_tree_of_the_process, slow_calls_of_the_outermost_loop_are_told,
		calls_that_are_even_or_short_are_not_slow};
	Suite *s = suite_create("iterations");
	TCase *c = tcase_create("iterations");

	tcase_add_checked_fixture(c, begin, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
