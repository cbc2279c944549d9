/* SPDX-License-Identifier: BSD-3-Clause */
/* COUNTED records: whose calls they are, what nonsense does, and the estimate of their time. */
#include "nodeagent/replay/shadow.h"
#include "nodeagent/replay/tree/estimate.h"
#include "shm/switches.h"
#include "t/unit/replay/replay-by-hand.h"

static void counted(uint32_t number, uint32_t id, uint64_t calls)
{
	put(0, RECORD_COUNTED, 0);
	block[used - 2] = counted_head(id);
	block[used - 1] = counted_calls(number, calls);
}

static void expect_counted(const struct node *n, uint64_t calls, uint64_t of_them)
{
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->calls, calls);
	ck_assert_uint_eq(n->extra ? n->extra->counted : 0, of_them);
}

/* A record says how many there are at all; bit 32 of its word is of the address. */
START_TEST(growth_belongs_to_the_open_frame)
{
	in(A);
	counted(0, B, 5);
	counted(55, C | 1, 2);
	in(C);
	counted(0, B, 12);
	out(C);
	counted(0, B, 12);
	in(B);
	counted(0, B, 13); /* it calls itself */
	out(B);
	out(A);
	end();
	expect_counted(AT(A, B), 7, 6);
	expect_counted(AT(A, C | 1), 2, 2);
	expect_counted(AT(A, C, B), 7, 7);
	ck_assert_uint_eq(replay_counts(r)->calls, 3 + 13 + 2);
}
END_TEST

/* The thread was killed before it stored all, or any, of a record. */
START_TEST(the_rest_is_of_the_page)
{
	struct switches_shm ids = {.id = {B, C, 0}};
	struct switched_shm page = {.calls = {9, 4, 3, 2, 1},
		.id = {[3] = A, [4] = 1024}}; /* a child of fork() knows the one, and lies */

	in(A);
	counted(0, B, 5);
	in(C);
	counted(0, B, 0);
	block[used - 1] = 0;
	ck_assert_ptr_null(flush());
	replay_counted_rest(r, &page, &ids, 1 | 4 | 8 | 16, NOW); /* the second is only off */
	end();
	expect_counted(AT(A, B), 5, 5);
	expect_counted(AT(A, C, B), 4, 4);
	expect_counted(AT(A, C, A), 2, 2);
	ck_assert_ptr_null(AT(A, C, C));
	ck_assert_ptr_null(AT(A, C, 1024));
}
END_TEST

/* The record comes with the thread's next event, which may be later than that. */
START_TEST(it_is_of_the_function_that_was_unloaded)
{
	const struct replay_epoch later = {.low = B, .bytes = 16, .epoch = 1};

	in(A);
	counted(0, B, 5);
	in(B);
	ck_assert_ptr_null(replay_block(r, block, 0, BLOCK_WORDS, &later, NOW));
	expect_counted(AT(A, B), 5, 5);
	expect_counted(AT(A, (uint64_t)1 << KEY_EPOCH_SHIFT | B), 1, 0);
}
END_TEST

/* A live view sees of the counts what is more than the thread had told before. */
START_TEST(a_shadow_goes_on_counting)
{
	struct replay *s, *main = r;

	in(A);
	counted(0, B, 50);
	ck_assert_ptr_null(flush());
	s = replay_shadow(r);
	ck_assert_ptr_nonnull(s);
	counted(0, B, 53);
	ck_assert_ptr_null(replay_block(s, block, 0, BLOCK_WORDS, &no_epoch, NOW));
	r = s;
	expect_counted(AT(A, B), 3, 3);
	r = main;
	replay_free(s);
	ck_assert_ptr_null(flush());
	expect_counted(AT(A, B), 53, 53);
}
END_TEST

START_TEST(absurd_counts)
{
	static const struct {
		uint64_t head, calls;
		const char *why;
	} bad[] = {
		{(uint64_t)B << 32 | RECORD_COUNTED, COUNTED_MARK | (uint64_t)56 << 56 | 1,
			"a count of calls that makes no sense"},
		{(uint64_t)1024 << 32 | RECORD_COUNTED, COUNTED_MARK | 1,
			"a count of calls that makes no sense"},
		{(uint64_t)B << 32 | RECORD_COUNTED, 1, "a count of calls that makes no sense"},
		{(uint64_t)B << 32 | RECORD_COUNTED, COUNTED_MARK | COUNTED_CALLS,
			"more calls counted than there was time for"},
	};

	in(A);
	put(0, RECORD_COUNTED, 0);
	block[used - 2] = bad[_i].head;
	block[used - 1] = bad[_i].calls;
	ck_assert_str_eq(flush(), bad[_i].why);
}
END_TEST

/* 4 ticks a timed call, of which one is the hook's; never more than the caller has. */
START_TEST(the_time_is_estimated)
{
	for (int i = 0; i < 2; i++) {
		in(A);
		in(B);
		ticks += 3;
		out(B);
		counted(0, B, 10 * (i + 1));
		ticks += 100;
		out(A);
	}
	in(C);
	counted(0, B, 1000020);
	counted(1, A, 1);
	ticks += 10;
	out(C);
	end();
	calltree_estimate(replay_tree(r), 1);
	calltree_estimate(replay_tree(r), 1); /* for the node, and for the log of a rank */
	expect(AT(A, B), 22, 2 * 4 + 20 * 3);
	expect(AT(A), 2, 2 * (1 + 4 + 101));
	ck_assert_uint_le(AT(C, B)->ticks + AT(C, A)->ticks, AT(C)->ticks);
	ck_assert_uint_ge(AT(C, B)->ticks, 9);
}
END_TEST

/* So many calls of B from A that are timed, of so many ticks each, one of them the hook's. */
static void timed(int calls, unsigned each)
{
	for (int i = 0; i < calls; i++) {
		in(B);
		ticks += each - 1;
		out(B);
	}
}

static void price(bool in_window)
{
	flush();
	calltree_price((struct node *)AT(A, B), in_window);
}

/* Those between two windows have the mean of equal times of short and of long calls. */
START_TEST(the_estimate_follows_what_changes)
{
	in(A);
	timed(100, 4);
	counted(0, B, 1);
	price(false);
	counted(0, B, 1001);
	ticks += 100000;
	timed(1, 5000); /* at the edge of a window */
	price(false);
	timed(100, 12);
	price(true);
	counted(0, B, 1011);
	ticks += 100000;
	out(A);
	end();
	calltree_estimate(replay_tree(r), 1);
	/* one of 4; 1000 of 2 * 4 * 12 / 16; 10 of 12, each with one tick of a hook */
	expect(AT(A, B), 1212,
		100 * 4 + 5000 + 100 * 12 + (4 - 1) + 1000 * (6 - 1) + 10 * (12 - 1));
}
END_TEST

START_TEST(what_was_never_timed_has_no_time)
{
	in(A);
	counted(0, B, 10);
	ticks += 100;
	out(A);
	end();
	calltree_estimate(replay_tree(r), 1);
	expect(AT(A, B), 10, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {growth_belongs_to_the_open_frame, the_rest_is_of_the_page,
		it_is_of_the_function_that_was_unloaded, a_shadow_goes_on_counting,
		the_time_is_estimated, the_estimate_follows_what_changes,
		what_was_never_timed_has_no_time};
	Suite *s = suite_create("counted");
	TCase *c = tcase_create("counted");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, absurd_counts, 0, 4);
	suite_add_tcase(s, c);
	return run_suite(s);
}
