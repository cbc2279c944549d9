/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in the wrong order, and in the right one; receivers that are late, and sends that do not
 * wait for them.
 *
 *	app-known-order FILE
 *
 * Four ranks on one machine; FILE: known_open().
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define RANKS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define NOBODY	  KNOWN_NOBODY
#define NEAR	  2 /* with two ranks on each of two nodes, by turns: on that of rank 0 */
#define FAR	  1 /* on another one, as rank 3 is */

#define BIG (4 << 20)

static int data, all[RANKS];
static char big[BIG];

/* Works until these ranks are in their nth call, and then so many ms more. */
static void late_work(unsigned ranks, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(ranks, nth);
	known_spin(ms);
	known_called(s);
}

static void send_it(int tag)
{
	KNOWN_CALL(SEND, tag, 0, MPI_Send, &data, 1, MPI_INT, 0, tag, WORLD);
}

static void receive_from(int rank, int tag)
{
	KNOWN_CALL(LATE_SENDER, tag, rank, MPI_Recv, &data, 1, MPI_INT, rank, tag, WORLD,
		MPI_STATUS_IGNORE);
}

/* Rank `early` sends at once, rank `late` when rank 0 has waited for it, which then receives the
 * other message. */
static void late_before_early(int late, int early)
{
	if (known_rank == late)
		late_work(BIT(0), 1, 6);
	if (known_rank == late || known_rank == early)
		send_it(known_rank);
	if (known_rank)
		return;
	known_after(BIT(early), 1);
	known_spin(1);
	receive_from(late, late);
	receive_from(early, early);
}

static void near_before_far(void)
{
	late_before_early(NEAR, FAR);
}

static void far_before_near(void)
{
	late_before_early(FAR, NEAR);
}

static void far_before_far(void)
{
	late_before_early(FAR, 3);
}

/* The same with messages of one rank, by their tags. */
static void one_source(void)
{
	if (known_rank == FAR) {
		send_it(1);
		late_work(BIT(0), 1, 6);
		send_it(2);
	} else if (!known_rank) {
		known_after(BIT(FAR), 1);
		known_spin(1);
		receive_from(FAR, 2);
		receive_from(FAR, 1);
	}
}

/* It comes while rank 0 waits. */
static void sent_meanwhile(void)
{
	if (known_rank == 3) {
		late_work(BIT(0), 1, 2);
		send_it(3);
	} else if (known_rank == FAR) {
		known_after(BIT(3), 1);
		late_work(BIT(0), 1, 4);
		send_it(FAR);
	} else if (!known_rank) {
		receive_from(FAR, FAR);
		receive_from(3, 3);
	}
}

/* Both receives are posted, and completed in the wrong order. */
static void posted_before(void)
{
	MPI_Request requests[2];

	if (known_rank == NEAR)
		late_work(BIT(0), 1, 6);
	if (known_rank == NEAR || known_rank == FAR)
		send_it(known_rank);
	if (known_rank)
		return;
	MPI_Irecv(&all[0], 1, MPI_INT, NEAR, NEAR, WORLD, &requests[0]);
	MPI_Irecv(&all[1], 1, MPI_INT, FAR, FAR, WORLD, &requests[1]);
	known_after(BIT(FAR), 1);
	known_spin(1);
	KNOWN_CALL(LATE_SENDER, NEAR, NOBODY, MPI_Wait, &requests[0], MPI_STATUS_IGNORE);
	KNOWN_CALL(LATE_SENDER, FAR, NOBODY, MPI_Wait, &requests[1], MPI_STATUS_IGNORE);
}

/* ---- the right order ----------------------------------------------------------------------- */

static void early_before_late(void)
{
	if (known_rank == NEAR)
		late_work(BIT(0), 2, 6);
	if (known_rank == NEAR || known_rank == FAR)
		send_it(known_rank);
	if (known_rank)
		return;
	known_after(BIT(FAR), 1);
	known_spin(1);
	receive_from(FAR, FAR);
	receive_from(NEAR, NEAR);
}

/* Whichever was sent first, the call needs all of them. */
static void in_one_call(void)
{
	MPI_Request requests[RANKS - 1];
	MPI_Status statuses[RANKS - 1];

	if (known_rank) {
		late_work(known_rank == NEAR ? BIT(0) | BIT(FAR) | BIT(3) : BIT(0), 1,
			known_rank == NEAR ? 6 : 2);
		send_it(0);
		return;
	}
	for (int r = 1; r < RANKS; r++)
		MPI_Irecv(&all[r], 1, MPI_INT, r, 0, WORLD, &requests[r - 1]);
	KNOWN_CALL(LATE_SENDER, 0, NOBODY, MPI_Waitall, RANKS - 1, requests, statuses);
}

/* What is received later was sent later. */
static void sent_after(void)
{
	if (known_rank == FAR)
		late_work(BIT(0), 1, 6);
	else if (known_rank == NEAR)
		late_work(BIT(0), 2, 6);
	if (known_rank == FAR || known_rank == NEAR)
		send_it(known_rank);
	if (known_rank)
		return;
	receive_from(FAR, FAR);
	receive_from(NEAR, NEAR);
}

/* ---- late receivers ------------------------------------------------------------------------ */

static void receive_late(int tag, int bytes)
{
	late_work(BIT(0), 1, 6);
	KNOWN_CALL(LATE_SENDER, tag, 0, MPI_Recv, big, bytes, MPI_CHAR, 0, tag, WORLD,
		MPI_STATUS_IGNORE);
}

/* A message that is too long to be kept anywhere. */
static void long_message(void)
{
	if (known_rank == NEAR)
		receive_late(1, BIG);
	else if (!known_rank)
		KNOWN_CALL(LATE_RECEIVER, 1, NEAR, MPI_Send, big, BIG, MPI_CHAR, NEAR, 1, WORLD);
}

/* The same, where the sender is in its Wait. */
static void long_message_in_wait(void)
{
	MPI_Request request;

	if (known_rank == NEAR) {
		receive_late(1, BIG);
	} else if (!known_rank) {
		MPI_Isend(big, BIG, MPI_CHAR, NEAR, 1, WORLD, &request);
		KNOWN_CALL(LATE_RECEIVER, 1, NEAR, MPI_Wait, &request, MPI_STATUS_IGNORE);
	}
}

static void short_message(void)
{
	if (known_rank == NEAR)
		receive_late(1, 8);
	else if (!known_rank)
		KNOWN_CALL(SEND, 1, NEAR, MPI_Send, big, 8, MPI_CHAR, NEAR, 1, WORLD);
}

/* The sender waits where the send is completed: for the later one of two. */
static void in_waitall(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];

	if (known_rank == NEAR) {
		known_after(BIT(FAR), 1);
		receive_late(1, 8);
	} else if (known_rank == FAR) {
		known_after(BIT(0), 1);
		known_spin(2);
		KNOWN_CALL(LATE_SENDER, 1, 0, MPI_Recv, big, 8, MPI_CHAR, 0, 1, WORLD,
			MPI_STATUS_IGNORE);
	} else if (!known_rank) {
		MPI_Issend(big, 8, MPI_CHAR, FAR, 1, WORLD, &requests[0]);
		MPI_Issend(big, 8, MPI_CHAR, NEAR, 1, WORLD, &requests[1]);
		KNOWN_CALL(LATE_RECEIVER, 1, NEAR, MPI_Waitall, 2, requests, statuses);
	}
}

/* Sends of long messages, completed together: the later receiver counts. */
static void long_in_waitall_of(int first, int later)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];

	if (known_rank == later) {
		late_work(BIT(0) | BIT(first), 1, 6);
		KNOWN_CALL(LATE_SENDER, 1, 0, MPI_Recv, big, BIG, MPI_CHAR, 0, 1, WORLD,
			MPI_STATUS_IGNORE);
	} else if (known_rank == first) {
		late_work(BIT(0), 1, 2);
		KNOWN_CALL(LATE_SENDER, 1, 0, MPI_Recv, big, BIG, MPI_CHAR, 0, 1, WORLD,
			MPI_STATUS_IGNORE);
	} else if (!known_rank) {
		MPI_Isend(big, BIG, MPI_CHAR, first, 1, WORLD, &requests[0]);
		MPI_Isend(big, BIG, MPI_CHAR, later, 1, WORLD, &requests[1]);
		KNOWN_CALL(LATE_RECEIVER, 1, later, MPI_Waitall, 2, requests, statuses);
	}
}

static void long_in_waitall(void)
{
	long_in_waitall_of(FAR, NEAR);
}

static void long_in_waitall_far(void)
{
	long_in_waitall_of(NEAR, FAR);
}

/* In turn: the second call is for the one that is left. */
static void receive_in_turn(void)
{
	if (known_rank == FAR)
		late_work(BIT(0), 1, 2);
	else if (known_rank == NEAR)
		late_work(BIT(0), 2, 6);
	if (known_rank == FAR || known_rank == NEAR)
		KNOWN_CALL(LATE_SENDER, 1, 0, MPI_Recv, big, BIG, MPI_CHAR, 0, 1, WORLD,
			MPI_STATUS_IGNORE);
}

static void send_to_both(MPI_Request requests[2])
{
	MPI_Isend(big, BIG, MPI_CHAR, NEAR, 1, WORLD, &requests[0]);
	MPI_Isend(big, BIG, MPI_CHAR, FAR, 1, WORLD, &requests[1]);
}

static void long_in_waitany(void)
{
	MPI_Request requests[2];
	int index;

	receive_in_turn();
	if (known_rank)
		return;
	send_to_both(requests);
	KNOWN_CALL(LATE_RECEIVER, 1, FAR, MPI_Waitany, 2, requests, &index, MPI_STATUS_IGNORE);
	KNOWN_CALL(LATE_RECEIVER, 1, NEAR, MPI_Waitany, 2, requests, &index, MPI_STATUS_IGNORE);
}

static void long_in_waitsome(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int n, indices[2];

	receive_in_turn();
	if (known_rank)
		return;
	send_to_both(requests);
	KNOWN_CALL(LATE_RECEIVER, 1, FAR, MPI_Waitsome, 2, requests, &n, indices, statuses);
	KNOWN_CALL(LATE_RECEIVER, 1, NEAR, MPI_Waitsome, 2, requests, &n, indices, statuses);
}

/* It has sent early, and receives late. */
static void long_in_sendrecv_with(int other)
{
	if (known_rank == other) {
		KNOWN_CALL(SEND, 2, 0, MPI_Send, &data, 1, MPI_INT, 0, 2, WORLD);
		receive_late(1, BIG);
	} else if (!known_rank) {
		KNOWN_CALL(LATE_RECEIVER, 1, other, MPI_Sendrecv, big, BIG, MPI_CHAR, other, 1,
			&data, 1, MPI_INT, other, 2, WORLD, MPI_STATUS_IGNORE);
	}
}

static void long_in_sendrecv(void)
{
	long_in_sendrecv_with(NEAR);
}

static void long_in_sendrecv_far(void)
{
	long_in_sendrecv_with(FAR);
}

static void long_message_far(void)
{
	if (known_rank == FAR)
		receive_late(1, BIG);
	else if (!known_rank)
		KNOWN_CALL(LATE_RECEIVER, 1, FAR, MPI_Send, big, BIG, MPI_CHAR, FAR, 1, WORLD);
}

static void short_message_far(void)
{
	if (known_rank == FAR)
		receive_late(1, 8);
	else if (!known_rank)
		KNOWN_CALL(SEND, 1, FAR, MPI_Send, big, 8, MPI_CHAR, FAR, 1, WORLD);
}

static void in_time(void)
{
	MPI_Request request;

	if (known_rank == NEAR) {
		KNOWN_CALL(POST, 1, 0, MPI_Irecv, big, BIG, MPI_CHAR, 0, 1, WORLD, &request);
		known_after(BIT(0), 1);
		known_spin(1);
		KNOWN_CALL(LATE_SENDER, 1, NOBODY, MPI_Wait, &request, MPI_STATUS_IGNORE);
	} else if (!known_rank) {
		known_after(BIT(NEAR), 1);
		known_spin(1);
		KNOWN_CALL(LATE_RECEIVER, 1, NEAR, MPI_Send, big, BIG, MPI_CHAR, NEAR, 1, WORLD);
	}
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(near_before_far, "wrong_order MPI_Recv receive_from 2 late_work"),
	KNOWN_PROPERTY(far_before_near, "wrong_order MPI_Recv receive_from 1 late_work"),
	KNOWN_PROPERTY(far_before_far, "wrong_order MPI_Recv receive_from 1 late_work"),
	KNOWN_PROPERTY(one_source, "wrong_order MPI_Recv receive_from 1 late_work"),
	KNOWN_PROPERTY(sent_meanwhile, "wrong_order MPI_Recv receive_from 1 late_work"),
	KNOWN_PROPERTY(posted_before, "wrong_order MPI_Wait posted_before 2 late_work"),
	KNOWN_PROPERTY(early_before_late, "late_sender MPI_Recv receive_from 2 late_work"),
	KNOWN_PROPERTY(in_one_call, "late_sender MPI_Waitall in_one_call 2 late_work"),
	KNOWN_PROPERTY(sent_after, "late_sender MPI_Recv receive_from 1,2 late_work"),
	KNOWN_PROPERTY(long_message, "late_receiver MPI_Send long_message 2 late_work"),
	KNOWN_PROPERTY(
		long_message_in_wait, "late_receiver MPI_Wait long_message_in_wait 2 late_work"),
	KNOWN_PROPERTY(long_message_far, "late_receiver MPI_Send long_message_far 1 late_work"),
	KNOWN_PROPERTY(long_in_waitall, "late_receiver MPI_Waitall long_in_waitall_of 2 late_work"),
	KNOWN_PROPERTY(
		long_in_waitall_far, "late_receiver MPI_Waitall long_in_waitall_of 1 late_work"),
	KNOWN_PROPERTY(long_in_waitany, "late_receiver MPI_Waitany long_in_waitany 1,2 late_work"),
	KNOWN_PROPERTY(
		long_in_waitsome, "late_receiver MPI_Waitsome long_in_waitsome 1,2 late_work"),
	KNOWN_PROPERTY(
		long_in_sendrecv, "late_receiver MPI_Sendrecv long_in_sendrecv_with 2 late_work"),
	KNOWN_PROPERTY(long_in_sendrecv_far,
		"late_receiver MPI_Sendrecv long_in_sendrecv_with 1 late_work"),
	KNOWN_PROPERTY(short_message_far, NULL),
	KNOWN_PROPERTY(short_message, NULL),
	KNOWN_PROPERTY(in_waitall, "late_receiver MPI_Waitall in_waitall 2 late_work"),
	KNOWN_PROPERTY(in_time, NULL),
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
