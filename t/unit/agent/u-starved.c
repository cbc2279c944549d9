/* SPDX-License-Identifier: BSD-3-Clause */
/* Time without a CPU, of this process and of none. */
#include "nodeagent/agent/overhead/starved.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "t/lib/suite.h"

START_TEST(a_share_is_the_time_with_a_cpu)
{
	ck_assert_double_eq(starved_share(5, 0, 0), 1);
	ck_assert_double_eq(starved_share(5, 10, 5), 0.25);
}
END_TEST

/* Its time on a CPU is only known later. */
START_TEST(without_cpu_time_nothing_is_said)
{
	ck_assert_double_eq(starved_share(0, 10, 0), 1);
	ck_assert_double_gt(starved_share(1e-9, 1e9, 0), 0);
}
END_TEST

START_TEST(of_no_process_nothing_is_known)
{
	ck_assert_uint_eq(starved_ns(-1), 0);
	ck_assert_uint_eq(starved_ns(0), 0);
	ck_assert_uint_eq(starved_ns(0x7fffffff), 0);
}
END_TEST

/* On one processor with another one that wants it, one of both has to wait. */
START_TEST(who_shares_a_cpu_waits_for_it)
{
	cpu_set_t cpus;
	pid_t other;

	if (access("/proc/self/schedstat", R_OK))
		return; /* the kernel does not tell */
	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (int i = 0, found = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &cpus) && found++)
			CPU_CLR(i, &cpus);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	other = fork();
	ck_assert_int_ge(other, 0);
	while (!other && getppid() != 1)
		;
	if (!other)
		_exit(0);
	while (starved_ns(getpid()) + starved_ns(other) < 20000000)
		;
	kill(other, SIGKILL);
	ck_assert_int_eq(waitpid(other, NULL, 0), other);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("starved");
	TCase *t = tcase_create("starved");

	tcase_add_test(t, a_share_is_the_time_with_a_cpu);
	tcase_add_test(t, without_cpu_time_nothing_is_said);
	tcase_add_test(t, of_no_process_nothing_is_known);
	tcase_add_test(t, who_shares_a_cpu_waits_for_it);
	suite_add_tcase(s, t);
	return run_suite(s);
}
