/* SPDX-License-Identifier: BSD-3-Clause */
/* How many CPUs have nothing to do, from what the kernel says of all. */
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/readers/idle.h"
#include "t/lib/suite.h"

static char path[] = "/tmp/u-idle.XXXXXX";
static struct idle *idle;
static int cpu; /* the only one that may be used */

static bool is_large; /* the machine: as many CPUs as there may be on some */
#define LARGE_CPU 1500

/* In place of the C library's. */
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	if (!is_large)
		return syscall(SYS_sched_getaffinity, pid, bytes, set) < 0 ? -1 : 0;
	if (bytes < 2048 / 8) {
		errno = EINVAL;
		return -1;
	}
	CPU_SET_S(LARGE_CPU, bytes, set);
	return 0;
}

static void setup(void)
{
	const int fd = mkstemp(path);
	cpu_set_t one;

	ck_assert_int_ge(fd, 0);
	close(fd);
	cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	idle = idle_new(path);
}

static void teardown(void)
{
	idle_free(idle);
	unlink(path);
}

/* busy, idle, waiting: clock ticks of this CPU; another one is always idle. */
static void write_stat(unsigned busy, unsigned free, unsigned waiting)
{
	FILE *f = fopen(path, "w");

	fprintf(f, "cpu  1 2 3 4 5 6 7 8 9 10\n");
	fprintf(f, "cpu%d 0 0 0 %u 0 0 0 0 0 0\n", cpu + 1, 1000 + free + busy + waiting);
	fprintf(f, "cpu%d %u 0 0 %u %u 0 0 0 0 0\n", cpu, busy, free, waiting);
	fprintf(f, "intr 1 2 3\n");
	fclose(f);
}

START_TEST(of_those_that_may_be_used)
{
	write_stat(100, 100, 0);
	idle_begin(idle);
	write_stat(110, 130, 0);
	ck_assert_double_eq_tol(idle_since(idle), 0.75, 1e-9);
	write_stat(200, 100, 0);
	ck_assert_double_eq_tol(idle_since(idle), 0, 1e-9);
	write_stat(100, 110, 10); /* who waits for a disk needs no CPU */
	ck_assert_double_eq_tol(idle_since(idle), 1, 1e-9);
}
END_TEST

START_TEST(where_it_is_not_known)
{
	write_stat(100, 100, 0);
	idle_begin(idle);
	ck_assert_double_eq(idle_since(idle), 0); /* no time has passed */
	write_stat(150, 50, 0);			  /* counters went back */
	ck_assert_double_eq(idle_since(idle), 0);
	unlink(path);
	ck_assert_double_eq(idle_since(idle), 0);
	idle_begin(idle);
	ck_assert_double_eq(idle_since(idle), 0);
	write_stat(100, 100, 0);
	ck_assert_double_eq(idle_since(idle), 0);
}
END_TEST

START_TEST(on_a_machine_with_more_than_1024)
{
	is_large = true;
	cpu = LARGE_CPU;
	write_stat(100, 100, 0);
	idle_begin(idle);
	write_stat(110, 130, 0);
	ck_assert_double_eq_tol(idle_since(idle), 0.75, 1e-9);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("idle");
	TCase *c = tcase_create("idle");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, on_a_machine_with_more_than_1024);
	tcase_add_test(c, of_those_that_may_be_used);
	tcase_add_test(c, where_it_is_not_known);
	suite_add_tcase(s, c);
	return run_suite(s);
}
