/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps that end in a collective. Work is sleep, so that ranks need no CPU of their own.
 *
 *	app-findings slow	on every fourth step, chem() of rank 2 takes 150 ms instead of 20
 *	app-findings balanced	it takes 20 ms on all ranks
 *	app-findings late	rank 1 sends to all others when it has worked, and they wait for it
 *	app-findings killed	rank 1 kills itself on its third step
 */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define STEPS 16

static int rank, ranks;

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

	MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step(int slow)
{
	transport();
	chem(slow);
	residual();
}

/* All have the same work, but rank 1 does it before it sends, and the others after they received.
 */
static void wave(void)
{
	int x = 0;

	if (rank == 1) {
		work(50);
		for (int to = 0; to < ranks; to++)
			if (to != 1)
				MPI_Send(&x, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		work(50);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "balanced";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < STEPS; i++) {
		if (!strcmp(how, "killed") && rank == 1 && i == 2)
			raise(SIGKILL);
		if (!strcmp(how, "late"))
			wave();
		else
			step(!strcmp(how, "slow") && rank == 2 && i % 4 == 3);
	}
	MPI_Finalize();
	return 0;
}
