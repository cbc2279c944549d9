/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program most of whose calls are accessors that take a few nanoseconds, as those of
 * LULESH: app-accessors STEPS WORK [CALLS]. Each of the STEPS * ELEMENTS elements costs
 * CALLS (16) calls of eight accessors, which call one another in part, and WORK
 * rounds of arithmetic. It prints a checksum, the CPU time and the time by the clock of
 * the steps, in seconds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define KEEP	 __attribute__((noipa))
#define UNTRACED __attribute__((no_instrument_function))
#define ELEMENTS 4096

static double data[8][ELEMENTS];

KEEP static double at(const double *array, int i)
{
	return array[i];
}

#define ACCESSOR(name, n)                                                                          \
	KEEP static double name(int i)                                                             \
	{                                                                                          \
		return data[n][i];                                                                 \
	}

ACCESSOR(x, 0)
ACCESSOR(y, 1)
ACCESSOR(z, 2)
ACCESSOR(fx, 3)
ACCESSOR(fy, 4)
ACCESSOR(fz, 5)

KEEP static double volume(int i)
{
	return at(data[6], i);
}

UNTRACED static double element(int i, int work, int calls)
{
	double s = 1.0 + i, v = 0;

	for (int k = 0; k < calls; k += 8)
		v += x(i) + y(i) + z(i) + fx(i) + fy(i) + fz(i) + volume(i);
	for (int k = 0; k < work; k++)
		s = s * 0.999999 + 1e-9 * v;
	return s;
}

KEEP static double step(int number, int work, int calls)
{
	double sum = 0;

	for (int i = 0; i < ELEMENTS; i++)
		sum += element(i, work, calls);
	data[number % 8][number % ELEMENTS] = sum * 1e-12;
	return sum;
}

UNTRACED static double clock_s(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Of the process; USER_TIME: without what the kernel takes, as to give pages to a new ring. */
UNTRACED static double cpu_s(void)
{
#ifdef USER_TIME
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
#else
	return clock_s(CLOCK_PROCESS_CPUTIME_ID);
#endif
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 0, work = argc > 2 ? atoi(argv[2]) : 0;
	int calls = argc > 3 ? atoi(argv[3]) : 16;
	double sum = 0, cpu = cpu_s(), wall = clock_s(CLOCK_MONOTONIC);

	for (int n = 0; n < steps; n++)
		sum += step(n, work, calls);
	cpu = cpu_s() - cpu;
	wall = clock_s(CLOCK_MONOTONIC) - wall;
	printf("%.9g %.6f %.6f\n", sum, cpu, wall);
	return 0;
}
