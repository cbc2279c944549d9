/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of windows: from records made by hand, at times of a clock that the test sets, to who has
 * waited for whom, to the tick.
 */
#include "nodeagent/base/wait-kinds.h"
#include "t/unit/replay/traffic-by-hand.h"

enum { RANKS = 3 };

#define NONE	  MESSAGE_NO_RANK
#define SHARED	  0u
#define EXCLUSIVE MESSAGE_EXCLUSIVE

static struct person ranks[RANKS];
static struct sync *node;

static void node_up(void)
{
	const struct wire_object w = {.number = 1, .comm = WORLD},
				 other = {.number = 2, .comm = WORLD};

	setup();
	node = sync_of_ranks(RANKS);
	for (int i = 0; i < RANKS; i++) {
		be_born(&ranks[i], node, i);
		ck_assert_ptr_null(traffic_define_object(ranks[i].traffic, WIRE_WINDOW, &w, ""));
		ck_assert_ptr_null(
			traffic_define_object(ranks[i].traffic, WIRE_WINDOW, &other, ""));
	}
}

static void node_down(void)
{
	for (int i = 0; i < RANKS; i++)
		die_out(&ranks[i]);
	sync_free(node);
	teardown();
}

/* A call of a rank; times in thousands of ticks. */
static void call(int rank, uint32_t function, uint32_t window, uint32_t target, uint32_t flags,
	uint32_t epoch, uint64_t enter, uint64_t leave)
{
	struct thread *t = &ranks[rank].thread[0];

	ticks = START + 10000 * enter - 1;
	in(t, RECORD_ID_MPI + function);
	PUT(t, message_head(RECORD_EPOCH, function), message_pair(window, target),
		message_last(flags, epoch));
	ticks = START + 10000 * leave - 1;
	out(t, RECORD_ID_MPI + function);
	flush(t);
	ck_assert_ptr_null(t->why);
}

#define LOCK(rank, target, how, epoch, from, to)                                                   \
	call(rank, VFTR_MPI_WIN_LOCK, 1, target, how, epoch, from, to)
#define FLUSH(rank, target, epoch, from, to)                                                       \
	call(rank, VFTR_MPI_WIN_FLUSH, 1, target, 0, epoch, from, to)
#define UNLOCK(rank, target, epoch, from, to)                                                      \
	call(rank, VFTR_MPI_WIN_UNLOCK, 1, target, 0, epoch, from, to)

static void waited(int rank, uint32_t function, uint64_t calls, uint32_t late, uint64_t wait)
{
	uint64_t n = 0, sum = 0;

	for (int i = 0; i < THREADS; i++)
		end_thread(&ranks[rank], i);
	for (size_t k = 0; k < calltree_nodes(ranks[rank].past); k++) {
		const struct node *at = calltree_at(ranks[rank].past, k);

		for (size_t w = 0; at->extra && w < at->extra->waits.n; w++) {
			const struct node_wait *of = &at->extra->waits.at[w];

			if (at->key != RECORD_ID_MPI + function || !of->calls)
				continue;
			ck_assert_uint_eq(of->kind, WAIT_RMA_LOCK);
			ck_assert_uint_eq(of->late, late);
			n += of->calls;
			sum += of->ticks;
		}
	}
	ck_assert_uint_eq(n, calls);
	ck_assert_uint_eq(sum, 10000 * wait);
}

static void nobody_waited(int rank)
{
	waited(rank, VFTR_MPI_WIN_LOCK, 0, 0, 0);
	waited(rank, VFTR_MPI_WIN_FLUSH, 0, 0, 0);
	waited(rank, VFTR_MPI_WIN_UNLOCK, 0, 0, 0);
}

/* Rank 1 works in its epoch until 50; rank 2 has asked meanwhile. */
static void rank_1(void)
{
	LOCK(1, 0, EXCLUSIVE, 1, 10, 11);
	FLUSH(1, 0, 1, 12, 13);
	UNLOCK(1, 0, 1, 50, 52);
}

static void gets_it_in_lock(void)
{
	LOCK(2, 0, SHARED, 1, 20, 51);
	UNLOCK(2, 0, 1, 55, 56);
}

static void gets_it_in_flush(void)
{
	LOCK(2, 0, SHARED, 1, 20, 21);
	FLUSH(2, 0, 1, 30, 53);
	UNLOCK(2, 0, 1, 55, 56);
}

static void gets_it_in_unlock(void)
{
	LOCK(2, 0, SHARED, 1, 20, 21);
	UNLOCK(2, 0, 1, 40, 53);
}

static const struct {
	void (*second)(void);
	uint32_t function;
	uint64_t wait;
} ways[] = {
	{gets_it_in_lock, VFTR_MPI_WIN_LOCK, 30},
	{gets_it_in_flush, VFTR_MPI_WIN_FLUSH, 20},
	{gets_it_in_unlock, VFTR_MPI_WIN_UNLOCK, 10},
};

/* In whatever order the two are read. */
START_TEST(until_it_is_given_back)
{
	if (_i % 2)
		rank_1();
	ways[_i / 2].second();
	if (!(_i % 2))
		rank_1();
	waited(2, ways[_i / 2].function, 1, 1, ways[_i / 2].wait);
	nobody_waited(1);
}
END_TEST

START_TEST(the_last_of_several)
{
	LOCK(0, 0, EXCLUSIVE, 1, 5, 6);
	FLUSH(0, 0, 1, 7, 8);
	UNLOCK(0, 0, 1, 25, 26);
	LOCK(1, 0, EXCLUSIVE, 1, 22, 26);
	FLUSH(1, 0, 1, 26, 27);
	UNLOCK(1, 0, 1, 50, 52);
	gets_it_in_lock();
	waited(2, VFTR_MPI_WIN_LOCK, 1, 1, 30);
	waited(1, VFTR_MPI_WIN_LOCK, 1, 0, 3);
	nobody_waited(0);
}
END_TEST

/* Who has it waits for nobody, however long its own calls last. */
START_TEST(the_other_way_round)
{
	LOCK(1, 0, EXCLUSIVE, 1, 10, 11);
	FLUSH(1, 0, 1, 12, 13);
	UNLOCK(1, 0, 1, 50, 70); /* it was stopped after it had given it back */
	LOCK(2, 0, EXCLUSIVE, 1, 20, 51);
	FLUSH(2, 0, 1, 52, 53);
	UNLOCK(2, 0, 1, 55, 56);
	waited(2, VFTR_MPI_WIN_LOCK, 1, 1, 30);
	nobody_waited(1);
}
END_TEST

START_TEST(locks_that_let_others)
{
	LOCK(1, 0, SHARED, 1, 10, 11);
	LOCK(1, 1, EXCLUSIVE, 2, 12, 13);
	call(1, VFTR_MPI_WIN_LOCK, 2, 0, EXCLUSIVE, 1, 14, 15);
	UNLOCK(1, 0, 1, 50, 52);
	UNLOCK(1, 1, 2, 53, 54);
	call(1, VFTR_MPI_WIN_UNLOCK, 2, 0, 0, 1, 55, 56);
	LOCK(2, 0, SHARED, 1, 20, 60);
	UNLOCK(2, 0, 1, 61, 62);
	nobody_waited(1);
	nobody_waited(2);
}
END_TEST

START_TEST(one_for_all_targets)
{
	call(1, VFTR_MPI_WIN_LOCK_ALL, 1, NONE, 0, 1, 10, 11);
	call(1, VFTR_MPI_WIN_FLUSH_ALL, 1, NONE, 0, 1, 12, 13);
	call(1, VFTR_MPI_WIN_UNLOCK_ALL, 1, NONE, 0, 1, 50, 52);
	LOCK(2, 2, EXCLUSIVE, 1, 20, 51);
	UNLOCK(2, 2, 1, 55, 56);
	waited(2, VFTR_MPI_WIN_LOCK, 1, 1, 30);
	nobody_waited(1);
}
END_TEST

/* Ends without begins, begins without ends, many of them. */
START_TEST(calls_are_missing)
{
	UNLOCK(1, 0, 7, 10, 20);
	LOCK(1, 0, EXCLUSIVE, 8, 30, 31);
	LOCK(1, 0, EXCLUSIVE, 8, 32, 33);
	FLUSH(2, 0, 8, 40, 41);
	for (uint32_t i = 0; i < 70000; i++)
		LOCK(0, 0, EXCLUSIVE, 100 + i, 100 + 2 * i, 101 + 2 * i);
	UNLOCK(0, 0, 100, 200000, 200001);
	for (int i = 0; i < RANKS; i++)
		nobody_waited(i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("window-locks");
	TCase *c = tcase_create("window-locks");

	tcase_add_checked_fixture(c, node_up, node_down);
	tcase_add_loop_test(c, until_it_is_given_back, 0, 2 * (int)ARRAY_SIZE(ways));
	tcase_add_test(c, the_last_of_several);
	tcase_add_test(c, the_other_way_round);
	tcase_add_test(c, locks_that_let_others);
	tcase_add_test(c, one_for_all_targets);
	tcase_add_test(c, calls_are_missing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
