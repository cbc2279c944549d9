/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that are left open, and others that only look like it. All messages
 * arrive, so MPI can end. Rank r leaves open
 *   2 + r sends in first(), in a call from main()
 *   1 synchronous send and 3 receives in second(), in a call from deeper()
 *   1 started persistent receive in third()
 *   1 barrier in fourth(), rank 0 none
 */
#include <mpi.h>

#define MANY (1 << 18) /* MPICH completes a short send at once, and says so */

static int rank, next, before, got[64], sent[MANY], many[MANY];
static MPI_Request kept[64];

static void first(void)
{
	for (int i = 0; i < 2 + rank; i++)
		MPI_Isend(sent, MANY, MPI_INT, next, 1, MPI_COMM_WORLD, &kept[i]);
	for (int i = 0; i < 2 + before; i++)
		MPI_Recv(many, MANY, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void second(void)
{
	for (int i = 0; i < 3; i++)
		MPI_Irecv(&got[10 + i], 1, MPI_INT, before, 2, MPI_COMM_WORLD, &kept[20 + i]);
	MPI_Issend(&sent[0], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &kept[30]);
	for (int i = 0; i < 3; i++)
		MPI_Send(&sent[0], 1, MPI_INT, next, 2, MPI_COMM_WORLD);
	MPI_Recv(&got[0], 1, MPI_INT, before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void deeper(void)
{
	second();
}

static void third(void)
{
	MPI_Recv_init(&got[20], 1, MPI_INT, before, 4, MPI_COMM_WORLD, &kept[31]);
	MPI_Start(&kept[31]);
	MPI_Send(&sent[0], 1, MPI_INT, next, 4, MPI_COMM_WORLD);
}

static void fourth(void)
{
	MPI_Ibarrier(MPI_COMM_WORLD, &kept[32]);
	if (!rank)
		MPI_Wait(&kept[32], MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Persistent requests that are started and completed, or never started. */
static void persistent(void)
{
	MPI_Request r[2], idle[2];
	MPI_Status statuses[2];

	MPI_Send_init(&sent[0], 1, MPI_INT, next, 5, MPI_COMM_WORLD, &r[0]);
	MPI_Recv_init(&got[30], 1, MPI_INT, before, 5, MPI_COMM_WORLD, &r[1]);
	MPI_Send_init(&sent[0], 1, MPI_INT, next, 5, MPI_COMM_WORLD, &idle[0]);
	MPI_Recv_init(&got[30], 1, MPI_INT, before, 5, MPI_COMM_WORLD, &idle[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, r);
		MPI_Waitall(2, r, statuses);
	}
	MPI_Request_free(&r[0]);
	/* r[1] and idle[] stay, inactive */
}

/* Freed while they are active, or cancelled. */
static void freed(void)
{
	MPI_Request r, s;

	MPI_Irecv(&got[40], 1, MPI_INT, before, 6, MPI_COMM_WORLD, &s);
	MPI_Isend(&sent[0], 1, MPI_INT, next, 6, MPI_COMM_WORLD, &r);
	MPI_Request_free(&r);
	MPI_Request_free(&s);
	MPI_Irecv(&got[41], 1, MPI_INT, before, 7, MPI_COMM_WORLD, &s);
	MPI_Cancel(&s);
	MPI_Wait(&s, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void partitioned(void)
{
#if MPI_VERSION >= 4
	MPI_Request r[2];
	MPI_Status statuses[2];

	MPI_Psend_init(sent, 4, 1, MPI_INT, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(&got[50], 4, 1, MPI_INT, before, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	MPI_Startall(2, r);
	for (int i = 0; i < 4; i++)
		MPI_Pready(i, r[0]);
	MPI_Waitall(2, r, statuses);
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
#endif
}

int main(int argc, char **argv)
{
	int ranks;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	next = (rank + 1) % ranks;
	before = (rank + ranks - 1) % ranks;
	if (argc < 2) {
		first();
		deeper();
		third();
		fourth();
	}
	persistent();
	freed();
	partitioned();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
