/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: app-hottest SECONDS: ten functions that have so much CPU time together, in shares from 20
 * to 3 %; prints that of each by its own clock: "FUNCTION SECONDS".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile double sum;
static unsigned dice;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define FUNCTIONS(X)                                                                               \
	X(first, 20)                                                                               \
	X(second, 17) X(third, 14) X(fourth, 12) X(fifth, 10) X(sixth, 8) X(seventh, 7)            \
		X(eighth, 5) X(ninth, 4) X(tenth, 3)

/* As much work as its share says, on average: even lengths might keep step with the samples. */
#define FUNCTION(name, share)                                                                      \
	static __attribute__((noinline)) void name(void)                                           \
	{                                                                                          \
		double x = share;                                                                  \
                                                                                                   \
		dice = dice * 1103515245u + 12345u;                                                \
		for (unsigned n = (dice >> 8) % ((share)*20000u); n; n--)                          \
			x = x * 1.0000001 + 1e-9;                                                  \
		sum = sum + x;                                                                     \
	}
FUNCTIONS(FUNCTION)

#define ROW(name, share) {#name, name, 0},
static struct {
	const char *name;
	void (*run)(void);
	double s;
} functions[] = {FUNCTIONS(ROW)};

#define N (sizeof(functions) / sizeof(*functions))

int main(int argc, char **argv)
{
	const double most = argc > 1 ? atof(argv[1]) : 1;

	while (cpu_s() < most)
		for (size_t i = 0; i < N; i++) {
			const double from = cpu_s();

			functions[i].run();
			functions[i].s += cpu_s() - from;
		}
	for (size_t i = 0; i < N; i++)
		printf("%s %.6f\n", functions[i].name, functions[i].s);
	return 0;
}
