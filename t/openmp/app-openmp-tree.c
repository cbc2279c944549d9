/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-openmp-tree CASE: tells on stdout, for each implicit task, the numbers of
 * its ancestors and its own, and the system thread that ran it, as "0.2.1 TID";
 * and other cases whose parallel regions have known numbers.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))
#define KEEP	 __attribute__((noinline))

static UNTRACED void tell(void)
{
	char line[200] = "0";
	size_t n = 1;

	for (int level = 1; level <= omp_get_level(); level++)
		n += (size_t)snprintf(
			line + n, sizeof(line) - n, ".%d", omp_get_ancestor_thread_num(level));
	snprintf(line + n, sizeof(line) - n, " %ld\n", (long)syscall(SYS_gettid));
	if (write(1, line, strlen(line)) < 0)
		_exit(4);
}

static UNTRACED void rest(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Threads of a team that have come to where they wait: on a busy machine they may come late. */
static int there;

static UNTRACED void arrive(void)
{
	__atomic_fetch_add(&there, 1, __ATOMIC_RELEASE);
}

static UNTRACED void await(int n)
{
	while (__atomic_load_n(&there, __ATOMIC_ACQUIRE) < n)
		rest(1);
}

/* As in the description of Vftrace's tree of threads. */
KEEP int foo(int level)
{
#pragma omp parallel num_threads(2)
	{
		tell();
		if (level < 2 && omp_get_thread_num() == 1)
			foo(level + 1);
	}
	return 1;
}

static void seed(void)
{
	omp_set_max_active_levels(4);
	for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(4)
		{
			tell();
			if (omp_get_thread_num() % 2 == 0)
				foo(1);
		}
	}
}

/* Regions that are not active, and regions that are: workers have new places. */
static void reused(void)
{
	for (int n = 1; n < 6; n++) {
#pragma omp parallel num_threads(n)
		tell();
	}
	omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(3)
		tell();
		tell();
	}
}

KEEP void unbalanced(void)
{
	for (int i = 0; i < 2; i++) {
		there = 0;
#pragma omp parallel num_threads(4)
		if (omp_get_thread_num() != 2) {
			arrive();
		} else {
			await(3);
			rest(60);
		}
	}
}

KEEP void at_the_barrier(void)
{
	there = 0;
#pragma omp parallel num_threads(3)
	{
		if (omp_get_thread_num()) {
			rest(10);
			arrive();
		} else {
			await(2);
			rest(60);
		}
#pragma omp barrier
		rest(10);
	}
}

KEEP void some_tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 10; i++) {
#pragma omp task
		rest(2);
	}
}

static void numbers(void)
{
	unbalanced();
	at_the_barrier();
	some_tasks();
}

KEEP void leaf(void)
{
}

/* The first thread tells of its team and of little else, the others of much. */
KEEP void silent(void)
{
#pragma omp parallel num_threads(3)
	{
		if (omp_get_thread_num())
			for (int i = 0; i < 300000; i++)
				leaf();
		else
			rest(100);
	}
}

KEEP void small(void)
{
#pragma omp parallel num_threads(4)
	leaf();
}

/* Runtimes that keep no threads for inner teams make thousands of them here. */
static void churn(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(4)
	for (int i = 0; i < 300; i++)
		small();
}

static void killed(void)
{
#pragma omp parallel num_threads(3)
	{
		leaf();
#pragma omp barrier
		if (omp_get_thread_num() == 1)
			kill(getpid(), SIGKILL);
		rest(5000);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"seed", seed}, {"reused", reused}, {"numbers", numbers}, {"silent", silent},
		{"churn", churn}, {"killed", killed}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	return 2;
}
