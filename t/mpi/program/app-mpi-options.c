/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Small phases with known numbers, one function each, for the options about MPI
 * and MPI_Pcontrol. For n ranks, per rank:
 *  - around: 3 messages of 100 bytes to the next rank (Isend, Irecv, Waitall)
 *  - others: 1 message of 1000 bytes to each of the n - 1 others (Sendrecv)
 *  - late: MPI_Bcast from the last rank, which comes 0.2 s after all others
 *  - silent: MPI_Pcontrol(0), 5 messages of 10 bytes and an Allreduce, then level 1
 *  - across: of 6 messages of 20 bytes, 3 are posted at level 0 and end at level 2,
 *    3 the other way round; it ends at level 1
 */
#include <mpi.h>
#include <unistd.h>

enum { POSTED = 3 };

static char out[1000], in[1000];
static MPI_Status ends[2 * POSTED];
static int rank, ranks, next, last;

static void post(int count, int tag, MPI_Request *r)
{
	MPI_Irecv(in, count, MPI_BYTE, last, tag, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(out, count, MPI_BYTE, next, tag, MPI_COMM_WORLD, &r[1]);
}

static void around(void)
{
	for (int i = 0; i < 3; i++) {
		MPI_Request r[2];

		post(100, 1, r);
		MPI_Waitall(2, r, ends);
	}
}

static void others(void)
{
	for (int i = 1; i < ranks; i++)
		MPI_Sendrecv(out, 1000, MPI_BYTE, (rank + i) % ranks, 2, in, 1000, MPI_BYTE,
			(rank + ranks - i) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void late(void)
{
	int x = rank;

	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == ranks - 1)
		usleep(200000);
	MPI_Bcast(&x, 1, MPI_INT, ranks - 1, MPI_COMM_WORLD);
}

static void silent(void)
{
	double x = rank, sum;

	MPI_Pcontrol(0);
	for (int i = 0; i < 5; i++)
		MPI_Sendrecv(out, 10, MPI_BYTE, next, 3, in, 10, MPI_BYTE, last, 3, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
	MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Pcontrol(1);
}

static void across(void)
{
	MPI_Request r[4 * POSTED];

	MPI_Pcontrol(0);
	for (int i = 0; i < POSTED; i++)
		post(20, 4, &r[2 * i]);
	MPI_Pcontrol(2);
	MPI_Waitall(2 * POSTED, r, ends);
	for (int i = POSTED; i < 2 * POSTED; i++)
		post(20, 5, &r[2 * i]);
	MPI_Pcontrol(0);
	MPI_Waitall(2 * POSTED, &r[2 * POSTED], ends);
	MPI_Pcontrol(1);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	next = (rank + 1) % ranks;
	last = (rank + ranks - 1) % ranks;
	around();
	others();
	late();
	silent();
	across();
	around();
	MPI_Finalize();
	return 0;
}
