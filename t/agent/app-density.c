/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with more or less work beside their calls: app-density SHAPE KIND TURNS WORK.
 * In each turn there are some 64 calls, and then WORK untraced rounds of it.
 *   flat       a loop of calls of one function
 *   deep       one that calls itself 64 times
 *   tree       one that calls itself twice, 5 times in a row
 *   accessors  four of a few nanoseconds, one of which calls another one
 *   chain      flat, but WORK is between any two calls, and each needs the one before
 * KIND is arithmetic or memory (reads all over 32 MiB). It prints a checksum and the CPU
 * time of the turns in seconds. With -DWITH_MPI all ranks do so and wait for one another
 * from time to time, which is not in the time; each writes its line to out.RANK.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define KEEP	 __attribute__((noipa))
#define UNTRACED __attribute__((no_instrument_function))
#define CALLS	 64
#define WORDS	 (1u << 22)
#define PART	 100 /* turns from one meeting to the next */

static double data[4][CALLS], chained = 1.0;
static uint64_t *field;
static int use_memory, rounds;

KEEP static double tiny(int i)
{
	return data[0][i];
}

KEEP static double x(int i)
{
	return data[1][i];
}

KEEP static double y(int i)
{
	return data[2][i];
}

KEEP static double at(const double *array, int i)
{
	return array[i];
}

KEEP static double volume(int i)
{
	return at(data[3], i);
}

KEEP static double dive(int depth)
{
	return depth ? 1 + dive(depth - 1) : 0;
}

KEEP static double branch(int depth)
{
	return depth ? branch(depth - 1) + branch(depth - 1) : 1;
}

UNTRACED static double work(double s)
{
	uint64_t at_word = 0, sum = 0;

	for (int i = 0; !use_memory && i < rounds; i++)
		s = s * 0.999999 + 1e-9;
	for (int i = 0; use_memory && i < rounds; i++) {
		at_word = at_word * 1664525u + 1013904223u;
		sum += field[at_word % WORDS];
	}
	return s + (double)sum;
}

UNTRACED static double flat(void)
{
	double s = 0;

	for (int i = 0; i < CALLS; i++)
		s += tiny(i);
	return work(s);
}

UNTRACED static double chain(void)
{
	for (int i = 0; i < CALLS; i++)
		chained = work(chained + tiny(i));
	return chained;
}

UNTRACED static double accessors(void)
{
	double s = 0;

	for (int i = 0; i < CALLS; i += 5)
		s += x(i) * y(i) + volume(i) + x(i + 1);
	return work(s);
}

UNTRACED static double deep(void)
{
	return work(dive(CALLS - 1));
}

UNTRACED static double tree(void)
{
	return work(branch(5));
}

static const struct {
	const char *name;
	double (*turn)(void);
} shapes[] = {
	{"flat", flat},
	{"deep", deep},
	{"tree", tree},
	{"accessors", accessors},
	{"chain", chain},
};
#define SHAPES (int)(sizeof(shapes) / sizeof(*shapes))

UNTRACED static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

UNTRACED static void meet(void)
{
#ifdef WITH_MPI
	MPI_Barrier(MPI_COMM_WORLD);
#endif
}

int main(int argc, char **argv)
{
	int turns = argc > 4 ? atoi(argv[3]) : 0, shape = 0, rank = -1;
	double sum = 0, cpu = 0;
	char name[32];
	FILE *out = stdout;

	rounds = argc > 4 ? atoi(argv[4]) : 0;
	while (argc > 4 && shape < SHAPES && strcmp(shapes[shape].name, argv[1]))
		shape++;
	use_memory = argc > 4 && !strcmp(argv[2], "memory");
	field = calloc(WORDS, sizeof(*field));
	if (argc <= 4 || shape == SHAPES || !field)
		return 1;
	memset(field, 1, WORDS * sizeof(*field));
#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
	for (int i = 0; i < turns; i += PART) {
		meet();
		cpu -= cpu_s();
		for (int k = i; k < turns && k < i + PART; k++)
			sum += shapes[shape].turn();
		cpu += cpu_s();
	}
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	snprintf(name, sizeof(name), "out.%d", rank);
	if (rank >= 0 && !(out = fopen(name, "w")))
		return 1;
	fprintf(out, "%.9g %.6f\n", sum, cpu);
	return fclose(out) != 0;
}
