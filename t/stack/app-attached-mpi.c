/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that work and meet until a file is gone, which the first one makes. usage: PROGRAM FILE */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static volatile double sum;

__attribute__((noinline, noclone)) static void own_work(void)
{
	for (int i = 0; i < 3000000; i++)
		sum = sum * 1.0000001 + 1e-9;
	sum = sum + 1;
}

int main(int argc, char **argv)
{
	int rank, goes_on = 1;
	FILE *f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	f = rank ? NULL : fopen(argv[argc - 1], "w");
	if (f)
		fclose(f);
	while (goes_on) {
		own_work();
		goes_on = rank || !access(argv[argc - 1], F_OK);
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
