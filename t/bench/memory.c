/* SPDX-License-Identifier: BSD-3-Clause */
/* ns of the CPU per pair of malloc(BYTES) and free(): `memory BYTES PAIRS LIVE`, with so many
 * blocks live. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const size_t bytes = argc > 3 ? (size_t)atol(argv[1]) : 0;
	const long pairs = argc > 3 ? atol(argv[2]) : 0, live = argc > 3 ? atol(argv[3]) : 0;
	void *volatile *block = live > 0 ? calloc((size_t)live, sizeof(*block)) : NULL;
	double begin = 0;
	long at = 0;

	if (!block)
		return 1;
	for (int warm = 2; warm; warm--) {
		begin = now_ns();
		for (long i = 0; i < pairs; i++) {
			free(block[at]);
			block[at] = malloc(bytes);
			at = at + 1 < live ? at + 1 : 0;
		}
	}
	printf("%.2f\n", (now_ns() - begin) / (double)pairs);
	return 0;
}
