/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiny functions of many threads: app-counted FILE THREADS ROUNDS [SLEEP]. one() and two() call
 * tiny() in turns with other(); after each round it sleeps for so many microseconds. Each thread
 * keeps its counts of each path in FILE, which is mapped: they are there whenever the program is
 * killed. A count is raised before the call: the last one of a thread may be missing in a profile.
 * ROUNDS of 0: until there is FILE.end; -N: until it kills itself, after N ms of CPU time.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))
#ifdef __clang__
#define UNTRACED __attribute__((no_instrument_function, xray_never_instrument))
#else
#define UNTRACED __attribute__((no_instrument_function))
#endif

#define THREADS_MAX 64

enum { IN_ONE, IN_TWO, OTHER_IN_ONE, ONE, TWO, PATHS };

static volatile long (*counts)[PATHS];
static __thread volatile long *mine;
static long rounds, pause_us;
static int stop;

APART static void tiny(void)
{
	__asm__ volatile(""); /* or clang leaves its calls out */
}

APART static void other(void)
{
	__asm__ volatile(""); /* or clang leaves its calls out */
}

APART static void one(int n)
{
	for (int i = 0; i < n; i++) {
		mine[IN_ONE]++;
		tiny();
		mine[OTHER_IN_ONE]++;
		other();
	}
}

APART static void two(int n)
{
	for (int i = 0; i < n; i++) {
		mine[IN_TWO]++;
		tiny();
	}
}

static UNTRACED void *run(void *number)
{
	mine = counts[(long)number];
	for (long i = 0; rounds > 0 ? i < rounds : !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
		mine[ONE]++;
		one((int)(i % 100));
		mine[TWO]++;
		two((int)(i % 100));
		if (pause_us)
			usleep((useconds_t)pause_us);
	}
	return NULL;
}

int UNTRACED main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	char end[4096];
	long n = argc > 2 ? atol(argv[2]) : 0;
	int fd = argc > 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	if (fd < 0 || n < 1 || n > THREADS_MAX || ftruncate(fd, sizeof(*counts) * THREADS_MAX))
		return 2;
	counts = mmap(
		NULL, sizeof(*counts) * THREADS_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	rounds = atol(argv[3]);
	pause_us = argc > 4 ? atol(argv[4]) : 0;
	snprintf(end, sizeof(end), "%s.end", argv[1]);
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	while (rounds <= 0 && access(end, F_OK)) {
		usleep(1000);
		if (rounds && clock() / (CLOCKS_PER_SEC / 1000) >= -rounds)
			kill(getpid(), SIGKILL);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (long i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
