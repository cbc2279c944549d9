/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that cost too much to trace: app-budget WHAT SECONDS [THREADS].
 *   loop     work() calls tiny() again and again, and kept() as often
 *   deep     sink() is entered, calls itself, and works on for as long: it is open, in
 *            several frames, when it is switched off
 *   fork     `loop', then a child of fork does the same
 *   pause    `loop' with a pause in each turn
 * With THREADS all of them do so. It prints how often each function was called, and
 * how many seconds passed in the first sink().
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vftrace.h"

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

enum { WORK, TURN, TINY, KEPT, SINK, FUNCTIONS };
static const char *const names[FUNCTIONS] = {"work", "turn", "tiny", "kept", "sink"};
static uint64_t totals[FUNCTIONS];
static __thread uint64_t count[FUNCTIONS];
static __thread volatile uint64_t value;
static const char *what;
static double seconds, in_sink;

UNTRACED static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

KEEP static void tiny(void)
{
	count[TINY]++;
	value++;
}

KEEP static void kept(void)
{
	count[KEPT]++;
	value++;
}

/* Not so often that it would cost much. */
KEEP static void turn(void)
{
	count[TURN]++;
	if (!strcmp(what, "pause"))
		vftrace_pause();
	for (int i = 0; i < 10000; i++)
		tiny();
	if (!strcmp(what, "pause"))
		vftrace_resume();
	for (int i = 0; i < 10000; i++)
		kept();
	for (int i = 0; i < 10000; i++)
		tiny();
}

KEEP static void work(double until)
{
	count[WORK]++;
	do
		turn();
	while (now() < until);
}

/* depth 3 lasts; those below it are open meanwhile. */
KEEP static void sink(int depth, double until)
{
	double begin = depth ? 0 : now();

	count[SINK]++;
	if (depth == 3)
		do
			for (int i = 0; i < 10000; i++)
				sink(9, 0);
		while (now() < until);
	else if (depth < 3)
		sink(depth + 1, until);
	if (depth < 3)
		sink(9, 0);
	if (!depth)
		in_sink = now() - begin;
}

KEEP static void *run(void *unused)
{
	double until = now() + seconds;

	if (!strcmp(what, "deep"))
		sink(0, until);
	else
		work(until);
	for (int i = 0; i < FUNCTIONS; i++) {
		__atomic_fetch_add(&totals[i], count[i], __ATOMIC_RELAXED);
		count[i] = 0;
	}
	return unused;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[3]) : 0;
	pthread_t t[16];

	if (argc < 3 || threads > 16)
		return 1;
	what = argv[1];
	seconds = atof(argv[2]);
	for (int i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, run, NULL);
	run(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < FUNCTIONS; i++)
		printf("%s %llu\n", names[i], (unsigned long long)totals[i]);
	printf("in_sink %.6f\n", in_sink);
	fflush(stdout);
	if (!strcmp(what, "fork")) {
		pid_t pid = fork();

		memset(totals, 0, sizeof(totals));
		if (!pid) {
			run(NULL);
			for (int i = 0; i < FUNCTIONS; i++)
				printf("%s %llu\n", names[i], (unsigned long long)totals[i]);
			exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
