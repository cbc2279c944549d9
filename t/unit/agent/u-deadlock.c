/* SPDX-License-Identifier: BSD-3-Clause */
/* Call stacks of a program that stands still: told of once they are written, and not before. */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/deadlock.c"
#include "t/lib/suite.h"

static char dir[] = "/tmp/u-deadlock.XXXXXX";
static struct agent a;

static void setup(void)
{
	static char name[] = "node7", base[] = "stands";

	a = (struct agent){.host = {.conf = conf_default(),
				   .name = name,
				   .output_directory = dir,
				   .epoll = -1,
				   .listener = -1,
				   .signals = -1}};
	a.host.conf->agent_deadlock_s = 5;
	a.host.conf->outfile_basename = base;
	clocks_init(&a.host.clocks, "raw");
	a.host.symbols = symcache_new(&a.host);
}

static pid_t somebody_who_writes(void)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	return a.copies[a.n_copies++] = child;
}

START_TEST(they_wait_for_the_snapshot_before)
{
	const pid_t before = somebody_who_writes();
	int status;

	deadlock_report(&a);
	ck_assert_uint_eq(a.host.n_warnings, 0);
	ck_assert_uint_eq(a.n_copies, 1);
	ck_assert_double_le(write_wanted_stacks(&a), LATE_S);
	ck_assert_uint_eq(a.host.n_warnings, 0);
	kill(before, SIGKILL);
	while (!a.host.n_warnings) {
		a.deadlock->stacks_due = 1;
		write_wanted_stacks(&a);
	}
	ck_assert_uint_eq(a.n_copies, 1);
	ck_assert_int_ne(a.copies[0], before);
	ck_assert_ptr_nonnull(strstr(a.host.warnings[0], "their call stacks are in"));
	ck_assert_uint_eq(a.deadlock->stacks_due, 0);
	kill(a.copies[0], SIGKILL);
	ck_assert_int_eq(waitpid(a.copies[0], &status, 0), a.copies[0]);
}
END_TEST

START_TEST(they_are_not_written_if_it_ends_meanwhile)
{
	const pid_t before = somebody_who_writes();

	deadlock_report(&a);
	ck_assert_uint_ne(a.deadlock->stacks_due, 0);
	deadlock_tick(&a); /* nobody lives */
	ck_assert_uint_eq(a.deadlock->stacks_due, 0);
	kill(before, SIGKILL);
}
END_TEST

static unsigned forks;

static void count_fork(void)
{
	forks++;
}

/* It may have begun long ago, and does not know of what was since. */
START_TEST(who_waits_has_a_snapshot_of_now)
{
	const struct timespec moment = {.tv_nsec = 50000000};
	const pid_t before = fork();

	if (!before) {
		nanosleep(&moment, NULL);
		_exit(0);
	}
	a.copies[a.n_copies++] = before;
	ck_assert_int_eq(pthread_atfork(NULL, count_fork, NULL), 0);
	snapshot_so_far(&a, false);
	ck_assert_uint_eq(forks, 0);
	snapshot_so_far(&a, true);
	ck_assert_uint_eq(forks, 1);
	ck_assert_uint_eq(a.n_copies, 0);
}
END_TEST

/* As the ranks are ending by the first of two signals nothing hangs any more. */
START_TEST(the_first_of_two_signals_tells)
{
	a.standstill = xstrdup("as SIGTERM came, there was a deadlock");
	a.asked_at = clock_raw_ns();
	a.asked_to_end = SIGTERM;
	deadlock_note(&a);
	ck_assert_ptr_nonnull(a.standstill);
	ck_assert_int_eq(a.asked_to_end, 0);
	a.asked_at -= (uint64_t)(1e9 * SAME_S); /* the program has gone on */
	a.asked_to_end = SIGTERM;
	deadlock_note(&a);
	ck_assert_ptr_null(a.standstill);
	ck_assert(deadlock_was_asked(&a));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("deadlock");
	TCase *c = tcase_create("deadlock");
	char command[64];
	int failed;

	if (!mkdtemp(dir))
		return 99;
	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, they_wait_for_the_snapshot_before);
	tcase_add_test(c, they_are_not_written_if_it_ends_meanwhile);
	tcase_add_test(c, who_waits_has_a_snapshot_of_now);
	tcase_add_test(c, the_first_of_two_signals_tells);
	suite_add_tcase(s, c);
	failed = run_suite(s);
	snprintf(command, sizeof(command), "rm -rf %s", dir); /* a copy may have begun a file */
	return system(command) || failed;
}
