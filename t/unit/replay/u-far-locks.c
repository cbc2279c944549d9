/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of windows that ranks of two nodes had: what those of this one have waited. */
#include <check.h>

#define FAR_LOCKS_MAX	    100u
#define FAR_LOCK_GROUPS_MAX 2u
#define FAR_LOCK_RANKS_MAX  10u
#define FAR_LOCK_LOOKS_MAX  500u
#include "nodeagent/replay/window/far-locks.c"
#include "t/lib/suite.h"

enum { WINDOW = 77, JOB = 5, ERROR = 10, ALL = UINT32_MAX };

static struct far_locks *f;
static uint64_t ticks;
static unsigned calls;
static const char here[2]; /* two processes */

static void setup(void)
{
	f = far_locks_new();
	ticks = calls = 0;
}

static void teardown(void)
{
	far_locks_free(f);
}

static uint32_t world_of(const void *comm, uint32_t rank)
{
	return *(const uint32_t *)comm + 2 * rank;
}

/* An epoch of process p here that gets the lock in MPI_Win_lock. */
static void add(unsigned p, uint64_t window, uint32_t target, bool exclusive, uint64_t began,
	uint64_t got, uint64_t ends)
{
	const uint32_t first = 3;
	struct far_lock l = {.is = {.window = window,
				     .process = (uintptr_t)&here[p],
				     .began = began,
				     .target = target,
				     .exclusive = exclusive},
		.whose = (struct traffic *)(uintptr_t)&here[p],
		.world = p};

	lock_epoch_add(&l.is, LOCK_ASKS,
		&(struct lock_call){.enter = began, .leave = got, .asks = true}, 1);
	lock_epoch_add(&l.is, LOCK_HAS, &(struct lock_call){.enter = got + 1, .leave = got + 2}, 1);
	lock_epoch_add(&l.is, LOCK_ENDS, &(struct lock_call){.enter = ends, .leave = ends + 5}, 1);
	far_locks_add(f, &l, &(struct far_lock_comm){window / 10, JOB, 4, &first, world_of});
}

static void count(void *arg, const struct lock_epoch *a, const struct lock_call *call,
	const struct lock_epoch *b)
{
	(void)arg, (void)a;
	ticks += b->last.enter - call->enter;
	calls++;
}

static void compare(uint32_t target, bool exclusive, uint64_t began, uint64_t had, uint64_t ends)
{
	struct lock_epoch e = {.window = window_identity(WINDOW, JOB),
		.process = UINT64_MAX,
		.target = target,
		.exclusive = exclusive,
		.began = began,
		.had_at = had,
		.last = {.enter = ends, .leave = ends + 5}};

	far_locks_compare(f, &e, ERROR, count, NULL);
}

START_TEST(waits_for_another_node)
{
	add(0, WINDOW, 1, false, 1000, 1500, 1600);
	add(1, WINDOW, 2, true, 1000, 1500, 1600);
	compare(1, true, 900, 950, 1450);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(ticks, 450);
	compare(1, false, 900, 950, 1450);  /* both are shared */
	compare(3, true, 900, 950, 1450);   /* of another target */
	compare(1, true, 100, 150, 900);    /* it was free */
	compare(1, true, 1550, 1700, 1800); /* it comes later */
	ck_assert_uint_eq(calls, 1);
	compare(ALL, true, 900, 950, 1400);
	ck_assert_uint_eq(calls, 3);
	ck_assert_uint_eq(ticks, 450 + 2 * 400);
}
END_TEST

START_TEST(not_known_within_the_error)
{
	struct far_lock *l;

	add(0, WINDOW, 1, true, 1000, 1001, 2000);
	l = &f->locks[0];
	l->is.has = false;
	l->is.had_at = 2005; /* when it had given it back */
	l->is.calls[0] = (struct lock_call){.enter = 1500, .leave = 1900};
	l->is.n = 1;
	compare(1, true, 900, 1996, 1890);
	ck_assert_uint_eq(calls, 0);
	compare(1, true, 900, 1994, 1890);
	ck_assert_uint_eq(calls, 1);
	ck_assert_uint_eq(ticks, 390);
}
END_TEST

START_TEST(forgotten)
{
	add(0, WINDOW, 1, true, 1000, 1500, 1600);
	far_locks_forget(f, (struct traffic *)(uintptr_t)&here[0]);
	compare(1, true, 900, 950, 1450);
	ck_assert_uint_eq(calls, 0);
}
END_TEST

/* One after the other, in no order; only those that meet are looked at. */
START_TEST(many)
{
	size_t n;

	for (unsigned i = 0; i < 200; i++) {
		const uint64_t at = 1000 * (i * 37 % 100 + 1); /* each once, then twice */

		add(i % 2, WINDOW, 1, true, at, at + 500, at + 600);
	}
	far_locks_all(f, &n);
	ck_assert_uint_eq(n, FAR_LOCKS_MAX);
	for (unsigned i = 1; i <= 100; i++)
		compare(1, true, 1000 * i - 100, 1000 * i - 50, 1000 * i + 200);
	ck_assert_uint_eq(calls, 100);
	ck_assert_uint_eq(ticks, 100 * 200);
	ck_assert_uint_le(f->looks, 300);
	for (unsigned i = 0; i < 100; i++) /* one that lies */
		compare(1, true, 0, 1, UINT64_MAX / 4);
	ck_assert_uint_eq(f->looks, FAR_LOCK_LOOKS_MAX);
}
END_TEST

static void count_member(void *arg, uint64_t job, uint32_t world)
{
	ck_assert_uint_eq(job, JOB);
	*(uint64_t *)arg += world;
}

START_TEST(members)
{
	uint64_t sum = 0;
	size_t n;

	add(0, WINDOW, 1, true, 1, 2, 3);
	add(0, WINDOW + 1, 1, true, 1, 2, 3); /* of the same communicator */
	add(0, WINDOW + 10, 1, true, 1, 2, 3);
	add(0, WINDOW + 20, 1, true, 1, 2, 3); /* one too many */
	far_locks_all(f, &n);
	ck_assert_uint_eq(n, 3);
	far_locks_members(f, count_member, &sum);
	ck_assert_uint_eq(sum, 2 * (3 + 5 + 7 + 9));
	ck_assert(far_locks_has(f, 1, JOB, 7));
	ck_assert(!far_locks_has(f, 1, JOB, 8));
	ck_assert(!far_locks_has(f, 1, JOB + 1, 7));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		waits_for_another_node, not_known_within_the_error, forgotten, many, members};
	Suite *s = suite_create("far-locks");
	TCase *c = tcase_create("far-locks");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
