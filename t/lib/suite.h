/* SPDX-License-Identifier: BSD-3-Clause */
/* How every unit test runs its suite: TAP on stdout. */
#ifndef VFTR_T_SUITE_H
#define VFTR_T_SUITE_H

#include <check.h>
#include <stdlib.h>

/* Time-outs are for tests that hang, not for a machine that is busy. */
static void __attribute__((constructor)) be_patient(void)
{
	setenv("CK_TIMEOUT_MULTIPLIER", "10", 0);
}

/*
 * Check writes down where each assertion stands that held, to say it if the test then crashes. In a
 * loop of a million that takes longer than all else, so only the first ones are written down, and
 * one line of a loop is not written down twice in a row.
 */
static inline void mark_assertion(const char *file, int line)
{
	static int marked, last;

	if (line == last || marked == 1000)
		return;
	last = line;
	marked++;
	_mark_point(file, line);
}
#define _mark_point(file, line) mark_assertion(file, line)

/* Frees the suite; the exit status: 1 if a test failed. */
static inline int run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}

#endif
