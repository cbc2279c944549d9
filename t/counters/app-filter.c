/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-filter N MODE...: main() calls setup(), which calls leaf(), and N times step(), which calls
 * inner() and leaf(); inner() calls leaf() in a region, "phase". MODE:
 *	threads T	work() in each of so many threads, which calls step() N times
 *	until FILE	the same in 8 threads, each until there is FILE, which rest in some calls
 *			of step(); prints how often they called it
 *	recurse D	down(D) calls itself by way of up(), and leaf() at the end
 *	jump N		so many times leave() is left by longjmp(), from far() in inside()
 *	fork		a child, made in making(), which work()s there and when that has returned
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vftrace.h"

#define KEEP __attribute__((noinline))

static __thread volatile uint64_t value;
static __thread bool rests; /* now and then in step(), before it calls leaf() */
static long turns;
static jmp_buf back;

KEEP static void leaf(void)
{
	for (int i = 0; i < 100; i++)
		value++;
}

KEEP static void setup(void)
{
	leaf();
	value++;
}

KEEP static void inner(void)
{
	vftrace_region_begin("phase");
	leaf();
	vftrace_region_end("phase");
}

KEEP static void step(void)
{
	inner();
	if (rests && value / 200 % 10 == 0)
		usleep(1000);
	leaf();
	value++;
}

KEEP static void work(void)
{
	for (long i = 0; i < turns; i++)
		step();
	value++;
}

KEEP static void *thread(void *unused)
{
	work();
	value++;
	return unused;
}

static void threads(int n)
{
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));

	for (int i = 0; i < n; i++)
		if (pthread_create(&ids[i], NULL, thread, NULL))
			_exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

static const char *end_file;
static uint64_t steps;

KEEP static void *endless(void *unused)
{
	uint64_t n = 0;

	rests = true;
	while (access(end_file, F_OK)) {
		work();
		n += (uint64_t)turns;
	}
	__atomic_fetch_add(&steps, n, __ATOMIC_RELAXED);
	return unused;
}

static void until(const char *file)
{
	pthread_t ids[8];

	end_file = file;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&ids[i], NULL, endless, NULL))
			_exit(1);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
	printf("%llu\n", (unsigned long long)steps);
}

KEEP static void up(long n);

KEEP static void down(long n)
{
	if (n)
		up(n - 1);
	else
		leaf();
	value++;
}

KEEP static void up(long n)
{
	down(n);
	value++;
}

KEEP static void far(void)
{
	leaf();
	longjmp(back, 1);
}

KEEP static void inside(void)
{
	far();
	value++;
}

KEEP static void leave(long n)
{
	volatile long i = 0;

	if (setjmp(back))
		leaf();
	if (i++ < n)
		inside();
}

KEEP static void making(void)
{
	const pid_t child = fork();

	if (!child)
		work();
	else
		waitpid(child, NULL, 0);
	value = !child;
}

KEEP static void forking(void)
{
	making();
	if (value == 1) {
		work();
		exit(0);
	}
}

int main(int argc, char **argv)
{
	turns = argc > 1 ? atol(argv[1]) : 10;
	setup();
	for (long i = 0; i < turns; i++)
		step();
	for (int i = 2; i < argc; i++) {
		const long n = i + 1 < argc ? atol(argv[i + 1]) : 0;

		if (!strcmp(argv[i], "threads"))
			threads((int)n);
		else if (!strcmp(argv[i], "until"))
			until(argv[i + 1]);
		else if (!strcmp(argv[i], "recurse"))
			down(n);
		else if (!strcmp(argv[i], "jump"))
			leave(n);
		else if (!strcmp(argv[i], "fork"))
			forking();
	}
	leaf();
	return 0;
}
