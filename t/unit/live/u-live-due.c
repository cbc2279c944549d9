/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a CPU, which are counted when they are over, over the intervals of a view. */
#include <check.h>

#include "nodeagent/live/sample/due.h"
#include "t/lib/suite.h"

/* 2.5 intervals come at once: none has more than all of its time, and nothing is lost */
START_TEST(no_interval_has_more_than_its_time)
{
	uint64_t due = 0;

	ck_assert_uint_eq(due_show(&due, 2500, 1000), 1000);
	ck_assert_uint_eq(due_show(&due, 0, 1000), 1000);
	ck_assert_uint_eq(due_show(&due, 100, 1000), 600);
	ck_assert_uint_eq(due_show(&due, 0, 1000), 0);
}
END_TEST

START_TEST(what_was_before_the_first_look_is_not_shown)
{
	uint64_t due = 0;

	ck_assert_uint_eq(due_show(&due, 5000, 0), 0);
	ck_assert_uint_eq(due_show(&due, 10, 1000), 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("live-due");
	TCase *c = tcase_create("due");

	tcase_add_test(c, no_interval_has_more_than_its_time);
	tcase_add_test(c, what_was_before_the_first_look_is_not_shown);
	suite_add_tcase(s, c);
	return run_suite(s);
}
