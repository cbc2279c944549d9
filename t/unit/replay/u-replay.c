/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_block() on blocks made by hand: what becomes of nesting, recursion,
 * missing and stray exits, jumps, pauses, losses, odd times, depth, too many
 * paths, and words that mean nothing.
 */
#include "t/unit/replay/replay-by-hand.h"

START_TEST(nesting)
{
	for (int i = 0; i < 1000; i++) {
		in(A);
		in(B);
		out(B);
		in(C);
		in(B);
		out(B);
		out(C);
		out(A);
	}
	end();
	expect(AT(A), 1000, 7000);
	expect(AT(A, B), 1000, 1000);
	expect(AT(A, C), 1000, 3000);
	expect(AT(A, C, B), 1000, 1000);
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, 8000);
	ck_assert_uint_eq(replay_counts(r)->calls, 4000);
	ck_assert_uint_eq(replay_counts(r)->records, 8000);
}
END_TEST

START_TEST(many_siblings)
{
	for (int k = 0; k < 3; k++)
		for (unsigned i = 0; i < 5000; i++) {
			in(F(i * 7919 % 5000));
			out(F(i * 7919 % 5000));
		}
	end();
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 5001);
	for (unsigned i = 0; i < 5000; i++)
		expect(AT(F(i)), 3, 3);
}
END_TEST

START_TEST(direct_recursion)
{
	in(A);
	for (int i = 0; i < 20000; i++)
		in(B);
	for (int i = 0; i < 20000; i++)
		out(B);
	out(A);
	end();
	expect(AT(A, B), 20000, 39999);
	expect(AT(A), 1, 40001);
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 3);
}
END_TEST

START_TEST(exit_of_a_lower_frame)
{
	in(A);
	in(B);
	in(C);
	out(A); /* B and C end with it */
	in(B);
	out(B);
	end();
	expect(AT(A), 1, 3);
	expect(AT(A, B), 1, 2);
	expect(AT(A, B, C), 1, 1);
	expect(AT(B), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->closed, 2);
	ck_assert_uint_eq(replay_counts(r)->stray, 0);
}
END_TEST

START_TEST(exits_of_nothing)
{
	out(A);
	in(A);
	out(B);
	out(A);
	out(A);
	end();
	expect(AT(A), 1, 2);
	ck_assert_uint_eq(replay_counts(r)->stray, 3);
	ck_assert_uint_eq(replay_counts(r)->closed, 0);
}
END_TEST

/* A hostile thread makes every stray exit expensive; that must not last. */
START_TEST(strays_stay_cheap)
{
	for (unsigned i = 0; i < 300000; i++)
		in(i & 1 ? A : B);
	for (unsigned i = 0; i < 300000; i++)
		out(C);
	end();
	ck_assert_uint_eq(replay_counts(r)->stray, 300000);
	ck_assert_uint_eq(replay_counts(r)->open, 300000);
}
END_TEST

START_TEST(jumps)
{
	in(A);
	in(B);
	in(C);
	site_key = A;
	site_address = 0x1234;
	control(RECORD_SITE, 0x1234); /* code of A runs: C and B are gone */
	in(B);
	out(B);
	control(RECORD_SITE, 0x9999); /* code nobody knows: nothing is gone */
	in(C);
	out(C);
	out(A);
	end();
	expect(AT(A), 1, 9);
	expect(AT(A, B), 2, 3);
	expect(AT(A, C), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->closed, 2);
}
END_TEST

START_TEST(pause_and_resume)
{
	in(A);
	control(RECORD_PAUSE, 0);
	ticks += 100;
	control(RECORD_RESUME, 1);
	in(B);
	out(B);
	out(A);
	end();
	expect(AT(A), 1, 105);
	expect(AT(A, KEY_PAUSE), 1, 101);
	expect(AT(A, B), 1, 1);
}
END_TEST

START_TEST(frames_entered_while_paused)
{
	in(A);
	control(RECORD_PAUSE, 0);
	control(RECORD_RESUME, 1 + 2); /* X and Y were entered meanwhile */
	in(B);
	out(B);
	out(F(1)); /* Y ends, then X */
	in(C);
	out(C);
	out(F(2));
	out(A);
	end();
	expect(AT(A), 1, 9);
	expect(AT(A, B), 1, 1);
	expect(AT(A, C), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->stray, 0);
	ck_assert_uint_eq(replay_counts(r)->closed, 0);
}
END_TEST

START_TEST(exits_while_paused)
{
	in(A);
	in(B);
	control(RECORD_PAUSE, 0);
	out(B);
	ticks += 9;
	out(A);
	control(RECORD_RESUME, 1);
	in(C);
	out(C);
	end();
	expect(AT(A, B), 1, 2);
	expect(AT(A), 1, 13);
	expect(AT(C), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->open, 0);
}
END_TEST

START_TEST(losses_while_paused)
{
	in(A);
	in(B);
	control(RECORD_PAUSE, 0);
	control(RECORD_LOST, 5);
	control(RECORD_CLOSE, 1);
	control(RECORD_LOST, 7);
	in(C); /* no RESUME, but it goes on */
	out(C);
	out(A);
	end();
	ck_assert_uint_eq(AT(A, B)->extra->lost, 5);
	ck_assert_uint_eq(AT(A)->extra->lost, 7);
	expect(AT(A, C), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->stray, 0);
}
END_TEST

START_TEST(losses)
{
	in(A);
	in(B);
	control(RECORD_LOST, 3);
	out(B);
	control(RECORD_LOST, 4);
	in(B);
	in(C);
	control(RECORD_CLOSE, 2); /* C and B */
	control(RECORD_LOST, 5);
	out(A);
	ck_assert(replay_lost(r, 6, ticks));
	ck_assert(!replay_lost(r, UINT64_MAX, ticks));
	end();
	ck_assert_uint_eq(AT(A, B)->extra->lost, 3);
	ck_assert_uint_eq(AT(A)->extra->lost, 9);
	/* before the block was read */
	ck_assert_uint_eq(calltree_root(replay_tree(r))->extra->lost, 6);
	ck_assert_uint_eq(replay_counts(r)->lost, 18);
	expect(AT(A, B), 2, 2 + 2);
	expect(AT(A), 1, 9);
	ck_assert_uint_eq(replay_counts(r)->open, 0);
}
END_TEST

START_TEST(closing_more_than_is_open)
{
	in(A);
	in(A);
	in(B);
	control(RECORD_CLOSE, UINT64_MAX);
	in(C);
	out(C);
	end();
	expect(AT(A), 2, 3);
	expect(AT(C), 1, 1);
}
END_TEST

/* A record whose second word was never stored did not happen. */
START_TEST(incomplete_record)
{
	in(A);
	control(RECORD_WIDE, 0);
	control(RECORD_CLOSE, 0);
	out(A);
	end();
	expect(AT(A), 1, 3);
	ck_assert_uint_eq(replay_counts(r)->calls, 1);
}
END_TEST

START_TEST(holes_are_nothing)
{
	in(A);
	used += 3;
	in(B);
	used++;
	out(B);
	out(A);
	end();
	expect(AT(A), 1, 3);
	expect(AT(A, B), 1, 1);
}
END_TEST

START_TEST(wide_addresses)
{
	uint64_t far = 0x7f0000010000u, key = KEY_WIDE | far;

	in(A); /* 0x10000: the same low half */
	ticks++;
	put(0, RECORD_WIDE, far);
	ticks++;
	put(RECORD_EXIT, RECORD_WIDE, far);
	out(A);
	ticks++;
	put(0, RECORD_WIDE, RECORD_REGION_KEY(5000));
	ticks++;
	put(RECORD_EXIT, RECORD_WIDE, RECORD_REGION_KEY(5000));
	end();
	expect(AT(A), 1, 3);
	expect(AT(A, key), 1, 1);
	expect(AT(RECORD_REGION_KEY(5000)), 1, 1);
}
END_TEST

START_TEST(time_goes_backwards)
{
	in(A);
	ticks -= 1000000;
	in(B);
	ticks -= 1000000;
	out(B);
	out(A);
	ticks = START + 10;
	end();
	expect(AT(A), 1, 0);
	expect(AT(A, B), 1, 0);
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, 10);
}
END_TEST

START_TEST(time_wraps)
{
	ticks = START + ((uint64_t)1 << RECORD_TIME_BITS) - 2;
	in(A);
	in(B); /* in the next round of the 31 bits */
	out(B);
	out(A);
	end();
	expect(AT(A), 1, 3);
	expect(AT(A, B), 1, 1);
}
END_TEST

START_TEST(absurd_times)
{
	in(A);
	block[0] = record_sync_word(NOW * 4);
	ck_assert_str_eq(flush(), "time stamps from the future");
}
END_TEST

START_TEST(absurd_times_later)
{
	in(A);
	block[used++] = record_sync_word(NOW * 4);
	ck_assert_str_eq(flush(), "time stamps from the future");
}
END_TEST

/* A thread may sleep for hours between two words of a block. */
START_TEST(the_rest_of_a_block_may_be_stored_much_later)
{
	unsigned from;

	in(A);
	from = used;
	ck_assert_ptr_null(replay_block(r, block, 0, from, &no_epoch, NOW));
	ticks = NOW * 4;
	out(A);
	ck_assert_ptr_null(replay_block(r, block, from, BLOCK_WORDS, &no_epoch, NOW * 4));
	expect(AT(A), 1, ticks - START - 1);
	used = 0;
}
END_TEST

START_TEST(no_time)
{
	block[0] = record_word(ticks, 0, A);
	used = 1;
	ck_assert_str_eq(flush(), "a block does not start with its time");
	used = 1;
	ck_assert_str_eq(flush(), "a block does not start with its time");
}
END_TEST

START_TEST(record_across_the_end)
{
	in(A);
	block[BLOCK_WORDS - 1] = record_word(ticks, 0, RECORD_WIDE);
	ck_assert_str_eq(flush(), "a record crosses the end of its block");
}
END_TEST

START_TEST(too_many_losses)
{
	in(A);
	control(RECORD_LOST, (uint64_t)1 << 60);
	ck_assert_str_eq(flush(), "more calls lost than there was time for");
}
END_TEST

START_TEST(unknown_kind)
{
	put(0, RECORD_FILE_CALL + 1, 0);
	ck_assert_str_eq(flush(), "a record of unknown kind");
}
END_TEST

START_TEST(frames_without_end)
{
	const char *why = NULL;

	put(0, RECORD_PAUSE, 0);
	put(0, RECORD_RESUME, UINT64_MAX);
	why = flush();
	ck_assert_str_eq(why, "more than 4194304 open frames, as no program has");
}
END_TEST

static uint64_t sum_exclusive_deep(struct calltree *t)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < calltree_nodes(t); i++)
		if (calltree_at(t, i)->parent->key == KEY_DEEP)
			sum += calltree_at(t, i)->ticks;
	return sum;
}

START_TEST(mutual_recursion)
{
	enum { DEPTH = 20000 };
	uint64_t calls = 0;
	struct calltree *t;

	for (unsigned i = 0; i < DEPTH; i++)
		in(i & 1 ? B : A);
	for (unsigned i = DEPTH; i--;)
		out(i & 1 ? B : A);
	end();
	t = replay_tree(r);
	for (size_t i = 1; i < calltree_nodes(t); i++)
		calls += calltree_at(t, i)->calls;
	ck_assert_uint_eq(calls, DEPTH);
	ck_assert_uint_eq(replay_counts(r)->calls, DEPTH);
	ck_assert_uint_eq(
		replay_counts(r)->open + replay_counts(r)->stray + replay_counts(r)->closed, 0);
	expect(AT(A), 1, 2 * DEPTH - 1);
	/* folded: what lies below DEPTH_MAX has all of its time, once */
	ck_assert_uint_le(calltree_nodes(t), DEPTH_MAX + 4);
	ck_assert_uint_eq(sum_exclusive_deep(t), 2 * (DEPTH - (DEPTH_MAX - 1)) - 1);
}
END_TEST

START_TEST(in_parts)
{
	unsigned middle;
	struct replay_epoch first = {0, A, 1}, second = {1, A, 1};

	in(A);
	out(A);
	in(B);
	out(B);
	in(A);
	out(A);
	middle = replay_split(r, block, 0, START + 4);
	ck_assert_uint_eq(middle, 5);
	ck_assert_uint_eq(replay_split(r, block, 0, START - 1), 1);
	ck_assert_uint_eq(replay_split(r, block, 0, START + 100), BLOCK_WORDS);
	ck_assert_ptr_null(replay_block(r, block, 0, middle, &first, NOW));
	ck_assert_ptr_null(replay_block(r, block, middle, BLOCK_WORDS, &second, NOW));
	used = 0;
	end();
	expect(AT(A), 1, 1);
	expect(AT((uint64_t)1 << KEY_EPOCH_SHIFT | A), 1, 1);
	expect(AT(B), 1, 1);
}
END_TEST

START_TEST(stack_of_a_thread)
{
	uint64_t keys[8];

	in(A);
	in(B);
	in(B);
	in(C);
	ck_assert_ptr_null(flush());
	ck_assert_uint_eq(replay_stack(r, false, keys, 8), 3);
	ck_assert_uint_eq(keys[0], C);
	ck_assert_uint_eq(keys[2], A);
	ck_assert_uint_eq(replay_stack(r, false, keys, 1), 1);
}
END_TEST

START_TEST(trees_add_up)
{
	struct calltree *sum = calltree_new();
	struct node *a;

	for (int k = 0; k < 3; k++) {
		in(A);
		in(B);
		control(RECORD_LOST, 2);
		out(B);
		out(A);
		end();
		calltree_add(sum, replay_tree(r));
		ck_assert_ptr_eq(calltree_root(replay_tree(r))->counterpart, calltree_root(sum));
		teardown();
		setup();
	}
	ck_assert_uint_eq(calltree_nodes(sum), 3);
	a = calltree_root(sum)->child;
	expect(a, 3, 12);
	expect(a->child, 3, 6);
	ck_assert_uint_eq(a->child->extra->lost, 6);
	calltree_free(sum);
}
END_TEST

/* Of the first of all calls, in whatever order trees are added; the fast way and the slow one. */
START_TEST(first_calls)
{
	struct calltree *sum = calltree_new();
	struct node *a;

	for (int k = 0; k < 2; k++) {
		if (!k)
			ticks += 1000;
		in(A);
		in(B);
		out(B);
		if (k)
			in(C);
		end();
		calltree_add(sum, replay_tree(r));
		ck_assert_uint_eq(calltree_first(AT(A)), START + (k ? 1 : 1001));
		ck_assert_uint_eq(calltree_first(AT(A, B)), START + (k ? 2 : 1002));
		if (k)
			ck_assert_uint_eq(calltree_first(AT(A, C)), START + 4);
		teardown();
		setup();
	}
	a = calltree_root(sum)->child;
	ck_assert_uint_eq(calltree_first(a), START + 1);
	ck_assert_uint_eq(calltree_first(a->child), START + 2);
	calltree_free(sum);
}
END_TEST

/* Each node of a large tree has a time of its own. */
START_TEST(first_calls_of_many)
{
	for (uint32_t i = 0; i < 3000; i++) {
		in(F(i));
		out(F(i));
	}
	end();
	for (uint32_t i = 0; i < 3000; i++)
		ck_assert_uint_eq(calltree_first(calltree_at(replay_tree(r), 1 + i)),
			START + 1 + 2 * (uint64_t)i);
}
END_TEST

/* More paths than a thread may have: the rest is a crowd, and nothing is lost. */
START_TEST(too_many_paths)
{
	uint64_t calls = 0, n = (uint64_t)NODES_MAX + 5000;
	struct calltree *t = replay_tree(r);

	for (uint64_t i = 0; i < n; i++) {
		in((uint32_t)(A + i));
		in((uint32_t)(B + i / 2));
		out((uint32_t)(B + i / 2));
		out((uint32_t)(A + i));
	}
	end();
	ck_assert_uint_le(calltree_nodes(t), NODES_MAX + NODES_MAX / 2 + 2);
	for (size_t i = 1; i < calltree_nodes(t); i++)
		calls += calltree_at(t, i)->calls;
	ck_assert_uint_eq(calls, 2 * n);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
	ck_assert_uint_eq(calltree_root(t)->ticks, 4 * n);
}
END_TEST

static uint64_t state = 88172645463325252u;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* Words of all degrees of sense; each replay goes on until one is refused. */
START_TEST(random_words)
{
	clock_t stop = clock() + 2 * CLOCKS_PER_SEC;
	unsigned long blocks = 0;

	while (clock() < stop) {
		uint64_t sense = any() % 4;

		teardown();
		setup();
		for (int k = 0; k < 20; k++) {
			block[0] = sense ? record_sync_word(ticks) : any();
			for (unsigned i = 1; i < BLOCK_WORDS; i++) {
				uint64_t w = any();
				uint32_t id = sense == 1 ? (uint32_t)(w % 12)
					      : sense == 2
						      ? (uint32_t)(A + w % 5)
						      : (uint32_t)(w % 3 ? A + w % 99 : w % 12);

				block[i] = sense ? record_word(ticks++, w & RECORD_EXIT, id) : w;
				for (unsigned n = record_words(block[i]);
					n > 1 && i + 1 < BLOCK_WORDS; n--)
					block[++i] = any() >> any() % 64;
			}
			blocks++;
			if (replay_block(r, block, 0, BLOCK_WORDS, &no_epoch, NOW))
				break;
		}
		replay_end(r, any());
		openmp_no_more(teams);
		ck_assert(replay_settle(r));
		openmp_end(teams);
	}
	ck_assert_uint_gt(blocks, 10);
}
END_TEST

/* Whatever their numbers, values and times are, they change nothing else; see t9501 for the rest.
 */
START_TEST(counters_of_the_user)
{
	struct user_counters *none = NULL;

	replay_set_user_counters(r, &none);
	in(A);
	user_counter(1, 7, RECORD_USER_MARK | ticks);
	user_counter(0x7fffffff, UINT64_MAX, UINT64_MAX);
	user_counter(0, 0, RECORD_USER_MARK);
	user_counter(3, 1, 0); /* never completed */
	out(A);
	end();
	ck_assert_uint_eq(replay_counts(r)->records, 5);
	ck_assert_uint_eq(replay_counts(r)->calls, 1);
	ck_assert_uint_eq(replay_last_ticks(r), ticks);
	block[0] = record_sync_word(ticks);
	for (unsigned i = 1; i < BLOCK_WORDS; i++)
		block[i] = RECORD_USER_COUNTER;
	block[BLOCK_WORDS - 2] = (uint64_t)1 << RECORD_TIME_SHIFT | RECORD_USER_COUNTER;
	block[BLOCK_WORDS - 3] = 0;
	ck_assert_ptr_nonnull(replay_block(r, block, 0, BLOCK_WORDS, &no_epoch, NOW));
}
END_TEST

static void openacc(uint64_t bytes)
{
	put(0, RECORD_OPENACC, bytes ? RECORD_OPENACC_MARK | bytes : 0);
}

/* They belong to the frame they stand in, take no time, and move with their node. */
START_TEST(bytes_of_openacc)
{
	struct calltree *sum = calltree_new();

	in(A);
	openacc(100);
	in(B);
	openacc(7);
	openacc(0); /* never completed */
	out(B);
	out(A);
	end();
	expect(AT(A), 1, 3);
	ck_assert_uint_eq(AT(A)->extra->openacc_bytes, 100);
	ck_assert_uint_eq(AT(A, B)->extra->openacc_bytes, 7);
	ck_assert_uint_eq(replay_counts(r)->records, 6);
	calltree_add(sum, replay_tree(r));
	calltree_add(sum, replay_tree(r));
	ck_assert_uint_eq(calltree_root(sum)->child->extra->openacc_bytes, 200);
	calltree_free(sum);
	block[0] = record_sync_word(ticks);
	for (unsigned i = 1; i < BLOCK_WORDS; i++)
		block[i] = i + 1 < BLOCK_WORDS ? 0 : RECORD_OPENACC;
	ck_assert_ptr_nonnull(replay_block(r, block, 0, BLOCK_WORDS, &no_epoch, NOW));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {nesting, many_siblings, direct_recursion,
		exit_of_a_lower_frame, exits_of_nothing, strays_stay_cheap, jumps, pause_and_resume,
		frames_entered_while_paused, exits_while_paused, losses_while_paused, losses,
		closing_more_than_is_open, incomplete_record, holes_are_nothing, wide_addresses,
		time_goes_backwards, time_wraps, absurd_times, absurd_times_later,
		the_rest_of_a_block_may_be_stored_much_later, no_time, record_across_the_end,
		too_many_losses, unknown_kind, frames_without_end, mutual_recursion, in_parts,
		stack_of_a_thread, trees_add_up, first_calls, first_calls_of_many, too_many_paths,
		counters_of_the_user, bytes_of_openacc, random_words};
	Suite *s = suite_create("replay");
	TCase *c = tcase_create("replay");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
