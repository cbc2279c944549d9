/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who had a lock that others waited for, to the tick: times made by hand, and at random against a
 * look at each tick; whatever is read first.
 */
#include "nodeagent/replay/openmp/locks.h"

#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include "shm/record.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define THREADS 4
#define ENOUGH	LOCKS_LEAST_TICKS /* a wait of so many ticks is looked at */
#define T(k)	(((uint64_t)3 << 40) + (uint64_t)(k)*ENOUGH)

static struct locks *all;
/* By thread: what each has waited for each. */
static uint64_t ticks[THREADS][THREADS], calls[THREADS][THREADS];

static void found(void *ctx, const struct lock_blame *b)
{
	ck_assert_uint_lt(b->waiter.thread, THREADS);
	ck_assert_uint_lt(b->holder.thread, THREADS);
	ck_assert_ptr_eq(ctx, &all);
	ck_assert_uint_eq(b->waiter.path, 100 + b->waiter.thread);
	ck_assert_uint_eq(b->holder.path, 100 + b->holder.thread);
	ticks[b->waiter.thread][b->holder.thread] += b->ticks;
	calls[b->waiter.thread][b->holder.thread] += b->calls;
}

static void setup(void)
{
	all = locks_new(found, &all);
	memset(ticks, 0, sizeof(ticks));
	memset(calls, 0, sizeof(calls));
}

static void teardown(void)
{
	locks_free(all);
}

static struct lock_place thread(uint32_t t)
{
	return (struct lock_place){t, 100 + t};
}

static void waited(uint32_t t, uint64_t from, uint64_t to)
{
	locks_waited(all, 7, thread(t), from, to);
}

static void held(uint32_t t, enum lock_hold how, uint64_t from, uint64_t to)
{
	locks_held(all, 7, thread(t), how, from, to);
}

static void is(uint32_t waiter, uint32_t holder, uint64_t n, uint64_t t)
{
	ck_assert_uint_eq(calls[waiter][holder], n);
	ck_assert_uint_eq(ticks[waiter][holder], t);
}

START_TEST(the_part_in_which_another_one_had_it)
{
	if (_i)
		waited(1, T(10), T(30) + 50);
	held(0, LOCK_UNTIL_THEN, T(5), T(20));
	held(2, LOCK_UNTIL_THEN, T(20) + 100, T(30));
	if (!_i)
		waited(1, T(10), T(30) + 50);
	held(1, LOCK_UNTIL_THEN, T(30) + 50, T(40));
	locks_held(all, 8, thread(3), LOCK_UNTIL_THEN, T(0), T(50));
	locks_settle(all, UINT64_MAX);
	is(1, 0, 1, T(20) - T(10));
	is(1, 2, 0, T(30) - T(20) - 100);
	is(1, 3, 0, 0);
	is(1, 1, 0, 0);
	locks_settle(all, UINT64_MAX);
	ck_assert(!locks_pending(all));
	ck_assert(!locks_cut(all));
}
END_TEST

START_TEST(a_lock_that_is_free_makes_nobody_wait)
{
	held(0, LOCK_UNTIL_THEN, T(1), T(2));
	waited(1, T(2), T(9));
	held(0, LOCK_UNTIL_THEN, T(9), T(10));
	held(1, LOCK_UNTIL_THEN, T(3), T(4));	       /* its own */
	waited(2, T(9), T(9) + LOCKS_LEAST_TICKS - 1); /* too short */
	waited(3, T(9), T(8));
	locks_settle(all, UINT64_MAX);
	for (uint32_t i = 0; i < THREADS; i++)
		for (uint32_t k = 0; k < THREADS; k++)
			is(i, k, 0, 0);
}
END_TEST

/* It was got by a test, of which there is no record. */
START_TEST(begin_is_not_known)
{
	waited(1, T(10), T(30));
	held(2, LOCK_UNTIL_THEN, 0, T(25));
	held(0, LOCK_UNTIL_THEN, T(5), T(20));
	locks_settle(all, UINT64_MAX);
	is(1, 0, 1, T(20) - T(10));
	is(1, 2, 0, T(25) - T(20));
}
END_TEST

START_TEST(told_too_late)
{
	waited(1, T(10), T(20));
	waited(2, T(10), T(30));
	held(0, LOCK_SINCE_THEN, T(5), T(60)); /* until 20 */
	held(1, LOCK_SINCE_THEN, T(20), T(30) + 1);
	held(2, LOCK_SINCE_THEN, T(30), T(40));
	locks_settle(all, UINT64_MAX);
	is(1, 0, 1, T(20) - T(10));
	is(2, 0, 1, T(20) - T(10));
	is(2, 1, 0, T(30) - T(20));
}
END_TEST

/* Who is not there when its turn comes is waited for from then on. */
START_TEST(late_for_its_turn)
{
	waited(1, T(10), T(31));
	waited(2, T(20), T(51));
	held(0, LOCK_IN_ITS_TURN, T(30), T(31));
	held(1, LOCK_IN_ITS_TURN, T(31), T(32));
	held(3, LOCK_IN_ITS_TURN, T(50), T(51));
	held(2, LOCK_IN_ITS_TURN, T(51), T(52));
	locks_settle(all, UINT64_MAX);
	is(1, 0, 1, T(31) - T(10));
	is(2, 0, 0, T(31) - T(20));
	is(2, 1, 0, T(32) - T(31));
	is(2, 3, 1, T(51) - T(32));
}
END_TEST

/* Records of some are read later than those of others, but not later than what is settled. */
START_TEST(what_comes_later_is_waited_for)
{
	const uint64_t late = LOCKS_LATE_TICKS;

	waited(1, T(10), T(20));
	locks_settle(all, T(15));
	waited(2, T(11), T(30));
	locks_settle(all, T(20) + late - 1);
	held(0, LOCK_SINCE_THEN, T(1), T(20));
	ck_assert_uint_eq(ticks[1][0], 0);
	locks_settle(all, T(20) + late);
	is(1, 0, 1, T(20) - T(10));
	is(2, 0, 0, 0);
	held(1, LOCK_SINCE_THEN, T(20), T(30));
	locks_settle(all, T(90) + late);
	is(2, 0, 0, T(20) - T(11));
	is(2, 1, 1, T(30) - T(20));
}
END_TEST

/* Of all threads some are not read yet, but those that tell of locks were. */
START_TEST(much_is_kept_for_as_long_as_it_is_wanted)
{
	const uint32_t n = 10 * LOCKS_PER_THREAD;

	for (uint32_t i = 1; i < n; i++) {
		waited(2, T(i), T(i + 1));
		held(i % 2, LOCK_UNTIL_THEN, T(i), T(i + 1));
		if (!(i % 100))
			locks_settle(all, T(1));
	}
	ck_assert(!locks_cut(all));
	locks_settle(all, UINT64_MAX);
	/* all but the last of those that were settled when their holders were not told of */
	ck_assert_uint_ge(ticks[2][0] + ticks[2][1], (uint64_t)ENOUGH * (n - 100));
}
END_TEST

START_TEST(more_than_is_kept)
{
	waited(2, T(0), T(9 * LOCKS_PER_THREAD));
	for (uint32_t i = 1; i < 8 * LOCKS_PER_THREAD; i++)
		held(1, LOCK_UNTIL_THEN, T(i), T(i) + 1);
	ck_assert(locks_cut(all));
	waited(0, T(0), T(1) + 1);
	for (uint32_t i = 1; i < LOCKS_MAX + 10; i++)
		locks_held(all, i, thread(0), LOCK_UNTIL_THEN, T(i), T(i) + 1);
	locks_held(all, 0, thread(0), LOCK_UNTIL_THEN, T(1), T(2)); /* none */
	locks_waited(all, 5, thread(UINT32_MAX), 0, UINT64_MAX);
	for (int i = 0; i < 3; i++)
		locks_settle(all, UINT64_MAX);
	ck_assert(!locks_pending(all));
}
END_TEST

/* ---- what a process may cost that tells nonsense ------------------------------------ */

#define FEW 8

static void hold(uint32_t lock, uint32_t t, uint64_t from, uint64_t to)
{
	locks_held(all, lock, (struct lock_place){t, 100 + t}, LOCK_SINCE_THEN, from, to);
}

/* Each wait of one thread lies over all others, and over all times in which a lock was held. */
START_TEST(steps_are_limited)
{
	locks_held(all, 8, thread(FEW), LOCK_SINCE_THEN, T(1), T(2)); /* so many threads */
	for (uint32_t i = 0; i < LOCKS_PER_THREAD / 5 * 2; i++)
		for (uint32_t t = 0; t < FEW; t++) {
			waited(1, T(0), T(LOCKS_PER_THREAD) + i);
			hold(7, 2 + t % 2, T(i) + 10 * t, T(i) + 10 * t + 9);
		}
	locks_settle(all, UINT64_MAX);
	ck_assert(locks_cut(all));
	ck_assert_uint_gt(ticks[1][2], 0);
}
END_TEST

static size_t in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

START_TEST(a_list_that_was_long_is_not_kept)
{
	const size_t before = in_use();

	for (uint32_t lock = 1; lock <= 100; lock++) {
		for (uint32_t i = 1; i < LOCKS_PER_THREAD / 2; i++)
			hold(lock, 0, T(i), T(i) + 1);
		hold(lock, 0, T(1), T(1) << 10);
		locks_settle(all, T(LOCKS_PER_THREAD) + LOCKS_LATE_TICKS);
	}
	ck_assert(locks_pending(all));
	ck_assert_uint_lt(in_use(), before + ((size_t)1 << 20));
}
END_TEST

/* What is kept is not gone through for each wait that is told. */
START_TEST(little_is_new)
{
	locks_held(all, 8, thread(FEW), LOCK_SINCE_THEN, T(1), T(2));
	for (uint32_t t = 0; t < FEW; t++)
		for (uint32_t i = 0; i < LOCKS_PER_THREAD / 2; i++)
			hold(7, 2 + t % 2, T(i), T(LOCKS_PER_THREAD) << 10);
	for (uint32_t i = 1; i < 3 * LOCKS_PER_THREAD; i++) {
		waited(1, T(i), T(i + 1));
		locks_settle(all, T(i + 1) + LOCKS_LATE_TICKS);
	}
	locks_settle(all, UINT64_MAX);
	ck_assert_uint_eq(ticks[1][2] + ticks[1][3], T(3 * LOCKS_PER_THREAD) - T(1));
	ck_assert(!locks_cut(all));
}
END_TEST

/* ---- against a look at each moment ------------------------------------------------- */

#define MOMENTS 400
#define EVENTS	(2 * MOMENTS)

static struct event {
	bool waits;
	uint32_t t;
	uint64_t from, to;
} events[EVENTS];
static size_t n_events;
static uint64_t truth[THREADS][THREADS];

/* Threads want the lock, get it in any order when it is free, and give it back. */
static void play(struct dice *d)
{
	uint64_t since[THREADS] = {0}, got = 0;
	int has = -1;

	n_events = 0;
	memset(truth, 0, sizeof(truth));
	for (uint64_t m = 1; m < MOMENTS; m++) {
		uint32_t t = throw_dice(d, THREADS);

		if (has == (int)t) {
			events[n_events++] = (struct event){false, t, T(got), T(m)};
			has = -1;
		} else if (!since[t]) {
			since[t] = m;
		}
		t = throw_dice(d, THREADS);
		if (has < 0 && since[t] && since[t] < m) {
			events[n_events++] = (struct event){true, t, T(since[t]), T(m)};
			since[t] = 0;
			has = (int)t;
			got = m;
		}
		for (uint32_t w = 0; w < THREADS && has >= 0; w++)
			if (since[w] && m + 1 < MOMENTS && w != (uint32_t)has)
				truth[w][has] += ENOUGH;
	}
	if (has >= 0)
		events[n_events++] = (struct event){false, (uint32_t)has, T(got), T(MOMENTS - 1)};
	for (uint32_t w = 0; w < THREADS; w++) /* never over: the agent gets an end of the thread */
		if (since[w])
			events[n_events++] = (struct event){true, w, T(since[w]), T(MOMENTS - 1)};
}

static void shuffle(struct dice *d)
{
	for (size_t i = n_events; i > 1; i--) {
		const size_t k = throw_dice(d, (uint32_t)i);
		const struct event e = events[k];

		events[k] = events[i - 1];
		events[i - 1] = e;
	}
}

START_TEST(at_random)
{
	struct dice d = {.state = (uint64_t)_i + 1};
	const enum lock_hold how = _i % 2 ? LOCK_SINCE_THEN : LOCK_UNTIL_THEN;

	play(&d);
	shuffle(&d);
	for (size_t i = 0; i < n_events; i++) {
		const struct event *e = &events[i];

		if (e->waits)
			waited(e->t, e->from, e->to);
		else
			held(e->t, how, e->from, e->to);
		if (!throw_dice(&d, 50)) /* too early for all of it */
			locks_settle(all, T(0));
	}
	locks_settle(all, UINT64_MAX);
	for (uint32_t w = 0; w < THREADS; w++)
		for (uint32_t h = 0; h < THREADS; h++)
			ck_assert_uint_eq(ticks[w][h], truth[w][h]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("locks");
	TCase *t = tcase_create("locks");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, the_part_in_which_another_one_had_it, 0, 2);
	tcase_add_test(t, a_lock_that_is_free_makes_nobody_wait);
	tcase_add_test(t, begin_is_not_known);
	tcase_add_test(t, told_too_late);
	tcase_add_test(t, late_for_its_turn);
	tcase_add_test(t, what_comes_later_is_waited_for);
	tcase_add_test(t, much_is_kept_for_as_long_as_it_is_wanted);
	tcase_add_test(t, more_than_is_kept);
	tcase_add_test(t, steps_are_limited);
	tcase_add_test(t, a_list_that_was_long_is_not_kept);
	tcase_add_test(t, little_is_new);
	tcase_add_loop_test(t, at_random, 0, 40);
	suite_add_tcase(s, t);
	return run_suite(s);
}
