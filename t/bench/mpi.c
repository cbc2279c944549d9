/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi CPU0 CPU1 [BATCHES]: what an MPI call costs, on two ranks, each on one CPU.
 * Rank 0 prints a line for each kind of communication, with times per MPI call that a
 * rank makes:
 *
 *	ping-pong	8 bytes there and back; the four calls are one after the other
 *	window		64 Irecv, 64 Isend, 1 Waitall, in both directions at once
 *	open		the same while 10 000 other requests are open
 *	allreduce	8 bytes
 *
 * Each batch is run twice, by MPI_ names and by PMPI_ names, which no tool sees: what
 * tracing adds is the difference, whatever the machine does meanwhile.
 */
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include "common.h"

#define WINDOW	     64
#define OPEN	     10000
#define MOST_BATCHES 10000

#define CALL(function) (seen ? MPI_##function : PMPI_##function)

static int rank, other;
static char mine[8], got[8], incoming[WINDOW][8], apart[OPEN];
static MPI_Request requests[2 * WINDOW], open_requests[OPEN];
/* gcc takes MPICH's constants for arrays without room */
static MPI_Status *volatile no_status = MPI_STATUS_IGNORE, *volatile no_statuses =
								   MPI_STATUSES_IGNORE;

static void ping_pong(bool seen)
{
	if (rank) {
		CALL(Recv)(got, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, no_status);
		CALL(Send)(mine, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD);
	} else {
		CALL(Send)(mine, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD);
		CALL(Recv)(got, 8, MPI_CHAR, other, 0, MPI_COMM_WORLD, no_status);
	}
}

static void window(bool seen)
{
	for (int i = 0; i < WINDOW; i++)
		CALL(Irecv)(incoming[i], 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[i]);
	PMPI_Barrier(MPI_COMM_WORLD); /* or it depends on who is ahead, and time is not additive */
	for (int i = WINDOW; i < 2 * WINDOW; i++)
		CALL(Isend)(mine, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, &requests[i]);
	CALL(Waitall)(2 * WINDOW, requests, no_statuses);
}

static void allreduce(bool seen)
{
	double in = rank, out;

	CALL(Allreduce)(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(v[0]), by_size);
	return v[n / 2];
}

static double one_batch(void (*step)(bool), bool seen, int steps)
{
	double from;

	PMPI_Barrier(MPI_COMM_WORLD);
	from = now_s();
	for (int i = 0; i < steps; i++)
		step(seen);
	return now_s() - from;
}

/* Rank 0 prints medians over the batches, and the fastest of them. */
static void measure(const char *name, void (*step)(bool), int steps, int calls, int batches)
{
	static double hidden[MOST_BATCHES], seen[MOST_BATCHES], added[MOST_BATCHES];
	const double ns = 1e9 / steps / calls;

	one_batch(step, true, 10 * steps);
	for (int b = 0; b < batches; b++) {
		for (int i = 0; i < 2; i++)
			(b % 2 == i ? seen : hidden)[b] = ns * one_batch(step, b % 2 == i, steps);
		added[b] = seen[b] - hidden[b];
	}
	if (rank)
		return;
	printf("%s added %.3f", name, median(added, batches));
	printf(" seen %.3f hidden %.3f", median(seen, batches), median(hidden, batches));
	printf(" best_added %.3f\n", seen[0] - hidden[0]);
}

/*
 * The open receives have a communicator of their own, so that Open MPI compares them
 * with nothing else. MPICH would: there their messages have come, and nobody has asked.
 */
static void with_open_requests(int batches)
{
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	for (int i = 0; i < OPEN; i++)
		MPI_Irecv(&apart[i], 1, MPI_CHAR, other, i, comm, &open_requests[i]);
#ifdef OPEN_MPI
	measure("open", window, 20, 2 * WINDOW + 1, batches);
#endif
	for (int i = 0; i < OPEN; i++)
		MPI_Send(mine, 1, MPI_CHAR, other, i, comm);
#ifndef OPEN_MPI
	measure("open", window, 20, 2 * WINDOW + 1, batches);
#endif
	MPI_Waitall(OPEN, open_requests, no_statuses);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	const int batches = argc > 3 ? atoi(argv[3]) : 200;
	cpu_set_t cpu;
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != 2 || argc < 3 || batches < 1 || batches > MOST_BATCHES) {
		fprintf(stderr, "usage, on two ranks: mpi CPU0 CPU1 [BATCHES]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	other = 1 - rank;
	CPU_ZERO(&cpu);
	CPU_SET(atoi(argv[1 + rank]), &cpu);
	if (sched_setaffinity(0, sizeof(cpu), &cpu)) {
		perror("mpi: sched_setaffinity");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	measure("ping-pong", ping_pong, 1000, 4, batches);
	measure("window", window, 20, 2 * WINDOW + 1, batches);
	with_open_requests(batches);
	measure("allreduce", allreduce, 1000, 1, batches);
	MPI_Finalize();
	return 0;
}
