/* SPDX-License-Identifier: BSD-3-Clause */
/* When counted functions are timed again. Times are in ns; CPU time is that of one processor. */
#include "nodeagent/agent/overhead/windows.h"

#include <check.h>
#include "t/lib/suite.h"

#define MS 1000000u

static struct windows w;
static uint64_t now;

static void setup(void)
{
	w = (struct windows){0};
	now = 1;
}

static uint64_t look(uint64_t may, bool heard, unsigned cpu_ms)
{
	now += (uint64_t)cpu_ms * MS;
	return windows_look(&w, may, heard, (double)cpu_ms * MS, now);
}

static void until_open(uint64_t may)
{
	for (int i = 0; !look(may, false, 100); i++)
		ck_assert_int_lt(i, 100);
}

START_TEST(a_window_opens_after_some_time)
{
	ck_assert_uint_eq(look(6, false, 100), 0);
	ck_assert_uint_eq(look(6, false, 100), 0);
	ck_assert(!w.due);
	until_open(6);
	ck_assert_uint_eq(w.open, 6);
	ck_assert(w.due);
}
END_TEST

/* Whatever is called before a process has heard is counted. */
START_TEST(it_is_open_for_a_look_from_when_a_process_has_heard)
{
	until_open(6);
	ck_assert_uint_eq(look(0, false, 20), 6);
	ck_assert_uint_eq(look(0, true, 20), 6);
	ck_assert(w.heard);
	ck_assert_uint_eq(look(0, true, 20), 0);
	ck_assert(!w.heard);
	ck_assert(w.due); /* hooks are to go soon */
	for (int i = 0; i < 3; i++)
		look(6, true, 20);
	ck_assert(!w.due);
}
END_TEST

START_TEST(a_process_that_does_not_hear_is_not_waited_for_long)
{
	until_open(1);
	for (int i = 0; look(0, false, 100); i++)
		ck_assert_int_lt(i, 60);
}
END_TEST

/* Also where a look takes long. */
START_TEST(windows_take_a_twentieth_at_most)
{
	double in = 0, all = 0;

	for (int i = 0; i < 2000; i++) {
		const unsigned ms = w.open ? 70 : 100;

		in += w.open ? ms : 0;
		all += ms;
		look(1, w.open, ms);
	}
	ck_assert(in > 0.01 * all);
	ck_assert(in <= 0.06 * all);
}
END_TEST

START_TEST(where_nothing_is_counted_none_opens)
{
	for (int i = 0; i < 100; i++)
		ck_assert_uint_eq(look(0, true, 100), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("windows");
	TCase *t = tcase_create("windows");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_test(t, a_window_opens_after_some_time);
	tcase_add_test(t, it_is_open_for_a_look_from_when_a_process_has_heard);
	tcase_add_test(t, a_process_that_does_not_hear_is_not_waited_for_long);
	tcase_add_test(t, windows_take_a_twentieth_at_most);
	tcase_add_test(t, where_nothing_is_counted_none_opens);
	suite_add_tcase(s, t);
	return run_suite(s);
}
