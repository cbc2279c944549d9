/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree REPEAT [THREADS]: a call tree of 200 functions and some thousand paths,
 * made by tree.awk, as a real program's would be.
 */
#include "common.h"
#include "tree-gen.h"

enum { MAX_THREADS = 64, PART = 4 };

static long repeat = 20;
static int threads = 1;
static pthread_barrier_t start;
static double began[MAX_THREADS], ended[MAX_THREADS], best = 1e9;

static UNTRACED void *worker(void *arg)
{
	long id = (long)(intptr_t)arg;
	uint64_t x = (uint64_t)id + 1;

	if (threads > 1)
		pthread_barrier_wait(&start);
	began[id] = now_s();
	for (long i = 0; i < repeat; i += PART) {
		double t = now_s();

		for (int j = 0; j < PART; j++)
			x = f0(x);
		t = (now_s() - t) / ((double)TREE_CALLS * PART);
		if (id == 0 && t < best)
			best = t;
	}
	ended[id] = now_s();
	return (void *)(uintptr_t)(x == 42);
}

UNTRACED int main(int argc, char **argv)
{
	pthread_t t[MAX_THREADS];
	double first, last;

	if (argc > 1)
		repeat = atol(argv[1]);
	if (argc > 2)
		threads = atoi(argv[2]);
	repeat = (repeat + PART - 1) / PART * PART;
	if (repeat < PART || threads < 1 || threads > MAX_THREADS) {
		fprintf(stderr, "usage: tree REPEAT [THREADS]\n");
		return 2;
	}
	if (threads == 1) {
		worker(NULL);
	} else {
		pthread_barrier_init(&start, NULL, (unsigned)threads);
		for (int i = 0; i < threads; i++)
			if (pthread_create(&t[i], NULL, worker, (void *)(intptr_t)i))
				return 99;
		for (int i = 0; i < threads; i++)
			pthread_join(t[i], NULL);
	}
	first = began[0];
	last = ended[0];
	for (int i = 1; i < threads; i++) {
		first = began[i] < first ? began[i] : first;
		last = ended[i] > last ? ended[i] : last;
	}
	report((double)TREE_CALLS * (double)repeat, last - first, best);
	return 0;
}
