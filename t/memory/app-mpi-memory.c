/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank r keeps r + 1 blocks of 1 MiB; rank 1 as many more as the first argument says. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *volatile keep[256];

static __attribute__((noinline)) void keeps_blocks(int n)
{
	for (int i = 0; i < n; i++) {
		keep[i] = malloc(1 << 20);
		memset(keep[i], i, 1 << 20);
	}
}

int main(int argc, char **argv)
{
	int rank, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	keeps_blocks(rank + 1 + (argc > 1 && rank == 1 ? atoi(argv[1]) : 0));
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d\n", sum);
	MPI_Finalize();
	return 0;
}
