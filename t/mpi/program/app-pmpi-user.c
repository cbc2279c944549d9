/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-pmpi-user ROUNDS: what runs under two tools at once (app-pmpi-tool.c), on an
 * even number of ranks. Checks what it receives, says so, and calls each function
 * a number of times that follows from ROUNDS.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Tools seldom know an MPI library's extensions; mpi.h has not always this one. */
int MPIX_Query_cuda_support(void);

static int rank, size;
/* gcc takes MPICH's constant for an array without room */
static MPI_Status *volatile ignored = MPI_STATUSES_IGNORE;

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "app-pmpi-user: rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* 1 Send, 1 Recv */
static void blocking(int round)
{
	const int mine[2] = {rank, round};
	int got[3] = {-1, -1, -1};
	MPI_Status status = {0};

	if (rank % 2) {
		MPI_Recv(got, 3, MPI_INT, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
		MPI_Send(mine, 2, MPI_INT, rank - 1, round, MPI_COMM_WORLD);
	} else {
		MPI_Send(mine, 2, MPI_INT, rank + 1, round, MPI_COMM_WORLD);
		MPI_Recv(got, 3, MPI_INT, rank + 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	}
	check(got[0] == (rank ^ 1) && got[1] == round && got[2] == -1, "Recv, data");
	check(status.MPI_SOURCE == (rank ^ 1) && status.MPI_TAG == round, "Recv, status");
}

/* 2 Irecv, 2 Isend, 1 Waitall */
static void nonblocking(int round)
{
	const int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int mine[2] = {rank, -rank}, got[2] = {-1, -1};
	MPI_Request requests[4];
	MPI_Status statuses[4];

	for (int i = 0; i < 2; i++)
		MPI_Irecv(&got[i], 1, MPI_INT, left, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < 2; i++)
		MPI_Isend(&mine[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[2 + i]);
	MPI_Waitall(4, requests, round % 2 ? statuses : ignored);
	check(got[0] == left && got[1] == -left, "Waitall, data");
	check(round % 2 == 0 || (statuses[0].MPI_SOURCE == left && statuses[1].MPI_TAG == 1),
		"Waitall, statuses");
	for (int i = 0; i < 4; i++)
		check(requests[i] == MPI_REQUEST_NULL, "Waitall, requests");
}

/* 1 Allreduce, 1 Bcast, 1 Wtime, 1 Query_cuda_support */
static void together(int round)
{
	int sum = 0, root = rank == round % size ? round : -1;

	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(&root, 1, MPI_INT, round % size, MPI_COMM_WORLD);
	check(sum == size * (size - 1) / 2 && root == round, "Allreduce or Bcast");
	check(MPI_Wtime() >= 0, "Wtime");
	check(MPIX_Query_cuda_support() >= 0, "Query_cuda_support");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int round = 0; round < atoi(argv[1]); round++) {
		blocking(round);
		nonblocking(round);
		together(round);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("ok\n");
	MPI_Finalize();
	return 0;
}
