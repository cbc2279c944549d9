/* SPDX-License-Identifier: BSD-3-Clause */
/* What dynamic.c spawns: tells its rank and arguments, and joins in a sum. */
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
	MPI_Comm parent;
	MPI_Status status;
	int rank, sum, answer = -1, x[2] = {0, argc * 1000};

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		MPI_Abort(MPI_COMM_WORLD, 5);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 1; i < argc; i++)
		x[1] += (int)strlen(argv[i]);
	x[0] = rank + 10;
	MPI_Send(x, 2, MPI_INT, 0, 100 + rank, parent);
	MPI_Recv(&answer, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, parent, &status);
	if (answer != 3 * x[0] || status.MPI_SOURCE != 0 || status.MPI_TAG != 8)
		MPI_Abort(MPI_COMM_WORLD, 6);
	MPI_Allreduce(x, &sum, 1, MPI_INT, MPI_SUM, parent);
	MPI_Comm_disconnect(&parent);
	MPI_Finalize();
	return 0;
}
