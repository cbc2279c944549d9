/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that do jobs together: each job once, and all before team_run() returns. */
#include <check.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/readers/team.h"
#include "shm/atomic.h"
#include "t/lib/suite.h"

#define JOBS 3000u

static struct team *team;
static uint32_t times[JOBS], tids[JOBS];

static void setup(void)
{
	team = team_new();
	memset(times, 0, sizeof(times));
}

static void teardown(void)
{
	team_free(team);
}

static void note(void *ctx, size_t i)
{
	times[i] += *(const uint32_t *)ctx; /* plain: nobody else has this job */
	tids[i] = (uint32_t)syscall(SYS_gettid);
}

static void run(size_t n, uint32_t add)
{
	team_run(team, n, note, &add);
}

/* Different threads that did the first n jobs. */
static unsigned helpers(size_t n)
{
	unsigned different = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (tids[k] != tids[i])
			k++;
		different += k == i;
	}
	return different;
}

START_TEST(one_needs_no_thread)
{
	ck_assert_uint_eq(team_size(team), 1);
	run(10, 1);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_uint_eq(tids[i], (uint32_t)getpid());
	ck_assert_int_eq(team_resize(team, 0), 0);
	ck_assert_uint_eq(team_size(team), 1);
	run(0, 1);
}
END_TEST

/* Of few jobs and of many, again and again, with all sizes of the team. */
START_TEST(each_job_once)
{
	uint32_t sum[JOBS] = {0};

	for (unsigned round = 0; round < 400; round++) {
		const size_t n = round % 50 ? round % 7 : JOBS - round;

		ck_assert_int_eq(team_resize(team, 1 + round % 5), 0);
		ck_assert_uint_eq(team_size(team), 1 + round % 5);
		run(n, round);
		for (size_t i = 0; i < n; i++)
			sum[i] += round;
		ck_assert_int_eq(memcmp(sum, times, sizeof(sum)), 0);
	}
}
END_TEST

static uint32_t arrived;

/* Ends when as many are in a job at the same time. */
static void meet(void *ctx, size_t i)
{
	const uint32_t all = *(const uint32_t *)ctx;

	tids[i] = (uint32_t)syscall(SYS_gettid);
	add_relaxed_u32(&arrived, 1);
	while (load_acquire(&arrived) < all)
		sched_yield();
}

/* Waits until the thread does, unless it is this one. */
static void sleeps(uint32_t tid)
{
	char path[64], state = 'R';

	snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
	while (state != 'S' && tid != (uint32_t)getpid()) {
		FILE *f = fopen(path, "r");

		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
		fclose(f);
		sched_yield();
	}
}

/* Whether they still look for jobs or sleep. */
START_TEST(side_by_side)
{
	uint32_t all = 4;

	ck_assert_int_eq(team_resize(team, all), 0);
	for (unsigned round = 0; round < 20; round++) {
		arrived = 0;
		team_run(team, all, meet, &all);
		ck_assert_uint_eq(helpers(all), all);
		for (unsigned i = 0; i < all && round == 10; i++)
			sleeps(tids[i]);
	}
}
END_TEST

static uint32_t cpus[4], nices[4];
static sigset_t masks[4];

static void look(void *ctx, size_t i)
{
	cpu_set_t set;

	meet(ctx, i);
	sched_getaffinity(0, sizeof(set), &set);
	cpus[i] = (uint32_t)CPU_COUNT(&set);
	nices[i] = (uint32_t)getpriority(PRIO_PROCESS, 0);
	sigprocmask(SIG_BLOCK, NULL, &masks[i]);
}

/* What a signal does is for the thread that expects it. */
START_TEST(like_the_one_that_makes_them)
{
	uint32_t all = 4;
	cpu_set_t one;

	ck_assert_int_eq(team_resize(team, all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	ck_assert_int_eq(setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1), 0);
	team_follow(team);
	arrived = 0;
	team_run(team, all, look, &all);
	for (unsigned i = 0; i < all; i++) {
		ck_assert_uint_eq(cpus[i], 1);
		ck_assert_uint_eq(nices[i], (uint32_t)getpriority(PRIO_PROCESS, 0));
		ck_assert_int_eq(sigismember(&masks[i], SIGTERM), tids[i] != (uint32_t)getpid());
		ck_assert_int_eq(sigismember(&masks[i], SIGUSR1), tids[i] != (uint32_t)getpid());
	}
}
END_TEST

/* Where no thread can be made, those that there are do all. */
START_TEST(with_no_more_threads)
{
	struct rlimit memory;
	int error;

	ck_assert_int_eq(getrlimit(RLIMIT_AS, &memory), 0);
	memory.rlim_cur = 1 << 20; /* less than there is already: no stack for a thread */
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &memory), 0);
	error = team_resize(team, 5);
	memory.rlim_cur = memory.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &memory), 0);
	ck_assert_int_eq(error, -EAGAIN);
	ck_assert_uint_eq(team_size(team), 1);
	run(100, 1);
	for (unsigned i = 0; i < 100; i++)
		ck_assert_uint_eq(times[i], 1);
	ck_assert_int_eq(team_resize(team, 3), 0);
	ck_assert_uint_eq(team_size(team), 3);
}
END_TEST

/* A child of fork() has no threads, and does not wait for them. */
START_TEST(in_a_child)
{
	int status;
	pid_t child;

	ck_assert_int_eq(team_resize(team, 4), 0);
	run(20, 1);
	child = fork();
	if (!child) {
		run(20, 1);
		team_resize(team, 8);
		run(20, 1);
		team_follow(team);
		team_free(team);
		_exit(times[0] == 3 && times[19] == 3 && tids[7] == (uint32_t)getpid() ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	run(20, 1);
	ck_assert_uint_eq(times[19], 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("team");
	TCase *c = tcase_create("team");
	const TTest *const tests[] = {one_needs_no_thread, each_job_once, side_by_side,
		like_the_one_that_makes_them, with_no_more_threads, in_a_child};

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
