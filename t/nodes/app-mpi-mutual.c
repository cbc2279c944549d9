/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks that wait for each other's message for ever; rank 1 begins SECONDS later, and
 * works until then, and makes FILE.
 *	app-mpi-mutual SECONDS FILE
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void work(void)
{
	usleep(1000);
}

static void stuck(int other)
{
	int x;

	MPI_Recv(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&x, 1, MPI_INT, other, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0, start;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	start = MPI_Wtime();
	while (rank == 1 && MPI_Wtime() < start + seconds)
		work();
	if (rank == 1 && argc > 2)
		close(open(argv[2], O_CREAT | O_WRONLY, 0600));
	stuck(1 - rank);
	MPI_Finalize();
	return 0;
}
