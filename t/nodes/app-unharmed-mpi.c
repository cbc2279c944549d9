/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI program that the agent must not harm: app-unharmed-mpi N: N rounds of a ring. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static volatile long sink;

__attribute__((noinline)) static void leaf(void)
{
	sink++;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1, rank, size, got = 0;
	long sum = 0, all = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 500; k++)
			leaf();
		MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT,
			(rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sum += got;
	}
	MPI_Reduce(&sum, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("mpi %ld\n", all);
	MPI_Finalize();
	return 0;
}
