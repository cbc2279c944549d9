/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * often CALLS: all ranks meet so often, by turns in a barrier, in an Allreduce, and in a Bcast of
 * rank 1. Another rank is late in each by turns; the time that it works varies.
 */
#include <mpi.h>
#include <stdlib.h>

static int rank, size;
static volatile unsigned sink;

static void work_for(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

static void in_barrier(unsigned call)
{
	if (rank == (int)(call / 3 % 4) % size)
		work_for(10000 + call * 7919 % 20000);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void in_allreduce(unsigned call)
{
	int in = 1, out;

	if (rank == 2 % size)
		work_for(5000 + call * 104729 % 40000);
	MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void in_bcast(void)
{
	int data = rank;

	if (rank == 1 % size)
		work_for(15000);
	MPI_Bcast(&data, 1, MPI_INT, 1 % size, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 999;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (unsigned call = 0; call + 2 < calls; call += 3) {
		in_barrier(call);
		in_allreduce(call);
		in_bcast();
	}
	MPI_Finalize();
	return 0;
}
