/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has broken Vftrace in programs of MPI: app-mpi-compared HOW. With "all" each rank
 * checks what MPI tells it and aborts if that is wrong; four ranks.
 *	all	statuses, completion, peers on a part of the ranks, large messages, and
 *		paths that some ranks lack
 *	open	calls of functions while 1000 receives are open: prints how much longer
 *		they take than without
 *	none	never calls MPI_Init and returns 3
 *	exit	rank 1 calls exit(3) while the others wait for it
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define LARGE	 (1 << 30) /* doubles: 8 GiB */
#define OPEN	 1000

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "line %d: not %s\n", __LINE__, #condition);                \
			MPI_Abort(MPI_COMM_WORLD, 1);                                              \
		}                                                                                  \
	} while (0)

static int rank, ranks;
static volatile long sink;

KEEP static void leaf(void)
{
	sink++;
}

/* 7 of at most 100 numbers arrive, and the status says so. */
KEEP static void received(void)
{
	int out[7] = {0}, in[100], n = -1;
	MPI_Status status;

	if (rank == 0)
		MPI_Send(out, 7, MPI_INT, ranks - 1, 5, MPI_COMM_WORLD);
	if (rank != ranks - 1)
		return;
	MPI_Recv(in, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	CHECK(n == 7);
	CHECK(status.MPI_SOURCE == 0);
	CHECK(status.MPI_TAG == 5);
}

/* The second of two requests completes first. */
KEEP static void any(void)
{
	MPI_Request r[2], null[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int in[2], out = 3, index = -7, flag = 0;

	for (int i = 0; i < 2; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, rank, i, MPI_COMM_WORLD, &r[i]);
	MPI_Send(&out, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
	while (!flag)
		MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
	CHECK(index == 1);
	MPI_Send(&out, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
	MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
	CHECK(index == 0);
	index = -7;
	MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
	CHECK(index == MPI_UNDEFINED);
	index = -7;
	MPI_Waitany(2, null, &index, MPI_STATUS_IGNORE);
	CHECK(index == MPI_UNDEFINED);
}

KEEP static void together(void)
{
	int number = rank;

	MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
	CHECK(number == 0);
}

/* The other rank of a pair has another number in the world. */
KEEP static void part(void)
{
	int out = rank, in = -1, mine;
	MPI_Request r[2];
	MPI_Comm pair;

	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &pair);
	MPI_Comm_rank(pair, &mine);
	MPI_Irecv(&in, 1, MPI_INT, 1 - mine, 7, pair, &r[0]);
	MPI_Isend(&out, 1, MPI_INT, 1 - mine, 7, pair, &r[1]);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	CHECK(in == (rank ^ 1));
	MPI_Comm_free(&pair);
}

/* More than an int holds; nothing is copied, as there is nobody else. */
KEEP static void large(void)
{
	const size_t bytes = sizeof(double) * LARGE;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	CHECK(memory != MAP_FAILED);
	MPI_Bcast(memory, LARGE, MPI_DOUBLE, 0, MPI_COMM_SELF);
	munmap(memory, bytes);
}

KEEP static void only_odd(void)
{
	MPI_Comm odd;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? 1 : MPI_UNDEFINED, 0, &odd);
	for (int i = 0; rank % 2 && i < 5; i++) {
		leaf();
		MPI_Barrier(odd);
	}
	if (rank % 2)
		MPI_Comm_free(&odd);
}

UNTRACED static double calls_s(void)
{
	double least = 1e9;

	for (int k = 0; k < 7; k++) {
		struct timespec a, b;
		double s;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
		for (int i = 0; i < 20000; i++)
			leaf();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
		s = (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9;
		if (s < least)
			least = s;
	}
	return least;
}

static void with_open_requests(void)
{
	static MPI_Request r[OPEN];
	static int in[OPEN];
	double without = calls_s(), with;

	for (int i = 0; i < OPEN; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, rank, 100 + i, MPI_COMM_WORLD, &r[i]);
	with = calls_s();
	for (int i = 0; i < OPEN; i++)
		MPI_Cancel(&r[i]);
	MPI_Waitall(OPEN, r, MPI_STATUSES_IGNORE);
	printf("%.1f times\n", with / without);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "all";

	if (!strcmp(how, "none")) {
		leaf();
		return 3;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (!strcmp(how, "open")) {
		with_open_requests();
	} else if (!strcmp(how, "exit")) {
		leaf();
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 1)
			exit(3);
		MPI_Barrier(MPI_COMM_WORLD);
	} else {
		received();
		any();
		part();
		together();
		large();
		only_odd();
	}
	MPI_Finalize();
	return 0;
}
