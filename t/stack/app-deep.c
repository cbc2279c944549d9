/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *	app-deep KIB MS [thread]
 *
 * Spends MS milliseconds of CPU time below functions that hold KIB KiB of stack, in its first
 * thread or in another one. Prints "done".
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static long kib, ms;

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static NOINLINE unsigned burn(void)
{
	const double end = cpu_ms() + (double)ms;
	volatile unsigned x = 1;

	while (cpu_ms() < end)
		for (int i = 0; i < 100000; i++)
			x = x * 3 + 1;
	return x;
}

static NOINLINE unsigned deeper(long level)
{
	char hold[1024 - 32];
	unsigned x;

	memset(hold, (int)level, sizeof(hold));
	__asm__ volatile("" ::"r"(hold) : "memory");
	x = level > 1 ? deeper(level - 1) : burn();
	return x + (unsigned char)hold[level % 64];
}

static NOINLINE void *outermost(void *unused)
{
	(void)unused;
	if (deeper(kib) == 7)
		puts("seven");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc < 3)
		return 2;
	kib = atol(argv[1]);
	ms = atol(argv[2]);
	if (argc == 3)
		outermost(NULL);
	else if (pthread_create(&thread, NULL, outermost, NULL) || pthread_join(thread, NULL))
		return 1;
	puts("done");
	return 0;
}
