/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-mpi-often DIRECTORY: collective calls of 8 bytes as often as they can be made, until
 * DIRECTORY/end exists; rank 0 makes DIRECTORY/begun when they have begun. Prints how many there
 * were, and how many in a second.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define SOME 256 /* calls between two looks at the file */

static void __attribute__((noinline)) exchange(int *stop)
{
	long mine = 1, all;

	for (int i = 0; i < SOME - 1; i++)
		MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	MPI_Bcast(stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	char begun[4096], end[4096];
	int rank, stop = 0;
	long calls = 0;
	double since;

	if (argc != 2)
		return 2;
	snprintf(begun, sizeof(begun), "%s/begun", argv[1]);
	snprintf(end, sizeof(end), "%s/end", argv[1]);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	since = MPI_Wtime();
	while (!stop) {
		stop = !access(end, F_OK);
		exchange(&stop);
		calls += SOME;
		if (!rank && calls == SOME)
			fclose(fopen(begun, "w"));
	}
	if (!rank)
		printf("%ld %.0f\n", calls, (double)calls / (MPI_Wtime() - since));
	MPI_Finalize();
	return 0;
}
