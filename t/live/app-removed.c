/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of many threads that are switched off and on while they run: app-removed DIR THREADS.
 * Until DIR/end is there each thread calls step(), which calls leaf() and nest(), which calls itself
 * and leaf(). Prints each one's calls.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART	    __attribute__((noinline, noipa))
#define UNTRACED    __attribute__((no_instrument_function))
#define THREADS_MAX 64

static __thread long leaves, nests, steps;
static long all_leaves, all_nests, all_steps;
static int stop;

static APART void leaf(void)
{
	leaves++;
}

static APART void nest(int depth)
{
	nests++;
	leaf();
	if (depth)
		nest(depth - 1);
	if (depth == 2)
		usleep(50);
	leaf();
}

static APART void step(void)
{
	steps++;
	for (int i = 0; i < 100; i++)
		leaf();
	nest(5);
	usleep(500);
}

static UNTRACED void *run(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		step();
	__atomic_fetch_add(&all_leaves, leaves, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all_nests, nests, __ATOMIC_RELAXED);
	__atomic_fetch_add(&all_steps, steps, __ATOMIC_RELAXED);
	return NULL;
}

int UNTRACED main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int n = argc > 2 ? atoi(argv[2]) : 1;
	char end[4096];

	if (argc < 3 || n < 1 || n > THREADS_MAX)
		return 2;
	snprintf(end, sizeof(end), "%s/end", argv[1]);
	for (int i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, run, NULL))
			return 1;
	while (!access(argv[1], F_OK) && access(end, F_OK))
		usleep(20000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	printf("leaf %ld\nnest %ld\nstep %ld\n", all_leaves, all_nests, all_steps);
	return 0;
}
