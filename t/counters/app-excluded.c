/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-excluded N [THREADS]: solve() calls through() N times, which calls leaf() twice; every
 * 1000th time in a region, "phase". With THREADS each of so many does it, too.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include "vftrace.h"

#define KEEP __attribute__((noinline))

static long turns;
static __thread volatile uint64_t value;

KEEP static void leaf(void)
{
	for (int i = 0; i < 100; i++)
		value++;
}

KEEP static void through(void)
{
	leaf();
	value++;
	leaf();
}

KEEP static void *solve(void *unused)
{
	for (long i = 0; i < turns; i++) {
		if (i % 1000 == 0)
			vftrace_region_begin("phase");
		through();
		if (i % 1000 == 0)
			vftrace_region_end("phase");
	}
	return unused;
}

int main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t *ids = calloc((size_t)threads + 1, sizeof(*ids));

	turns = argc > 1 ? atol(argv[1]) : 1000;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, solve, NULL))
			return 1;
	solve(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	return 0;
}
