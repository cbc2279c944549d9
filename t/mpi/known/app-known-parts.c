/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in partitions: who waits for one waits for its last part.
 *
 *	app-known-parts FILE
 *
 * Four ranks on one machine; FILE: known_open().
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define RANKS	  4
#define PARTS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define NOBODY	  KNOWN_NOBODY

static int parts[PARTS];

/* Works until rank 0 is in its nth call, and then so many ms more. */
static void late_work(int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(BIT(0), nth);
	known_spin(ms);
	known_called(s);
}

static void send_parts(MPI_Request *request)
{
	MPI_Psend_init(parts, PARTS, 1, MPI_INT, 0, 1, WORLD, MPI_INFO_NULL, request);
	MPI_Start(request);
}

/* The last one of the calls is what rank 0 needs. */
static void end_send(MPI_Request *request, int last)
{
	KNOWN_CALL(SEND, 1, 0, MPI_Pready, last, *request);
	MPI_Wait(request, MPI_STATUS_IGNORE);
	MPI_Request_free(request);
}

static void receive_parts(void)
{
	MPI_Request request;

	MPI_Precv_init(parts, PARTS, 1, MPI_INT, 1, 1, WORLD, MPI_INFO_NULL, &request);
	MPI_Start(&request);
	KNOWN_CALL(LATE_SENDER, 1, NOBODY, MPI_Wait, &request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
}

static void late_part(void)
{
	MPI_Request request;

	if (known_rank == 1) {
		send_parts(&request);
		for (int i = 1; i < PARTS; i++)
			MPI_Pready(i, request);
		late_work(1, 6);
		end_send(&request, 0);
	} else if (!known_rank) {
		receive_parts();
	}
}

static void late_start(void)
{
	MPI_Request request;

	if (known_rank == 1) {
		late_work(1, 6);
		send_parts(&request);
		MPI_Pready_range(0, PARTS - 2, request);
		end_send(&request, PARTS - 1);
	} else if (!known_rank) {
		receive_parts();
	}
}

static void all_in_time(void)
{
	MPI_Request request;

	if (known_rank == 1) {
		send_parts(&request);
		MPI_Pready_list(PARTS - 1, (int[]){2, 0, 3}, request);
		end_send(&request, 1);
	} else if (!known_rank) {
		known_after(BIT(1), 1);
		known_spin(1);
		receive_parts();
	}
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(late_part, "late_sender MPI_Wait receive_parts 1 late_work"),
	KNOWN_PROPERTY(late_start, "late_sender MPI_Wait receive_parts 1 late_work"),
	KNOWN_PROPERTY(all_in_time, NULL),
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
