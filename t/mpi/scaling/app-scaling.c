/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-scaling HOW N: work, which is sleep, of which there is
 *
 *	strong	the same in all runs: N calls of item(), shared by the ranks
 *	weak	N calls of item() for each rank
 *	loop	the same in all runs, but each rank calls steps() 5 times
 *	none	calls that say nothing: rank r has N + 10 r^2 calls of item()
 *
 * Each rank r also calls uneven(), which sleeps 20 * (r + 1) ms, from one call path, and
 * twice() from two. Rank 0 calls master(), too. A rank that sleeps has to wait for a CPU
 * afterwards; so it prints its number, and how long it slept in uneven() and in twice()
 * from first() and from second() by its own clock, in seconds.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline))

static double __attribute__((no_instrument_function)) clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How long it took. */
static double __attribute__((no_instrument_function)) rest(double ms)
{
	struct timespec t = {(time_t)(ms / 1000.0), (long)(ms * 1e6) % 1000000000};
	const double began = clock_s();

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
	return clock_s() - began;
}

static APART void item(void)
{
	rest(2);
}

static APART void steps(double ms)
{
	rest(ms);
}

static APART double uneven(int rank)
{
	return rest(20.0 * (rank + 1));
}

static APART double twice(int rank)
{
	return rest(5.0 * (rank + 1));
}

static APART double first(int rank)
{
	return twice(rank);
}

static APART double second(int rank)
{
	return twice(rank);
}

static APART void master(void)
{
	rest(5);
}

int main(int argc, char **argv)
{
	int rank, size, n;
	double slept[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	n = atoi(argv[2]);
	if (!strcmp(argv[1], "loop"))
		for (int i = 0; i < 5; i++)
			steps(n * 2.0 / 5.0 / size);
	else if (!strcmp(argv[1], "strong"))
		n /= size;
	else if (!strcmp(argv[1], "none"))
		n += 10 * rank * rank;
	for (int i = 0; i < n && strcmp(argv[1], "loop"); i++)
		item();
	slept[0] = uneven(rank);
	slept[1] = first(rank);
	slept[2] = second(rank);
	if (!rank)
		master();
	printf("%d %.9f %.9f %.9f\n", rank, slept[0], slept[1], slept[2]);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
