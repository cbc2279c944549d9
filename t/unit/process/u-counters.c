/* SPDX-License-Identifier: BSD-3-Clause */
/* COUNTERS records: whose they are, and what is refused. */
#include <check.h>
#include <string.h>

#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/base/util.h"
#include "shm/record.h"
#include "t/lib/suite.h"

#define F 0x10000
#define G 0x20000

static uint64_t block[BLOCK_WORDS];
static unsigned n;
static struct replay *r;
static const struct replay_epoch epoch;

static void put(uint64_t word)
{
	block[n++] = word;
}

static void counters2(uint64_t a, uint64_t b)
{
	put(record_counters_word(2));
	put(a);
	put(b | COUNTER_MARK);
}

static void enter(uint32_t id)
{
	put(record_word(n, 0, id));
}

static void leave(uint32_t id)
{
	put(record_word(n, RECORD_EXIT, id));
}

static void begin(void)
{
	memset(block, 0, sizeof(block));
	n = 0;
	put(record_sync_word(0));
	r = replay_new(0, NULL, NULL);
	replay_set_counters(r, 2);
}

static const char *play(void)
{
	return replay_block(r, block, 0, BLOCK_WORDS, &epoch, 1000);
}

static uint64_t count(uint64_t key, unsigned i)
{
	struct calltree *t = replay_tree(r);
	uint64_t sum = 0;

	for (size_t k = 0; k < calltree_nodes(t); k++) {
		const struct node *at = calltree_at(t, k);

		if (at->key == key && at->extra && at->extra->counters)
			sum += at->extra->counters->of[i];
	}
	return sum;
}

START_TEST(test_frames)
{
	begin();
	counters2(5, 50);
	enter(F);
	counters2(7, 57);
	enter(G);
	counters2(17, 58);
	enter(G); /* direct recursion is one frame */
	counters2(20, 60);
	leave(G);
	counters2(21, 61);
	leave(G);
	counters2(100, 62);
	leave(F);
	ck_assert_ptr_null(play());
	ck_assert_uint_eq(count(KEY_INIT, 0), 5);
	ck_assert_uint_eq(count(F, 0), 2 + 79);
	ck_assert_uint_eq(count(G, 0), 14);
	ck_assert_uint_eq(count(KEY_INIT, 1), 50);
	ck_assert_uint_eq(count(F, 1), 7 + 1);
	ck_assert_uint_eq(count(G, 1), 4);
	replay_free(r);
}
END_TEST

START_TEST(test_parts_and_sums)
{
	struct calltree *sum = calltree_new();

	begin();
	counters2(1, 2);
	enter(F);
	counters2(11, 22);
	leave(F);
	/* split between a record and its event, as a new epoch of the code map does */
	ck_assert_ptr_null(replay_block(r, block, 0, 8, &epoch, 1000));
	ck_assert_ptr_null(replay_block(r, block, 8, BLOCK_WORDS, &epoch, 1000));
	calltree_add(sum, replay_tree(r));
	calltree_add(sum, replay_tree(r));
	ck_assert_uint_eq(calltree_nodes(sum), 2);
	ck_assert_uint_eq(calltree_at(sum, 1)->extra->counters->of[0], 20);
	ck_assert_uint_eq(calltree_at(sum, 1)->extra->counters->of[1], 40);
	calltree_free(sum);
	replay_free(r);
}
END_TEST

START_TEST(test_backwards)
{
	begin();
	counters2(100, 100);
	enter(F);
	counters2(50, 120);
	leave(F);
	counters2(60, 0); /* the last word is the mark alone */
	enter(F);
	ck_assert_ptr_null(play());
	ck_assert_uint_eq(count(F, 0), 0);
	ck_assert_uint_eq(count(F, 1), 20);
	ck_assert_uint_eq(count(KEY_INIT, 0), 110);
	ck_assert_uint_eq(count(KEY_INIT, 1), 100);
	replay_free(r);
}
END_TEST

START_TEST(test_never_completed)
{
	begin();
	counters2(100, 100);
	enter(F);
	put(record_counters_word(2));
	put(1000);
	ck_assert_ptr_null(play());
	ck_assert_uint_eq(count(F, 0), 0);
	replay_free(r);
}
END_TEST

START_TEST(test_refused)
{
	static const uint64_t words[] = {1, 3, 0, 511, 100000, 0x7fffffff};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		begin();
		put(record_counters_word((uint32_t)words[i]));
		put(1);
		put(2 | COUNTER_MARK);
		ck_assert_ptr_nonnull(play());
		replay_free(r);
	}
	begin();
	put(record_counters_word(2) | RECORD_EXIT);
	put(1);
	put(2 | COUNTER_MARK);
	ck_assert_ptr_nonnull(play());
	replay_free(r);
	begin();
	replay_set_counters(r, 0);
	counters2(1, 2);
	ck_assert_ptr_nonnull(play());
	replay_free(r);
	begin();
	n = BLOCK_WORDS - 2;
	put(record_counters_word(2));
	put(1);
	ck_assert_ptr_nonnull(play());
	replay_free(r);
}
END_TEST

START_TEST(test_split_takes_no_value_for_a_time)
{
	begin();
	enter(F);
	counters2(UINT64_MAX >> 1, UINT64_MAX);
	leave(F);
	ck_assert_uint_eq(replay_split(r, block, 0, 900), BLOCK_WORDS);
	ck_assert_uint_eq(replay_split(r, block, 0, 3), 5);
	replay_free(r);
}
END_TEST

/* Nor what else stands in the place of the time. */
START_TEST(test_split_takes_no_number_for_a_time)
{
	static const uint32_t ids[] = {RECORD_SEND, RECORD_DONE, RECORD_COMPLETE,
		RECORD_COMPLETE_RANGE, RECORD_LENGTHS, RECORD_EARLIER, RECORD_USER_COUNTER,
		RECORD_GPU_CALL, RECORD_OPENACC, RECORD_BLOCKED, RECORD_FILE_CALL, RECORD_MEMORY};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		begin();
		enter(F);
		put((uint64_t)0x7fffffff << RECORD_TIME_SHIFT | ids[i]);
		for (unsigned words = record_words(ids[i]); words > 1; words--)
			put(UINT64_MAX);
		leave(F);
		ck_assert_uint_eq(replay_split(r, block, 0, 900), BLOCK_WORDS);
		ck_assert_uint_eq(replay_split(r, block, 0, 2), n - 1);
		replay_free(r);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("counters");
	TCase *c = tcase_create("counters");

	tcase_add_test(c, test_frames);
	tcase_add_test(c, test_parts_and_sums);
	tcase_add_test(c, test_backwards);
	tcase_add_test(c, test_never_completed);
	tcase_add_test(c, test_refused);
	tcase_add_test(c, test_split_takes_no_value_for_a_time);
	tcase_add_test(c, test_split_takes_no_number_for_a_time);
	suite_add_tcase(s, c);
	return run_suite(s);
}
