/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose ranks do unequal work, which is sleep: so they need no CPU of their own. Each
 * rank prints its own clock: when it left MPI_Init, when it went to MPI_Finalize, the time in
 * MPI, the wait at the end of parallel regions, and the useful time of its threads:
 *
 *	stamps RANK BEGIN END MPI JOIN TEAM
 *
 *	app-efficiency STEPS MS...	rank r works MS[r] ms (the last for all further ones)
 *	app-efficiency STEPS kill MS...	rank 1 kills itself in the middle
 *
 * With OpenMP each step has a region of two threads besides, of 10 and 30 ms.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double begin, in_mpi, join, team;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

#ifdef _OPENMP
#include <omp.h>
static void region(void)
{
	double of[2] = {0.0, 0.0}, left = 0.0, start, end;

#pragma omp parallel num_threads(2)
	{
		const int me = omp_get_thread_num();
		const double from = now();

		work(me ? 30 : 10);
		of[me] = now() - from;
		if (!me)
			left = now();
	}
	start = left;
	end = now();
	join += end - start;
	team += of[1];
}
#else
static void region(void)
{
}
#endif

static void step(long ms)
{
	double before;
	int x = 1, y;

	region();
	work(ms);
	before = now();
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	in_mpi += now() - before;
}

static void stamps(int rank)
{
	const double end = now();

	printf("stamps %d %.9f %.9f %.9f %.9f %.9f\n", rank, begin, end, in_mpi, join,
		team + (end - begin - in_mpi - join));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int rank, steps, first = 2, kills = 0;

	MPI_Init(&argc, &argv);
	begin = now();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	in_mpi += now() - begin;
	steps = atoi(argv[1]);
	if (!strcmp(argv[2], "kill")) {
		kills = 1;
		first++;
	}
	for (int i = 0; i < steps; i++) {
		if (kills && rank == 1 && i == steps / 2) {
			stamps(rank);
			raise(SIGKILL);
		}
		step(atol(argv[first + rank < argc ? first + rank : argc - 1]));
	}
	stamps(rank);
	MPI_Finalize();
	return 0;
}
