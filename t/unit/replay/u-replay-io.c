/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of input and output, those that no sane program stores among them. */
#include "t/unit/replay/replay-by-hand.h"

static void io(uint64_t kind, int64_t bytes, uint64_t last)
{
	put(0, RECORD_IO, 0);
	block[used - 3] = kind << RECORD_TIME_SHIFT | RECORD_IO;
	block[used - 2] = (uint64_t)bytes;
	block[used - 1] = last;
}

static void expect_io(const struct node_io *n, uint64_t operations, uint64_t failed, uint64_t bytes,
	uint64_t most)
{
	ck_assert_uint_eq(n->operations, operations);
	ck_assert_uint_eq(n->failed, failed);
	ck_assert_uint_eq(n->bytes, bytes);
	ck_assert_uint_eq(n->most, most);
}

/* They belong to the frame they stand in, take no time of it, and add up with their nodes. */
START_TEST(operations_of_a_frame)
{
	struct calltree *sum = calltree_new();
	const struct node_io *n;

	in(A);
	io(RECORD_IO_READ, 100, RECORD_IO_MARK | 7);
	in(B);
	io(RECORD_IO_WRITE, 30, RECORD_IO_MARK | 5);
	io(RECORD_IO_WRITE, -1, RECORD_IO_MARK | 9);
	io(RECORD_IO_WRITE, 1, 0); /* never completed */
	out(B);
	io(RECORD_IO_READ, 0, RECORD_IO_MARK);
	out(A);
	end();
	expect(AT(A), 1, 3);
	expect_io(&AT(A)->extra->io[RECORD_IO_READ], 2, 0, 100, 7);
	expect_io(&AT(A)->extra->io[RECORD_IO_WRITE], 0, 0, 0, 0);
	expect_io(&AT(A, B)->extra->io[RECORD_IO_WRITE], 2, 1, 30, 9);
	ck_assert_uint_eq(replay_counts(r)->records, 8);
	calltree_add(sum, replay_tree(r));
	calltree_add(sum, replay_tree(r));
	n = calltree_root(sum)->child->extra->io;
	expect_io(&n[RECORD_IO_READ], 4, 0, 200, 7);
	ck_assert_uint_eq(n[RECORD_IO_READ].least, 1); /* 0 is none */
	n = calltree_root(sum)->child->child->extra->io;
	expect_io(&n[RECORD_IO_WRITE], 4, 2, 60, 9);
	ck_assert_uint_eq(n[RECORD_IO_WRITE].least, 5);
	ck_assert_uint_eq(n[RECORD_IO_WRITE].ticks, 28);
	calltree_free(sum);
}
END_TEST

START_TEST(no_frame_open_and_paused)
{
	io(RECORD_IO_READ, 8, RECORD_IO_MARK | 1);
	in(A);
	control(RECORD_PAUSE, 0);
	io(RECORD_IO_READ, 16, RECORD_IO_MARK | 1);
	control(RECORD_RESUME, 1);
	out(A);
	end();
	expect_io(calltree_root(replay_tree(r))->extra->io, 1, 0, 8, 1);
	ck_assert_uint_eq(AT(A)->calls, 1);
}
END_TEST

/* Sizes below 0 are failures; no operation is longer than the thread. */
START_TEST(absurd_sizes_and_times)
{
	const struct node_io *n;

	in(A);
	io(RECORD_IO_READ, INT64_MIN, RECORD_IO_MARK | 1);
	io(RECORD_IO_READ, -2, UINT64_MAX);
	io(RECORD_IO_READ, INT64_MAX, UINT64_MAX);
	out(A);
	end();
	n = AT(A)->extra->io;
	ck_assert_uint_eq(n->operations, 3);
	ck_assert_uint_eq(n->failed, 2);
	ck_assert_uint_eq(n->bytes, INT64_MAX);
	ck_assert_uint_le(n->most, (uint64_t)1 << 36);
	ck_assert_uint_le(n->ticks, (uint64_t)1 << 37);
	expect(AT(A), 1, 1);
}
END_TEST

static const uint64_t unknown[] = {RECORD_IO_KINDS, 1000, ((uint64_t)1 << 31) - 1};

START_TEST(unknown_kinds)
{
	in(A);
	io(unknown[_i], 1, RECORD_IO_MARK | 1);
	ck_assert_str_eq(flush(), "input or output of unknown kind");
}
END_TEST

START_TEST(an_exit_of_none)
{
	in(A);
	io(RECORD_IO_WRITE, 1, RECORD_IO_MARK | 1);
	block[used - 3] |= RECORD_EXIT;
	ck_assert_str_eq(flush(), "input or output of unknown kind");
}
END_TEST

START_TEST(across_the_end)
{
	block[0] = record_sync_word(ticks);
	block[BLOCK_WORDS - 2] = record_io_word(RECORD_IO_READ);
	block[BLOCK_WORDS - 1] = 1;
	used = BLOCK_WORDS;
	ck_assert_str_eq(flush(), "a record crosses the end of its block");
}
END_TEST

START_TEST(at_the_end)
{
	block[0] = record_sync_word(ticks);
	block[BLOCK_WORDS - 3] = record_io_word(RECORD_IO_READ);
	block[BLOCK_WORDS - 2] = 1;
	block[BLOCK_WORDS - 1] = RECORD_IO_MARK | 1;
	used = BLOCK_WORDS;
	ck_assert_ptr_null(flush());
	expect_io(calltree_root(replay_tree(r))->extra->io, 1, 0, 1, 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {operations_of_a_frame, no_frame_open_and_paused,
		absurd_sizes_and_times, an_exit_of_none, across_the_end, at_the_end};
	Suite *s = suite_create("replay-io");
	TCase *c = tcase_create("replay-io");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, unknown_kinds, 0, ARRAY_SIZE(unknown));
	suite_add_tcase(s, c);
	return run_suite(s);
}
