/* SPDX-License-Identifier: BSD-3-Clause */
/* What the bench programs share: time, and the line they print. */
#ifndef VFTR_T_BENCH_COMMON_H
#define VFTR_T_BENCH_COMMON_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define UNTRACED __attribute__((no_instrument_function, unused))
#ifdef __clang__
#define BENCHED __attribute__((noinline))
#else
#define BENCHED __attribute__((noinline, noclone))
#endif

static UNTRACED double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static UNTRACED long peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmHWM:", 6))
			kib = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

/* calls: of one thread; best: seconds per call of the fastest part. */
static UNTRACED void report(double calls, double seconds, double best)
{
	printf("calls %.0f seconds %.6f ns %.4f best_ns %.4f peak_kib %ld\n", calls, seconds,
		1e9 * seconds / calls, 1e9 * best, peak_kib());
}

#endif
