/* SPDX-License-Identifier: BSD-3-Clause */
/* A shadow of a replay: with words that it has not taken yet, it is the whole thread. */
#include "t/unit/replay/replay-by-hand.h"

#include "nodeagent/replay/shadow.h"
#include "nodeagent/replay/window.h"

static void in_after(uint64_t n, uint32_t id)
{
	ticks += n;
	put(0, id, 0);
}

static void out_after(uint64_t n, uint32_t id)
{
	ticks += n;
	put(RECORD_EXIT, id, 0);
}

static struct node *child(struct replay *of, struct node *n, uint32_t key)
{
	return calltree_child(replay_tree(of), n ? n : calltree_root(replay_tree(of)), NULL, key);
}

START_TEST(what_is_not_published_is_in_the_shadow)
{
	const struct node *open[8];
	struct replay *s;
	struct node *a, *b;

	in_after(10, A);
	in_after(10, B);
	out_after(5, B);
	flush();
	s = replay_shadow(r);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(replay_open_nodes(r, open, 8), 2);
	ck_assert_ptr_eq(open[1], child(r, NULL, A));
	/* in the next block, which only the shadow sees: B twice, A ends, C stays */
	in_after(3, B);
	out_after(4, B);
	in_after(1, B);
	out_after(4, B);
	out_after(2, A);
	in_after(6, C);
	ck_assert_ptr_null(replay_block(s, block, 0, BLOCK_WORDS, &no_epoch, NOW));
	a = child(s, NULL, A);
	b = child(s, a, B);
	ck_assert_ptr_eq(calltree_at(replay_tree(s), 1), a);
	ck_assert_uint_eq(a->calls, 0); /* its call was counted before */
	ck_assert_uint_eq(a->ticks, 3 + 4 + 1 + 4 + 2);
	ck_assert_uint_eq(b->calls, 2);
	ck_assert_uint_eq(b->ticks, 8);
	ck_assert_uint_eq(child(s, NULL, C)->calls, 1);
	ck_assert_uint_eq(replay_counts(s)->calls, 3);
	/* nothing has changed in the replay, which gets the block later */
	ck_assert_uint_eq(child(r, child(r, NULL, A), B)->calls, 1);
	ck_assert_uint_eq(replay_counts(r)->calls, 2);
	replay_free(s);
	end();
	expect(AT(A, B), 3, 5 + 4 + 4);
}
END_TEST

/* The replay has taken the first words of a block that is not published. */
START_TEST(it_goes_on_in_the_middle_of_a_block)
{
	struct replay *s;
	unsigned from;

	in_after(10, A);
	in_after(10, B);
	from = used;
	ck_assert_ptr_null(replay_block(r, block, 0, from, &no_epoch, NOW));
	out_after(5, B);
	s = replay_shadow(r);
	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_null(replay_block(s, block, from, BLOCK_WORDS, &no_epoch, NOW));
	ck_assert_uint_eq(child(s, child(s, NULL, A), B)->ticks, 5);
	ck_assert_uint_eq(replay_last_ticks(s), ticks);
	replay_free(s);
}
END_TEST

START_TEST(a_recursion_that_is_open_ends_as_often)
{
	struct replay *s;

	in_after(1, A);
	in_after(1, A);
	in_after(1, A);
	flush();
	s = replay_shadow(r);
	out_after(5, A);
	out_after(5, A);
	ck_assert_ptr_null(replay_block(s, block, 0, BLOCK_WORDS, &no_epoch, NOW));
	ck_assert_uint_eq(child(s, NULL, A)->ticks, 0);
	ck_assert_uint_eq(replay_open_nodes(s, (const struct node *[8]){0}, 8), 2);
	replay_free(s);
}
END_TEST

START_TEST(of_more_frames_than_asked_for_the_outer_and_the_inner_ones_are_told)
{
	const struct node *open[5];

	for (uint32_t i = 0; i < 20; i++)
		in_after(1, F(i));
	flush();
	ck_assert_uint_eq(replay_open_nodes(r, open, 5), 21);
	ck_assert_ptr_eq(open[0], calltree_root(replay_tree(r)));
	ck_assert_uint_eq(open[1]->key, F(0));
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(open[2 + i]->key, F(17 + i));
}
END_TEST

struct sums {
	uint64_t n, all;
	int64_t own;
};

static void add(void *ctx, const struct node *n, const struct node *below, uint64_t t)
{
	struct sums *s = ctx;

	s->n++;
	s->own += (int64_t)t - (below ? (int64_t)t : 0);
	s->all += t;
}

START_TEST(open_frames_have_the_time_until_now)
{
	struct sums s = {0};
	struct time_sums t;

	in_after(10, A);
	in_after(20, B);
	flush();
	replay_open_frames(r, ticks + 100, add, &s);
	ck_assert_uint_eq(s.n, 3);
	ck_assert_uint_eq(s.all, 130 + 120 + 100);
	ck_assert_int_eq(s.own, 130); /* exclusive times add up to that of the thread */
	t = replay_time_sums(r, ticks + 100);
	ck_assert_int_eq(t.of[TIME_USEFUL], 120);
	ck_assert_int_eq(t.of[TIME_OUTSIDE], 10);
}
END_TEST

START_TEST(paused_and_in_openmp_there_is_none)
{
	struct replay *s;

	in_after(1, A);
	put(0, RECORD_PAUSE, 0);
	flush();
	ck_assert_ptr_null(replay_shadow(r));
	put(0, RECORD_RESUME, 0);
	block[used - 1] = 1;
	flush();
	s = replay_shadow(r);
	ck_assert_ptr_nonnull(s);
	replay_free(s);
	put(0, RECORD_FORK, 0);
	block[used - 2] = (uint64_t)1 << 32;
	block[used - 1] = 2;
	flush();
	ck_assert_ptr_null(replay_shadow(r));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shadows of replays");
	TCase *c = tcase_create("shadow");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, what_is_not_published_is_in_the_shadow);
	tcase_add_test(c, it_goes_on_in_the_middle_of_a_block);
	tcase_add_test(c, a_recursion_that_is_open_ends_as_often);
	tcase_add_test(c, of_more_frames_than_asked_for_the_outer_and_the_inner_ones_are_told);
	tcase_add_test(c, open_frames_have_the_time_until_now);
	tcase_add_test(c, paused_and_in_openmp_there_is_none);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
