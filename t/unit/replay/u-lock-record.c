/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of locks, made by hand for two threads: from when to when a thread has a lock, and that
 * it has none where its records do not say so.
 */
#include <check.h>
#include <string.h>
#include "nodeagent/replay/openmp/locks.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/replay.h"
#include "shm/record.h"
#include "t/lib/suite.h"

#define WORK 0x30000u

enum { CRITICAL, WAIT }; /* regions */

#define START	 ((uint64_t)3 << RECORD_TIME_BITS)
#define T(k)	 ((uint64_t)(k)*LOCKS_LEAST_TICKS)
#define LOCK(n)	 ((uint64_t)(n) << 32)
#define IN_FRAME OPENMP_HOLDS

static struct openmp *teams;
static struct locks *locks;
static struct replay *r[2];
static uint64_t now; /* since START */
static uint64_t ticks[2];

static bool is_barrier(const void *ctx, uint32_t region)
{
	return false;
}

static void found(void *ctx, const struct lock_blame *b)
{
	ck_assert_uint_ne(b->waiter.thread, b->holder.thread);
	ticks[b->waiter.thread] += b->ticks;
}

static void setup(void)
{
	teams = openmp_new(is_barrier, NULL);
	locks = locks_new(found, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		r[i] = replay_new(START, NULL, NULL);
		replay_set_openmp(r[i], teams, i);
		replay_set_locks(r[i], locks);
		ticks[i] = 0;
	}
	now = 0;
}

static void teardown(void)
{
	for (int i = 0; i < 2; i++)
		replay_free(r[i]);
	locks_free(locks);
	openmp_free(teams);
}

/* One record in a block of its own, read at once. */
static void put(int t, uint64_t w, uint64_t a, uint64_t b)
{
	static const struct replay_epoch none;
	const uint64_t block[BLOCK_WORDS] = {record_sync_word(START), w, a, b};

	ck_assert_ptr_null(replay_block(r[t], block, 0, BLOCK_WORDS, &none, START + now));
}

static void timed(int t, uint64_t exit_bit, uint32_t id, uint64_t a)
{
	put(t, record_word(START + now, exit_bit, id), a, 0);
}

static void wait_from(int t, uint64_t from, uint64_t to, uint64_t bits)
{
	now = from;
	timed(t, 0, RECORD_WAIT, OPENMP_MARK | bits | WAIT);
	now = to;
	timed(t, RECORD_EXIT, RECORD_WAIT, OPENMP_MARK | bits | WAIT);
}

static void unlock(int t, uint64_t at, uint64_t lock)
{
	now = at;
	put(t, RECORD_UNLOCK, lock, OPENMP_MARK | (START + at));
}

static void critical(int t, uint64_t at, uint64_t exit_bit)
{
	now = at;
	timed(t, exit_bit, RECORD_ID_REGION + CRITICAL, 0);
}

static void waited(uint64_t t0, uint64_t t1)
{
	locks_settle(locks, UINT64_MAX);
	ck_assert_uint_eq(ticks[0], t0);
	ck_assert_uint_eq(ticks[1], t1);
	ck_assert(!locks_cut(locks));
}

START_TEST(from_wait_to_unlock)
{
	wait_from(0, T(1), T(2), LOCK(7));
	wait_from(0, T(3), T(4), LOCK(8));
	unlock(0, T(20), 7);
	unlock(0, T(21), 8);
	wait_from(1, T(1), T(20), LOCK(7));
	waited(0, T(18));
}
END_TEST

/* A lock of which nothing is told, as it is a nest lock that the thread has already. */
START_TEST(once_more)
{
	wait_from(0, T(1), T(2), LOCK(7));
	wait_from(0, T(10), T(11), 0);
	unlock(0, T(12), 7);
	unlock(0, T(20), 7);
	wait_from(1, T(5), T(20), LOCK(7));
	waited(0, T(15));
}
END_TEST

START_TEST(in_the_frame_that_opens_next)
{
	wait_from(0, T(1), T(2), LOCK(7) | IN_FRAME);
	critical(0, T(3), 0);
	timed(0, 0, WORK, 0);
	now = T(9);
	timed(0, RECORD_EXIT, WORK, 0);
	critical(0, T(10), RECORD_EXIT);
	timed(0, 0, WORK, 0);
	now = T(30);
	timed(0, RECORD_EXIT, WORK, 0);
	wait_from(1, T(1), T(30), LOCK(7) | IN_FRAME);
	waited(0, T(8));
}
END_TEST

static void lost(int t)
{
	timed(t, 0, RECORD_LOST, 1);
}

static void work(int t)
{
	timed(t, 0, WORK, 0);
	now += T(9);
	timed(t, RECORD_EXIT, WORK, 0);
}

static void another_wait(int t)
{
	wait_from(t, now, now + 1, 0);
}

static void end(int t)
{
	timed(t, RECORD_EXIT, WORK, 0);
}

/* The frame is missing: those behind it have no lock. */
START_TEST(without_its_frame)
{
	static void (*const between[])(int t) = {work, lost, another_wait, end};

	now = 0;
	timed(0, 0, WORK, 0);
	wait_from(0, T(1), T(2), LOCK(7) | IN_FRAME);
	between[_i](0);
	critical(0, now, 0);
	critical(0, now + T(9), RECORD_EXIT);
	wait_from(1, T(1), T(30), LOCK(7) | IN_FRAME);
	waited(0, 0);
}
END_TEST

/* A condition variable: the thread that signals need not have waited, and has had it before. */
START_TEST(nothing_was_got)
{
	wait_from(0, T(10), T(12), LOCK(7) | OPENMP_TURN);
	unlock(0, T(20), 7);
	wait_from(1, T(1), T(20), LOCK(7) | OPENMP_TURN);
	waited(0, T(19));
}
END_TEST

START_TEST(nonsense)
{
	wait_from(0, T(1), T(2), LOCK(7));
	put(0, RECORD_UNLOCK, 7, OPENMP_MARK | 1);
	put(0, RECORD_UNLOCK, 7, OPENMP_MARK | (START + ((uint64_t)1 << 40)));
	put(0, RECORD_UNLOCK, 0, OPENMP_MARK | (START + now));
	put(0, RECORD_UNLOCK, 7, 0);
	for (unsigned i = 0; i < 1000; i++) { /* all are open */
		wait_from(0, now, now + 1, LOCK(i + 8) | IN_FRAME);
		put(0, record_word(START + now, 0, RECORD_ID_REGION + i), 0, 0);
	}
	replay_end(r[0], START + T(40));
	wait_from(1, T(1), T(40), LOCK(7));
	waited(0, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lock-record");
	TCase *t = tcase_create("lock-record");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, from_wait_to_unlock);
	tcase_add_test(t, once_more);
	tcase_add_test(t, in_the_frame_that_opens_next);
	tcase_add_loop_test(t, without_its_frame, 0, 4);
	tcase_add_test(t, nothing_was_got);
	tcase_add_test(t, nonsense);
	suite_add_tcase(s, t);
	return run_suite(s);
}
