/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * successor THREADS: for each number N on a line of standard input, each thread, the first one too,
 * calls work() N times, which calls part() once; prints "done" then. A negative number: so many
 * threads are made for it, each of which calls once() and ends. 0: all threads but the first end.
 * Ends at the end of the input.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MOST 64

static pthread_barrier_t begin, end;
static long wanted;
static volatile unsigned sink;
static pthread_t thread[THREADS_MOST];
static unsigned threads = 1;

static void __attribute__((noinline)) part(void)
{
	sink++;
}

static void __attribute__((noinline)) work(void)
{
	part();
}

static void __attribute__((noinline)) calls(void)
{
	for (long i = 0; i < wanted; i++)
		work();
}

static void *once(void *unused)
{
	part();
	return unused;
}

static void *stay(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		if (!wanted)
			return unused;
		calls();
		pthread_barrier_wait(&end);
	}
}

static void one_after_another(long n)
{
	pthread_t thread;

	while (n-- && !pthread_create(&thread, NULL, once, NULL))
		pthread_join(thread, NULL);
}

static void all_work(void)
{
	pthread_barrier_wait(&begin);
	calls();
	pthread_barrier_wait(&end);
}

static void others_end(void)
{
	wanted = 0;
	pthread_barrier_wait(&begin);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	threads = 1;
	pthread_barrier_init(&begin, NULL, 1);
	pthread_barrier_init(&end, NULL, 1);
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc > 1)
		threads = (unsigned)atoi(argv[1]);
	if (!threads || threads > THREADS_MOST)
		return 2;
	pthread_barrier_init(&begin, NULL, threads);
	pthread_barrier_init(&end, NULL, threads);
	for (unsigned i = 1; i < threads; i++)
		if (pthread_create(&thread[i], NULL, stay, NULL))
			return 3;
	while (fgets(line, sizeof(line), stdin)) {
		wanted = atol(line);
		if (wanted > 0)
			all_work();
		else if (!wanted)
			others_end();
		else
			one_after_another(-wanted);
		puts("done");
		fflush(stdout);
	}
	others_end();
	return 7;
}
