/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the time that a thread waited for room in its ring. */
#include "t/unit/replay/replay-by-hand.h"

/* The last record's time is when the wait began. */
static void blocked(uint64_t waited)
{
	ticks += waited;
	put(0, RECORD_BLOCKED, 0);
	block[used - 3] = RECORD_BLOCKED;
	block[used - 2] = waited;
	block[used - 1] = RECORD_BLOCKED_MARK | ticks;
}

/* It is taken off the frame on top and all around it, and off nothing else. */
START_TEST(a_wait_for_room)
{
	in(A);
	in(B);
	blocked(100);
	out(B);
	in(B);
	out(B);
	blocked(1000);
	in(C);
	out(C);
	out(A);
	blocked(10);
	end();
	expect(AT(A), 1, 7);
	expect(AT(A, B), 2, 2);
	expect(AT(A, C), 1, 1);
	ck_assert_uint_eq(replay_blocked_ticks(r), 1110);
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, ticks - START - 1110);
}
END_TEST

START_TEST(a_wait_in_the_deep)
{
	const unsigned depth = DEPTH_MAX + 50;

	for (unsigned i = 0; i < depth; i++)
		in(F(i));
	blocked(1000);
	for (unsigned i = depth; i-- > 0;)
		out(F(i));
	end();
	expect(AT(F(0)), 1, 2 * depth - 1);
}
END_TEST

START_TEST(a_wait_while_paused)
{
	in(A);
	control(RECORD_PAUSE, 0);
	blocked(70);
	ticks += 100;
	control(RECORD_RESUME, 1 + 1);
	blocked(7);
	out(B);
	out(A);
	end();
	expect(AT(A), 1, 104);
	expect(AT(A, KEY_PAUSE), 1, 101);
}
END_TEST

/* Nobody can have waited for longer than there was time, nor twice at once. */
START_TEST(absurd_waits)
{
	in(A);
	blocked(5);
	block[used - 2] = UINT64_MAX;
	blocked(0);
	block[used - 2] = 5;
	out(A);
	ticks -= 2;
	in(B);
	blocked(0);
	block[used - 2] = 1 << 20;
	block[used - 1] = UINT64_MAX;
	out(B);
	ck_assert_ptr_null(flush());
	replay_end(r, ticks);
	expect(AT(A), 1, 1);
	expect(AT(B), 1, 0);
}
END_TEST

START_TEST(a_wait_that_was_not_stored)
{
	in(A);
	blocked(0);
	block[used - 2] = 1;
	block[used - 1] = 0;
	out(A);
	end();
	expect(AT(A), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->records, 2);
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		block[i] = i ? RECORD_BLOCKED : record_sync_word(ticks);
	block[BLOCK_WORDS - 1] = RECORD_BLOCKED;
	used = 1;
	for (unsigned i = 1; i + 1 < BLOCK_WORDS; i++)
		block[i] = 0;
	ck_assert_str_eq(flush(), "a record crosses the end of its block");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_wait_for_room, a_wait_in_the_deep, a_wait_while_paused,
		absurd_waits, a_wait_that_was_not_stored};
	Suite *s = suite_create("replay-blocked");
	TCase *c = tcase_create("replay-blocked");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
