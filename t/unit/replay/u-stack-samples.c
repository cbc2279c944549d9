/* SPDX-License-Identifier: BSD-3-Clause */
/* Stack samples: below which frame their paths hang, and what time they get. */
#include "nodeagent/replay/stack-samples.h"
#include "t/unit/replay/replay-by-hand.h"

#define WIDE(n)	 (KEY_WIDE | 0x5500000000u | (n))
#define P	 WIDE(0x40000)
#define Q	 WIDE(0x50000)
#define IN_A	 WIDE(A)
#define BARRIER	 (RECORD_ID_MPI + 3)
#define A_REGION (RECORD_ID_REGION + 7)

static struct calltree *paths;

static void setup_paths(void)
{
	setup();
	paths = calltree_new();
}

static void teardown_paths(void)
{
	teardown();
	calltree_free(paths);
}

/* A sample of `weight' ticks, now: outermost function first; below: those that OpenMP's runtime has
 * called. */
static void sampled(uint64_t weight, uint64_t below, size_t n, const uint64_t *keys)
{
	struct node *path = calltree_root(paths);
	struct stack_sample s = {.ticks = ticks, .weight = weight};

	for (size_t i = 0; i < n; i++)
		path = calltree_child(paths, path, NULL, keys[i]);
	path->calls = below;
	s.path = path;
	replay_add_stack_sample(r, &s);
}

#define SAMPLED(weight, ...)                                                                       \
	sampled(weight, UINT64_MAX, ARRAY_SIZE(((uint64_t[]){__VA_ARGS__})),                       \
		(uint64_t[]){__VA_ARGS__})

static void expect_sampled(const struct node *n, uint64_t all, uint64_t own, uint64_t time)
{
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->calls, 0);
	ck_assert_uint_eq(n->extra->stacks.all, all);
	ck_assert_uint_eq(n->extra->stacks.own, own);
	ck_assert_uint_eq(n->ticks, time);
}

/* Until the records up to then are there, they wait; then drain.c asks for each in turn. */
static void end_after_placing(void)
{
	unsigned from = 0;
	uint64_t next;

	while ((next = replay_next_stack_sample(r)) != UINT64_MAX) {
		const unsigned to = replay_split(r, block, from, next);

		ck_assert_ptr_null(replay_block(r, block, from, to, &no_epoch, NOW));
		replay_place_stack_samples(r, next);
		from = to;
	}
	ck_assert_ptr_null(replay_block(r, block, from, BLOCK_WORDS, &no_epoch, NOW));
	used = 0;
	end();
}

START_TEST(paths_hang_below_the_root)
{
	in(BARRIER);
	out(BARRIER);
	ticks += 100;
	SAMPLED(10, P, Q);
	SAMPLED(10, P, Q);
	SAMPLED(10, P);
	ticks += 100;
	in(BARRIER);
	out(BARRIER);
	end_after_placing();
	expect_sampled(AT(P), 3, 1, 30);
	expect_sampled(AT(P, Q), 2, 2, 20);
	ck_assert_uint_eq(AT(BARRIER)->calls, 2);
	ck_assert_uint_eq(replay_counts(r)->calls, 2);
}
END_TEST

/* What is known exactly gets nothing, and gives nothing. */
START_TEST(in_mpi_there_is_none)
{
	in(BARRIER);
	ticks += 100;
	SAMPLED(10, P, Q);
	ticks += 100;
	out(BARRIER);
	ticks += 100;
	SAMPLED(10, P);
	ticks++;
	in(BARRIER);
	out(BARRIER);
	end_after_placing();
	expect_sampled(AT(P), 1, 1, 10);
	ck_assert_ptr_null(AT(P, Q));
	ck_assert_ptr_null(AT(BARRIER, P));
	ck_assert_uint_eq(AT(BARRIER)->ticks, 201 + 1);
}
END_TEST

START_TEST(below_a_function_are_those_that_it_calls)
{
	in(A);
	ticks += 100;
	SAMPLED(10, P, IN_A, Q);
	SAMPLED(10, P, IN_A); /* itself: its own time is known */
	SAMPLED(10, P, Q);    /* it is about to be left */
	in(A_REGION);
	SAMPLED(10, P, IN_A, Q);
	ticks += 50;
	out(A_REGION);
	out(A);
	end_after_placing();
	expect_sampled(AT(A, Q), 1, 1, 10);
	expect_sampled(AT(A, A_REGION, Q), 1, 1, 10);
	ck_assert_ptr_null(AT(A, P));
	ck_assert_ptr_null(AT(P));
	ck_assert_uint_eq(AT(A)->ticks, 153);
}
END_TEST

/* A library between them calls it, and it is in its hook. */
START_TEST(what_is_exact_is_not_there_twice)
{
	in(A);
	in(B);
	out(B);
	ticks += 100;
	SAMPLED(10, P, IN_A, Q, WIDE(B));
	out(A);
	end_after_placing();
	expect_sampled(AT(A, Q), 1, 1, 10);
	ck_assert_ptr_null(AT(A, Q, WIDE(B)));
}
END_TEST

START_TEST(a_region_has_the_whole_path)
{
	in(A_REGION);
	ticks += 100;
	SAMPLED(10, P, Q);
	out(A_REGION);
	end_after_placing();
	expect_sampled(AT(A_REGION, P, Q), 1, 1, 10);
}
END_TEST

/* A period is longer than the frame that it ended in. */
START_TEST(there_is_no_more_time_than_the_frame_has)
{
	in(A_REGION);
	ticks += 30;
	SAMPLED(100, P);
	SAMPLED(100, P, Q);
	SAMPLED(100, P, Q);
	in(BARRIER);
	ticks += 8;
	out(BARRIER);
	out(A_REGION);
	end_after_placing();
	ck_assert_uint_eq(AT(A_REGION)->ticks, 41);
	expect_sampled(AT(A_REGION, P), 3, 1, 10 + 21);
	expect_sampled(AT(A_REGION, P, Q), 2, 2, 21);
}
END_TEST

/* A thread that records nothing: its samples do not wait for ever. */
START_TEST(few_wait)
{
	for (unsigned i = 0; i < 3 * STACK_SAMPLES_WAITING; i++) {
		ticks += 10;
		SAMPLED(10, P);
	}
	ck_assert_uint_gt(replay_next_stack_sample(r), START + 10 * STACK_SAMPLES_WAITING);
	end();
	expect_sampled(AT(P), 3 * STACK_SAMPLES_WAITING, 3 * STACK_SAMPLES_WAITING,
		30 * STACK_SAMPLES_WAITING);
}
END_TEST

START_TEST(trees_are_added)
{
	struct calltree *sum = calltree_new();

	ticks += 100;
	SAMPLED(10, P, Q);
	end();
	calltree_add(sum, replay_tree(r));
	ck_assert_uint_eq(calltree_find_child(calltree_root(sum), P)->extra->stacks.all, 1);
	calltree_free(sum);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {paths_hang_below_the_root, in_mpi_there_is_none,
		below_a_function_are_those_that_it_calls, what_is_exact_is_not_there_twice,
		a_region_has_the_whole_path, there_is_no_more_time_than_the_frame_has, few_wait,
		trees_are_added};
	Suite *s = suite_create("stack-samples");
	TCase *c = tcase_create("stack-samples");

	tcase_add_checked_fixture(c, setup_paths, teardown_paths);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
