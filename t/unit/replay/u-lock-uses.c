/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the C library of a process: what is summed up, and what makes no sense. */
#include <check.h>
#include "nodeagent/replay/openmp/lock-uses.h"
#include "t/lib/suite.h"

static struct lock_uses *uses;

static void setup(void)
{
	uses = lock_uses_new();
}

static void teardown(void)
{
	lock_uses_free(uses);
}

static bool define(uint32_t number, uint32_t kind, uint32_t nth)
{
	return lock_uses_define(uses,
		&(struct wire_lock){
			.number = number, .kind = kind, .nth = nth, .address = 0x1000 + number});
}

static const struct lock_use *use_of(uint32_t number)
{
	size_t n;
	const struct lock_use *u = lock_uses_all(uses, &n);

	for (size_t i = 0; i < n; i++)
		if (u[i].number == number)
			return &u[i];
	return NULL;
}

START_TEST(waits_are_summed_up_by_lock)
{
	ck_assert(define(100, LOCK_MUTEX, 1) && define(101, LOCK_SEMAPHORE, 1));
	lock_uses_waited(uses, 100, 7, 20);
	lock_uses_waited(uses, 100, 8, 30);
	lock_uses_waited(uses, 101, 9, 5);
	lock_uses_waited(uses, 102, 9, 1000); /* nobody has told of it */
	ck_assert_uint_eq(use_of(100)->calls, 2);
	ck_assert_uint_eq(use_of(100)->ticks, 50);
	ck_assert_uint_eq(use_of(100)->longest, 30);
	ck_assert_uint_eq(use_of(100)->first, 7);
	ck_assert_uint_eq(use_of(101)->ticks, 5);
	ck_assert_ptr_null(use_of(102));
	ck_assert_uint_eq(lock_uses_kind(uses, 101), LOCK_SEMAPHORE);
	ck_assert_uint_eq(lock_uses_kind(uses, 102), LOCK_KINDS_END);
	ck_assert_uint_eq(lock_uses_kind(NULL, 101), LOCK_KINDS_END);
}
END_TEST

START_TEST(beyond_so_many_paths_holders_are_one)
{
	uint64_t ticks = 0;

	ck_assert(define(100, LOCK_RWLOCK, 1));
	for (uint32_t path = 1; path <= 3 * LOCK_HOLDERS; path++)
		lock_uses_held(uses, 100, path, 1, path);
	lock_uses_held(uses, 100, 1, 1, 1000);
	ck_assert_uint_eq(use_of(100)->n_holders, LOCK_HOLDERS);
	ck_assert_uint_eq(use_of(100)->holders[0].ticks, 1001);
	ck_assert_uint_eq(use_of(100)->holders[LOCK_HOLDERS - 1].path, 0);
	for (uint32_t i = 0; i < LOCK_HOLDERS; i++)
		ticks += use_of(100)->holders[i].ticks;
	ck_assert_uint_eq(ticks, 1000 + 3 * LOCK_HOLDERS * (3 * LOCK_HOLDERS + 1) / 2);
}
END_TEST

START_TEST(what_makes_no_sense_is_refused)
{
	ck_assert(!define(100, LOCK_KINDS_END, 1));
	ck_assert(!define(0, LOCK_MUTEX, 1));
	ck_assert(!define(lock_others(LOCK_THREAD), LOCK_THREAD, 1));
	ck_assert(!define(OPENMP_LOCKS + 1, LOCK_MUTEX, 1));
	for (uint32_t i = 0; i < LOCKS_NAMED_MOST; i++)
		ck_assert(define(100 + i, LOCK_MUTEX, i + 1));
	ck_assert(define(100, LOCK_MUTEX, 1)); /* told twice */
	ck_assert(!define(99, LOCK_MUTEX, 1));
}
END_TEST

START_TEST(all_others_of_a_kind_are_one)
{
	lock_uses_waited(uses, lock_others(LOCK_SPIN), 3, 4);
	lock_uses_waited(uses, lock_others(LOCK_SPIN), 4, 5);
	ck_assert_uint_eq(use_of(lock_others(LOCK_SPIN))->kind, LOCK_SPIN);
	ck_assert_uint_eq(use_of(lock_others(LOCK_SPIN))->ticks, 9);
	ck_assert_uint_eq(use_of(lock_others(LOCK_SPIN))->address, 0);
}
END_TEST

START_TEST(numbers_of_kinds_and_near_addresses_differ)
{
	for (uint64_t at = 0x7f0000001000; at < 0x7f0000001000 + 400; at += 4)
		for (unsigned a = 0; a < LOCK_KINDS_END; a++)
			for (unsigned b = 0; b < a; b++)
				ck_assert_uint_ne(lock_number(at, a), lock_number(at, b));
	ck_assert_uint_ne(lock_number(0x1000, LOCK_MUTEX), lock_number(0x1004, LOCK_MUTEX));
	ck_assert_uint_gt(lock_number(0, LOCK_MUTEX), LOCK_KINDS_END);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lock-uses");
	TCase *tc = tcase_create("uses");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, waits_are_summed_up_by_lock);
	tcase_add_test(tc, beyond_so_many_paths_holders_are_one);
	tcase_add_test(tc, what_makes_no_sense_is_refused);
	tcase_add_test(tc, all_others_of_a_kind_are_one);
	tcase_add_test(tc, numbers_of_kinds_and_near_addresses_differ);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
