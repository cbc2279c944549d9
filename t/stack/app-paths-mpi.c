/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI without instrumentation, from known paths: calls of MPI that use a CPU, for so many seconds
 * at each place. The program prints how many calls it has made, "PLACE LINE CALLS" for each place,
 * in the sum of all ranks. usage: app-paths-mpi SECONDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART	__attribute__((noinline, noclone))
#define NUMBERS 1000000

enum { HERE, THERE, SHARED, PLACES };

static const char *const name[PLACES] = {"here", "there", "shared"};
static double in[NUMBERS], out[NUMBERS], used_s[PLACES];
static unsigned long calls[PLACES];
static int line[PLACES];
static volatile double sum;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define REDUCE_FROM(place)                                                                         \
	do {                                                                                       \
		const double from_s = cpu_s();                                                     \
		line[place] = __LINE__;                                                            \
		MPI_Reduce_local(in, out, NUMBERS, MPI_DOUBLE, MPI_SUM);                           \
		used_s[place] += cpu_s() - from_s;                                                 \
		calls[place]++;                                                                    \
	} while (0)

APART void reduce_here(void)
{
	REDUCE_FROM(HERE);
	sum = sum + 1;
}

APART void reduce_there(void)
{
	REDUCE_FROM(THERE);
	sum = sum + 1;
}

APART void reduce_shared(void)
{
	REDUCE_FROM(SHARED);
	sum = sum + 1;
}

APART void burn(void)
{
	double x = 1;

	for (long i = 0; i < 200000; i++)
		x = x * 1.0000001 + 1e-9;
	sum = sum + x;
}

APART void first(void)
{
	reduce_here();
	reduce_shared();
	burn();
	sum = sum + 1;
}

APART void around(void)
{
	reduce_there();
	sum = sum + 1;
}

APART void second(void)
{
	around();
	reduce_shared();
	sum = sum + 1;
}

static int has_used(double enough_s)
{
	int mine = 1, all;

	for (int i = 0; i < PLACES; i++)
		mine &= used_s[i] >= enough_s;
	MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	return all;
}

int main(int argc, char **argv)
{
	unsigned long all[PLACES];
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	do {
		memset(out, 0, sizeof(out));
		for (int i = 0; i < 4; i++) {
			first();
			second();
		}
	} while (!has_used(argc > 1 ? atof(argv[1]) : 0));
	MPI_Reduce(calls, all, PLACES, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = 0; i < PLACES && !rank; i++)
		printf("%s %d %lu\n", name[i], line[i], all[i]);
	MPI_Finalize();
	return 0;
}
