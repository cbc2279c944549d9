/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that end in a collective. Work is sleep, so that ranks need no CPU of their own.
 *
 *	app-findings slow	on every second step, chem() of rank 2 takes 150 ms instead of 20
 *	app-findings balanced	it takes 20 ms on all ranks
 *	app-findings late	rank 1 sends to all others when it has worked, and they wait for it
 *	app-findings killed	rank 1 kills itself on its third step
 *
 * Says what it has done by its own clock, which is one for all ranks: "outside RANK S MPI_S", the
 *times of steps outside of MPI and in it, and "late RANK STEP PEER S", when it called MPI_Send or
 *MPI_Recv.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STEPS	 16
#define RANKS	 16
#define UNTRACED __attribute__((no_instrument_function))

static int rank, ranks;
static double in_mpi, called[STEPS][RANKS];

UNTRACED static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

static void transport(void)
{
	work(60);
}

static void chem(int slow)
{
	work(slow ? 150 : 20);
}

static void residual(void)
{
	double x = 1.0, y;
	const double begin = now();

	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	in_mpi += now() - begin;
}

static void step(int slow)
{
	transport();
	chem(slow);
	residual();
}

/* All have the same work, but rank 1 does it before it sends, and the others after they received.
 */
static void wave(int i)
{
	int x = 0;

	if (rank == 1) {
		work(50);
		for (int to = 0; to < ranks; to++)
			if (to != 1) {
				called[i][to] = now();
				MPI_Send(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
			}
	} else {
		called[i][1] = now();
		MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		work(50);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

UNTRACED static void tell(double outside)
{
	printf("outside %d %.6f %.6f\n", rank, outside, in_mpi);
	for (int i = 0; i < STEPS; i++)
		for (int peer = 0; peer < ranks; peer++)
			if (called[i][peer] > 0.0)
				printf("late %d %d %d %.6f\n", rank, i, peer, called[i][peer]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	double begin;
	const char *how = argc > 1 ? argv[1] : "balanced";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > RANKS)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = now();
	for (int i = 0; i < STEPS; i++) {
		if (!strcmp(how, "killed") && rank == 1 && i == 2)
			raise(SIGKILL);
		if (!strcmp(how, "late"))
			wave(i);
		else
			step(!strcmp(how, "slow") && rank == 2 && i % 2);
	}
	tell(now() - begin - in_mpi);
	MPI_Finalize();
	return 0;
}
