/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 comes late to a barrier in a function that has quotes in its name. Two ranks. */
#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <time.h>

static void operator"" _late(unsigned long long ms)
{
	struct timespec t = {0, (long)ms * 1000000};
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1)
		nanosleep(&t, nullptr);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	20_late;
	MPI_Finalize();
	return 0;
}
