/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills its ring while nobody reads it: app-blocked WHAT CALLS. It says `ready' and
 * goes on when it has read a line.
 *   burst    main > outer > burst, which calls tiny() so often
 *   signal   the same, while a timer's handler makes calls, too
 *   threads  three threads do the same
 * It prints what outer() took by the clock, in seconds, for each thread.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static __thread volatile long sink;
static long calls;

UNTRACED static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

KEEP static void tiny(void)
{
	sink++;
}

KEEP static void burst(void)
{
	for (long i = 0; i < calls; i++)
		tiny();
}

KEEP static void outer(void)
{
	burst();
}

UNTRACED static void *run(void *unused)
{
	double from = now();

	outer();
	printf("%.6f\n", now() - from);
	return unused;
}

static pthread_barrier_t ready, go;

/* It has its ring when it waits. */
UNTRACED static void *thread(void *unused)
{
	tiny();
	pthread_barrier_wait(&ready);
	pthread_barrier_wait(&go);
	return run(unused);
}

KEEP static void ticked(int number)
{
	sink += number;
}

int main(int argc, char **argv)
{
	struct itimerval often = {{0, 1000}, {0, 1000}};
	pthread_t t[3];
	char line[80];

	if (argc != 3)
		return 1;
	calls = atol(argv[2]);
	pthread_barrier_init(&ready, NULL, 4);
	pthread_barrier_init(&go, NULL, 4);
	for (int i = 0; i < 3 && !strcmp(argv[1], "threads"); i++)
		pthread_create(&t[i], NULL, thread, NULL);
	if (!strcmp(argv[1], "threads"))
		pthread_barrier_wait(&ready);
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (!strcmp(argv[1], "signal")) {
		signal(SIGALRM, ticked);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	if (strcmp(argv[1], "threads") != 0) {
		run(NULL);
		return 0;
	}
	pthread_barrier_wait(&go);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
