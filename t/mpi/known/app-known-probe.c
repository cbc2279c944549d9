/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: who probes for a message waits there until it is sent, if the probe blocks, and not where
 * the message is received.
 *
 *	app-known-probe FILE
 *
 * Four ranks on one machine; FILE: known_open(). Calls that find the same message are of one group.
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define RANKS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define NOBODY	  KNOWN_NOBODY
#define ANY	  MPI_ANY_SOURCE

static int data[RANKS];

/* Works until rank 0 is in its nth call, and then so many ms more. */
static void late_work(int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(BIT(0), nth);
	known_spin(ms);
	known_called(s);
}

/* What is looked for since then (vftr waits --exact): the last moment that ranks have in common. */
static void together(void)
{
	KNOWN_CALL(BARRIER, 100, NOBODY, MPI_Barrier, WORLD);
}

static void send_it(int tag)
{
	KNOWN_CALL(SEND, tag, 0, MPI_Send, data, 1, MPI_INT, 0, tag, WORLD);
}

static int probe(int of, int tag)
{
	MPI_Status status;

	KNOWN_CALL(LATE_SENDER, tag, of == ANY ? NOBODY : of, MPI_Probe, of, tag, WORLD, &status);
	return status.MPI_SOURCE;
}

/* Of a message that was found. */
static void receive(int of, int tag)
{
	MPI_Recv(data, 1, MPI_INT, of, tag, WORLD, MPI_STATUS_IGNORE);
}

static void late_probed(void)
{
	together();
	if (known_rank == 2) {
		late_work(2, 6);
		send_it(1);
	} else if (!known_rank) {
		receive(probe(2, 1), 1);
	}
}

/* Whoever comes first: one after the other, and the receives do not block. */
static void any_probed(void)
{
	MPI_Request request;

	together();
	if (known_rank) {
		late_work(known_rank + 1, 2);
		send_it(known_rank);
		return;
	}
	for (int r = 1; r < RANKS; r++) {
		const int of = probe(ANY, r);

		MPI_Irecv(data, 1, MPI_INT, of, r, WORLD, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

/* The first probe waits; the second one finds the same message. */
static void probed_twice(void)
{
	together();
	if (known_rank == 1) {
		late_work(2, 6);
		send_it(1);
	} else if (!known_rank) {
		probe(1, 1);
		MPI_Probe(1, 1, WORLD, MPI_STATUS_IGNORE);
		receive(1, 1);
	}
}

static void mprobe(int of, int tag, MPI_Message *message)
{
	MPI_Status status;

	KNOWN_CALL(LATE_SENDER, tag, of == ANY ? NOBODY : of, MPI_Mprobe, of, tag, WORLD, message,
		&status);
}

static void late_matched(void)
{
	MPI_Message message;

	if (known_rank == 3) {
		late_work(1, 6);
		send_it(1);
	} else if (!known_rank) {
		mprobe(ANY, 1, &message);
		MPI_Mrecv(data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
}

/* Two are found, and received in the other order, when both are there. */
static void matched_twice(void)
{
	MPI_Message messages[2];
	MPI_Request requests[2];
	MPI_Status statuses[2];

	if (known_rank == 1 || known_rank == 2) {
		late_work(known_rank, 4);
		send_it(known_rank);
	} else if (!known_rank) {
		mprobe(1, 1, &messages[0]);
		mprobe(2, 2, &messages[1]);
		MPI_Imrecv(&data[1], 1, MPI_INT, &messages[1], &requests[1]);
		MPI_Imrecv(&data[0], 1, MPI_INT, &messages[0], &requests[0]);
		MPI_Waitall(2, requests, statuses);
	}
}

/* ---- nobody waits --------------------------------------------------------------------------- */

/* It computes until the message is there. */
static void asked_again(void)
{
	int there = 0;

	if (known_rank == 1) {
		known_spin(4);
		send_it(1);
	} else if (!known_rank) {
		while (!there)
			MPI_Iprobe(1, 1, WORLD, &there, MPI_STATUS_IGNORE);
		receive(1, 1);
	}
}

static void asked_and_matched(void)
{
	MPI_Message message;
	int there = 0;

	if (known_rank == 1) {
		known_spin(4);
		send_it(1);
	} else if (!known_rank) {
		while (!there)
			MPI_Improbe(1, 1, WORLD, &there, &message, MPI_STATUS_IGNORE);
		MPI_Mrecv(data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
}

static void there_before(void)
{
	MPI_Message message;

	if (known_rank == 1) {
		send_it(1);
		send_it(2);
	} else if (!known_rank) {
		known_after(BIT(1), 2);
		known_spin(1);
		receive(probe(1, 1), 1);
		mprobe(1, 2, &message);
		known_spin(1);
		MPI_Mrecv(data, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	}
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(late_matched, "late_sender MPI_Mprobe mprobe 3 late_work"),
	KNOWN_PROPERTY(matched_twice, "late_sender MPI_Mprobe mprobe 1,2 late_work"),
	KNOWN_PROPERTY(asked_again, NULL),
	KNOWN_PROPERTY(asked_and_matched, NULL),
	KNOWN_PROPERTY(there_before, NULL),
	KNOWN_PROPERTY(late_probed, "late_sender MPI_Probe probe 2 late_work"),
	KNOWN_PROPERTY(any_probed, "late_sender MPI_Probe probe 1,2,3 late_work"),
	KNOWN_PROPERTY(probed_twice, "late_sender MPI_Probe probe 1 late_work"),
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
