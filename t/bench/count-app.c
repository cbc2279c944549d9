/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * count-app: what an application does in our library, for callgrind to count (t/bench/count),
 * in parts that are the same every time: calls of a function, or with -DCOUNT_MPI calls of MPI
 * on one rank, which sends to itself. Each part ends with a dump that has its name, and with a
 * line "PART CALLS"; each is done once before, so that nothing is done for the first time.
 */
#include <stdio.h>
#include <valgrind/callgrind.h>
#ifdef COUNT_MPI
#include <mpi.h>
#endif

#define UNTRACED __attribute__((no_instrument_function))
#define CALLS	 100000

UNTRACED static void count(const char *part, void (*once)(void), int calls)
{
	for (int i = 0; i < calls; i++)
		once();
	CALLGRIND_ZERO_STATS;
	CALLGRIND_START_INSTRUMENTATION;
	for (int i = 0; i < calls; i++)
		once();
	CALLGRIND_STOP_INSTRUMENTATION;
	CALLGRIND_DUMP_STATS_AT(part);
	printf("%s %d\n", part, calls);
}

#ifdef COUNT_MPI
static int mine, got;
static MPI_Comm self;

UNTRACED static void sendrecv(void)
{
	MPI_Request r;

	MPI_Irecv(&got, 1, MPI_INT, 0, 1, self, &r);
	MPI_Send(&mine, 1, MPI_INT, 0, 1, self);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

UNTRACED static void receive(void)
{
	MPI_Request r;

	MPI_Isend(&mine, 1, MPI_INT, 0, 1, self, &r);
	MPI_Recv(&got, 1, MPI_INT, 0, 1, self, MPI_STATUS_IGNORE);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

UNTRACED static void window(void)
{
	MPI_Request r[64];

	for (int i = 0; i < 32; i++)
		MPI_Irecv(&got, 1, MPI_INT, 0, 1, self, &r[i]);
	for (int i = 32; i < 64; i++)
		MPI_Isend(&mine, 1, MPI_INT, 0, 1, self, &r[i]);
	MPI_Waitall(64, r, MPI_STATUSES_IGNORE);
}

UNTRACED static void allreduce(void)
{
	MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, self);
}

UNTRACED static void barrier(void)
{
	MPI_Barrier(self);
}

UNTRACED int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_dup(MPI_COMM_SELF, &self);
	count("irecv+send+wait", sendrecv, CALLS / 10);
	count("isend+recv+wait", receive, CALLS / 10);
	count("32+32+waitall", window, CALLS / 100);
	count("allreduce", allreduce, CALLS / 10);
	count("barrier", barrier, CALLS / 10);
	MPI_Finalize();
	return 0;
}
#else
__attribute__((noinline)) static void function(void)
{
	__asm__ volatile("");
}

UNTRACED int main(void)
{
	count("call", function, CALLS);
	return 0;
}
#endif
