/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of MPI alone, after those of the APART test suite (ATS) and of PPerfMark, which has
 * the programs of Grindstone for MPI; README says which. Written from their descriptions.
 *
 *	app-known-mpi FILE
 *
 * Four ranks on one machine; FILE: known_open().
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "known.h"

#define RANKS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define ALL	  (BIT(RANKS) - 1)
#define OTHERS	  (ALL & ~BIT(known_rank))
#define NOBODY	  KNOWN_NOBODY
#define MANY	  6 /* from each rank to one that does not look: MPICH has room for 32 or more */
#define BIG	  (4 << 20)

static int data[MANY], all[MANY];
static const int ones[RANKS] = {1, 1, 1, 1}, places[RANKS] = {0, 1, 2, 3};
static char big[BIG];

/* The late one: works until the others have come to their nth call of this turn, and then so many
 * ms more. */
static void bottleneck(unsigned others, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(others, nth);
	known_spin(ms);
	known_called(s);
}

/* Comes when others are in their nth call, so that it waits for nobody. */
static void no_sooner(unsigned others, int nth)
{
	known_after(others, nth);
	known_spin(1);
}

/* The first call of all: ranks wait for the root, which has not been in MPI yet. */
static void first_call(void)
{
	if (known_turn)
		return;
	if (known_rank == 1)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(LATE_ROOT, 0, 1, MPI_Bcast, data, 1, MPI_INT, 1, WORLD);
}

/* ---- messages: ATS ----------------------------------------------------------------------- */

static void send_to(int to, int tag)
{
	KNOWN_CALL(SEND, tag, to, MPI_Send, data, 1, MPI_INT, to, tag, WORLD);
}

static void late_sender(void)
{
	const int with = known_rank ^ 1;

	if (known_rank % 2) {
		bottleneck(BIT(with), 1, 8);
		KNOWN_CALL(SEND, 0, with, MPI_Send, data, 1, MPI_INT, with, 0, WORLD);
	} else {
		KNOWN_CALL(LATE_SENDER, 0, with, MPI_Recv, data, 1, MPI_INT, with, 0, WORLD,
			MPI_STATUS_IGNORE);
	}
}

static void late_sender_in_waitall(void)
{
	MPI_Request requests[RANKS];
	MPI_Status statuses[RANKS];

	if (known_rank) {
		/* in turn another one is last */
		if (known_rank == 1 + known_turn % 3)
			bottleneck(OTHERS, 1, 8);
		KNOWN_CALL(SEND, 0, 0, MPI_Send, data, 1, MPI_INT, 0, 0, WORLD);
		return;
	}
	for (int r = 1; r < RANKS; r++)
		MPI_Irecv(&all[r], 1, MPI_INT, r, 0, WORLD, &requests[r - 1]);
	KNOWN_CALL(LATE_SENDER, 0, NOBODY, MPI_Waitall, RANKS - 1, requests, statuses);
}

static void late_receiver(void)
{
	const int with = known_rank ^ 1;

	if (known_rank % 2) {
		bottleneck(BIT(with), 1, 8);
		KNOWN_CALL(LATE_SENDER, 0, with, MPI_Recv, data, 1, MPI_INT, with, 0, WORLD,
			MPI_STATUS_IGNORE);
	} else {
		KNOWN_CALL(LATE_RECEIVER, 0, with, MPI_Ssend, data, 1, MPI_INT, with, 0, WORLD);
	}
}

/* Ranks 1 to 3 work one after the other, and each sends its result to rank 0. */
static void ring(int ms_of_last)
{
	if (known_rank > 1)
		KNOWN_CALL(LATE_SENDER, 10 + known_rank, known_rank - 1, MPI_Recv, data, 1, MPI_INT,
			known_rank - 1, 10 + known_rank, WORLD, MPI_STATUS_IGNORE);
	bottleneck(OTHERS & ~(BIT(known_rank) - 2), 1, known_rank == 3 ? ms_of_last : 6);
	if (known_rank + 1 < RANKS)
		send_to(known_rank + 1, 11 + known_rank);
	send_to(0, known_rank);
}

static void collect(int from)
{
	KNOWN_CALL(LATE_SENDER, from, from, MPI_Recv, data, 1, MPI_INT, from, from, WORLD,
		MPI_STATUS_IGNORE);
}

static void right_order(void)
{
	if (known_rank)
		ring(6);
	for (int r = 1; r < RANKS && !known_rank; r++)
		collect(r);
}

static void wrong_order(void)
{
	if (known_rank)
		ring(1);
	for (int r = RANKS - 1; r > 0 && !known_rank; r--)
		collect(r);
}

/* ---- collective calls: ATS --------------------------------------------------------------- */

/* Each rank works when all below it are there: the later, the higher. */
static void imbalance_at_mpi_barrier(void)
{
	if (known_rank)
		bottleneck(BIT(known_rank) - 1, 1, 4);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

static void imbalance_at_mpi_alltoall(void)
{
	if (known_rank == 2)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Alltoall, data, 1, MPI_INT, all, 1, MPI_INT, WORLD);
}

static void imbalance_at_mpi_allreduce(void)
{
	if (known_rank == known_turn % RANKS)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Allreduce, data, all, 1, MPI_INT, MPI_SUM, WORLD);
}

static void late_broadcast(void)
{
	if (known_rank == 1)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(LATE_ROOT, 0, 1, MPI_Bcast, data, 1, MPI_INT, 1, WORLD);
}

static void late_scatter(void)
{
	if (known_rank == 2)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(LATE_ROOT, 0, 2, MPI_Scatter, all, 1, MPI_INT, data, 1, MPI_INT, 2, WORLD);
}

static void late_scatterv(void)
{
	if (known_rank == 3)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(LATE_ROOT, 0, 3, MPI_Scatterv, all, ones, places, MPI_INT, data, 1, MPI_INT, 3,
		WORLD);
}

static void early_reduce(void)
{
	if (known_rank == 3)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(EARLY_ROOT, 0, 0, MPI_Reduce, data, all, 1, MPI_INT, MPI_SUM, 0, WORLD);
}

static void early_gather(void)
{
	if (known_rank == 0)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(EARLY_ROOT, 0, 3, MPI_Gather, data, 1, MPI_INT, all, 1, MPI_INT, 3, WORLD);
}

static void early_gatherv(void)
{
	if (known_rank == 1)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(EARLY_ROOT, 0, 2, MPI_Gatherv, data, 1, MPI_INT, all, ones, places, MPI_INT, 2,
		WORLD);
}

static void late_in_scan(void)
{
	if (known_rank == 1)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(SCAN, 0, NOBODY, MPI_Scan, data, all, 1, MPI_INT, MPI_SUM, WORLD);
}

/* ---- programs: PPerfMark ----------------------------------------------------------------- */

static void serve(void)
{
	for (int r = 1; r < RANKS; r++) {
		KNOWN_CALL(LATE_SENDER, r, r, MPI_Recv, data, 1, MPI_INT, r, r, WORLD,
			MPI_STATUS_IGNORE);
		bottleneck(ALL & ~(BIT(r) - 1), 2, 3);
		send_to(r, 10 + r);
	}
}

/* Clients wait until the server has served those before them. */
static void intensive_server(void)
{
	if (!known_rank) {
		serve();
		return;
	}
	send_to(0, known_rank);
	KNOWN_CALL(LATE_SENDER, 10 + known_rank, 0, MPI_Recv, data, 1, MPI_INT, 0, 10 + known_rank,
		WORLD, MPI_STATUS_IGNORE);
}

/* In turn each rank takes its time, and the others wait for it. */
static void diffuse_procedure(void)
{
	if (known_rank == known_turn % RANKS)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

static void random_barrier(void)
{
	static const int who[] = {2, 0, 2, 3, 0, 2};

	if (known_rank == who[known_turn])
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

/* Rank 1 sends in one order, rank 0 receives in the other one. */
static void wrong_way(void)
{
	if (known_rank == 1) {
		bottleneck(BIT(0), 1, 6);
		for (int i = 0; i < 8; i++)
			send_to(0, i);
	}
	for (int i = 7; i >= 0 && !known_rank; i--)
		KNOWN_CALL(LATE_SENDER, i, 1, MPI_Recv, data, 1, MPI_INT, 1, i, WORLD,
			MPI_STATUS_IGNORE);
}

/* ---- programs: more ---------------------------------------------------------------------- */

/* One rank is slow inside a step that ends in a collective call, each fourth time. */
static void straggler(void)
{
	if (known_turn % 4)
		known_spin(1);
	else if (known_rank == 3)
		bottleneck(OTHERS, 1, 30);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Allreduce, data, all, 1, MPI_INT, MPI_SUM, WORLD);
}

/* Each rank waits for the one before, and all of them for the first. */
static void chain(void)
{
	if (!known_rank)
		bottleneck(OTHERS, 1, 10);
	else
		KNOWN_CALL(LATE_SENDER, known_rank - 1, known_rank - 1, MPI_Recv, data, 1, MPI_INT,
			known_rank - 1, 0, WORLD, MPI_STATUS_IGNORE);
	if (known_rank + 1 < RANKS)
		KNOWN_CALL(SEND, known_rank, known_rank + 1, MPI_Send, data, 1, MPI_INT,
			known_rank + 1, 0, WORLD);
}

/* ---- where nobody waits ------------------------------------------------------------------ */

/* All work as much, in one function; then who is needed comes first. */
static void hot_procedure(void)
{
	bottleneck(0, 0, 6);
	if (known_rank)
		no_sooner(BIT(0), 1);
	KNOWN_CALL(LATE_ROOT, 0, 0, MPI_Bcast, data, 1, MPI_INT, 0, WORLD);
}

/* The receive was posted and the message sent before; the rest of the time is the way of 4 MiB. */
static void big_message(void)
{
	const int with = known_rank ^ 1;
	MPI_Request request;

	if (known_rank % 2) {
		no_sooner(BIT(with), 1);
		KNOWN_CALL(SEND, 0, with, MPI_Send, big, BIG, MPI_CHAR, with, 0, WORLD);
		return;
	}
	KNOWN_CALL(POST, 0, with, MPI_Irecv, big, BIG, MPI_CHAR, with, 0, WORLD, &request);
	no_sooner(BIT(with), 1);
	KNOWN_CALL(LATE_SENDER, 0, NOBODY, MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void small_messages(void)
{
	for (int i = 0; i < MANY && known_rank; i++)
		send_to(0, i);
	if (!known_rank)
		no_sooner(OTHERS, MANY);
	for (int r = 1; r < RANKS && !known_rank; r++)
		for (int i = 0; i < MANY; i++)
			KNOWN_CALL(LATE_SENDER, i, r, MPI_Recv, data, 1, MPI_INT, r, i, WORLD,
				MPI_STATUS_IGNORE);
}

static void no_late_receiver(void)
{
	const int with = known_rank ^ 1;
	MPI_Request request;

	if (known_rank % 2) {
		no_sooner(BIT(with), 1);
		KNOWN_CALL(LATE_RECEIVER, 0, with, MPI_Ssend, data, 1, MPI_INT, with, 0, WORLD);
		return;
	}
	KNOWN_CALL(POST, 0, with, MPI_Irecv, data, 1, MPI_INT, with, 0, WORLD, &request);
	no_sooner(BIT(with), 1);
	KNOWN_CALL(LATE_SENDER, 0, NOBODY, MPI_Wait, &request, MPI_STATUS_IGNORE);
}

static void no_late_root(void)
{
	if (known_rank != 2)
		no_sooner(BIT(2), 1);
	KNOWN_CALL(LATE_ROOT, 0, 2, MPI_Scatter, all, 1, MPI_INT, data, 1, MPI_INT, 2, WORLD);
}

static void no_early_root(void)
{
	if (known_rank == 1)
		no_sooner(OTHERS, 1);
	KNOWN_CALL(EARLY_ROOT, 0, 1, MPI_Gather, data, 1, MPI_INT, all, 1, MPI_INT, 1, WORLD);
}

static void no_wait_at_scan(void)
{
	if (known_rank)
		no_sooner(BIT(known_rank) - 1, 1);
	KNOWN_CALL(SCAN, 0, NOBODY, MPI_Scan, data, all, 1, MPI_INT, MPI_SUM, WORLD);
}

/* All come as they may: what they wait is what their stamps say, and no more. */
static void balanced(void)
{
	known_spin(2);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD);
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(first_call, "late_root MPI_Bcast first_call 1 bottleneck"),
	KNOWN_PROPERTY(late_sender, "late_sender MPI_Recv late_sender 1,3 bottleneck"),
	KNOWN_PROPERTY(late_sender_in_waitall,
		"late_sender MPI_Waitall late_sender_in_waitall 1,2,3 bottleneck"),
	KNOWN_PROPERTY(late_receiver, "late_receiver MPI_Ssend late_receiver 1,3 bottleneck"),
	KNOWN_PROPERTY(right_order, "late_sender MPI_Recv collect 1,2,3 bottleneck"),
	KNOWN_PROPERTY(wrong_order, "wrong_order MPI_Recv collect 3 MPI_Recv"),
	KNOWN_PROPERTY(imbalance_at_mpi_barrier,
		"barrier MPI_Barrier imbalance_at_mpi_barrier 3 bottleneck"),
	KNOWN_PROPERTY(imbalance_at_mpi_alltoall,
		"nxn MPI_Alltoall imbalance_at_mpi_alltoall 2 bottleneck"),
	KNOWN_PROPERTY(imbalance_at_mpi_allreduce,
		"nxn MPI_Allreduce imbalance_at_mpi_allreduce 0,1,2,3 bottleneck"),
	KNOWN_PROPERTY(late_broadcast, "late_root MPI_Bcast late_broadcast 1 bottleneck"),
	KNOWN_PROPERTY(late_scatter, "late_root MPI_Scatter late_scatter 2 bottleneck"),
	KNOWN_PROPERTY(late_scatterv, "late_root MPI_Scatterv late_scatterv 3 bottleneck"),
	KNOWN_PROPERTY(early_reduce, "early_root MPI_Reduce early_reduce 3 bottleneck"),
	KNOWN_PROPERTY(early_gather, "early_root MPI_Gather early_gather 0 bottleneck"),
	KNOWN_PROPERTY(early_gatherv, "early_root MPI_Gatherv early_gatherv 1 bottleneck"),
	KNOWN_PROPERTY(late_in_scan, "scan MPI_Scan late_in_scan 1 bottleneck"),
	KNOWN_PROPERTY(intensive_server, "late_sender MPI_Recv intensive_server 0 bottleneck"),
	KNOWN_PROPERTY(
		diffuse_procedure, "barrier MPI_Barrier diffuse_procedure 0,1,2,3 bottleneck"),
	KNOWN_PROPERTY(random_barrier, "barrier MPI_Barrier random_barrier 0,2,3 bottleneck"),
	KNOWN_PROPERTY(wrong_way, "wrong_order MPI_Recv wrong_way 1 bottleneck"),
	KNOWN_PROPERTY(straggler, "nxn MPI_Allreduce straggler 3 bottleneck"),
	KNOWN_PROPERTY(chain, "late_sender MPI_Recv chain 0,1,2 bottleneck,MPI_Recv,MPI_Recv"),
	KNOWN_PROPERTY(hot_procedure, NULL),
	KNOWN_PROPERTY(big_message, NULL),
	KNOWN_PROPERTY(small_messages, NULL),
	KNOWN_PROPERTY(no_late_receiver, NULL),
	KNOWN_PROPERTY(no_late_root, NULL),
	KNOWN_PROPERTY(no_early_root, NULL),
	KNOWN_PROPERTY(no_wait_at_scan, NULL),
	KNOWN_PROPERTY(balanced, "anything"),
};
#define PROPERTIES (int)(sizeof(properties) / sizeof(properties[0]))

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (size != RANKS || argc != 2) {
		fprintf(stderr, "four ranks and a file, please\n");
		MPI_Abort(WORLD, 2);
	}
	known_open(argv[1], rank, size);
	known_play(properties, PROPERTIES);
	MPI_Finalize();
	return 0;
}
