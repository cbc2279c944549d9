/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of lengths of their own between two ranks, after something has gone wrong or was not
 * recorded: app-mpi-disturbed CASE. Each prints what it has found wrong with MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <vftrace.h>

#define WORLD MPI_COMM_WORLD
#define ROOM  1000
#define MORE  50 /* messages after the disturbance */

static char data[ROOM], room[ROOM];
static int rank;

static void send_one(int bytes)
{
	MPI_Send(data, bytes, MPI_BYTE, 1 - rank, 1, WORLD);
}

static void receive_one(int bytes)
{
	MPI_Status status;
	int n;

	MPI_Recv(room, ROOM, MPI_BYTE, 1 - rank, 1, WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &n);
	if (n != bytes)
		printf("%d bytes in place of %d\n", n, bytes);
}

/* Rank 0 sends, and gets more than it has room for. */
static void long_answer(void)
{
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	if (rank) {
		send_one(200);
		receive_one(400);
	} else if (MPI_Sendrecv(data, 400, MPI_BYTE, 1, 1, room, 10, MPI_BYTE, 1, 1, WORLD,
			   MPI_STATUS_IGNORE) == MPI_SUCCESS) {
		printf("a message was not too long\n");
	}
	for (int i = 1; i <= MORE; i++) {
		if (rank)
			receive_one(i);
		else
			send_one(i);
	}
}

/* MPI refuses rank 0 to send and receive at all. */
static void no_answer(void)
{
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	if (!rank && MPI_Sendrecv(data, 400, MPI_BYTE, 1, 1, room, -1, MPI_BYTE, 1, 1, WORLD,
			     MPI_STATUS_IGNORE) == MPI_SUCCESS)
		printf("nothing was refused\n");
	for (int i = 1; i <= MORE; i++) {
		if (rank)
			receive_one(i);
		else
			send_one(i);
	}
}

/*
 * Rank 0 posts requests, and they are over in a pause, in which rank 1 has sent. What it posts
 * there, to itself, is over there, too.
 */
static void pause_for_requests(void)
{
	MPI_Request before[3], in_pause[2];
	MPI_Status status[3];

	if (!rank) {
		MPI_Irecv(room, 600, MPI_BYTE, 1, 1, WORLD, &before[0]);
		MPI_Irecv(
			room + 600, 300, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &before[1]);
		MPI_Isend(data, 700, MPI_BYTE, 1, 1, WORLD, &before[2]);
		vftrace_pause();
		MPI_Irecv(room + 900, 100, MPI_BYTE, 0, 2, MPI_COMM_SELF, &in_pause[0]);
		MPI_Isend(data, 70, MPI_BYTE, 0, 2, MPI_COMM_SELF, &in_pause[1]);
	}
	PMPI_Barrier(WORLD);
	if (!rank) {
		MPI_Waitall(2, in_pause, status);
		MPI_Waitall(3, before, status);
		vftrace_resume();
	} else {
		usleep(20000);
		send_one(600);
		send_one(250);
		receive_one(700);
	}
	PMPI_Barrier(WORLD);
	for (int i = 1; i <= MORE; i++) {
		if (rank)
			send_one(i);
		else
			receive_one(i);
	}
}

/* Neither rank records messages 21 to 30, and 41 to 50. */
static void left_out(void)
{
	for (int i = 1; i <= 70; i++) {
		if (i == 21)
			MPI_Pcontrol(0);
		if (i == 31)
			MPI_Pcontrol(1);
		if (i == 41)
			vftrace_pause();
		if (i == 51)
			vftrace_resume();
		if (rank)
			receive_one(i);
		else
			send_one(i);
	}
}

/* What rank 1 receives by two matched probes is too long for it: that takes the messages all the
 * same. */
static void too_long(void)
{
	MPI_Message message;
	MPI_Request request;

	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 2; i++) {
		if (!rank) {
			send_one(400);
			continue;
		}
		MPI_Mprobe(0, 1, WORLD, &message, MPI_STATUS_IGNORE);
		if (i == 0)
			MPI_Mrecv(room, 10, MPI_BYTE, &message, MPI_STATUS_IGNORE);
		else if (MPI_Imrecv(room, 10, MPI_BYTE, &message, &request) == MPI_SUCCESS)
			MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	for (int i = 1; i <= MORE; i++) {
		if (rank)
			receive_one(i);
		else
			send_one(i);
	}
}

/*
 * Five starts of a message in partitions and of a persistent barrier; rank 0 does not record starts
 * 0 and 2. It is late with the message of start 1, and rank 1 with the barrier of start 3.
 */
static void starts(void)
{
#if MPI_VERSION >= 4
	MPI_Request message, barrier;

	if (rank)
		MPI_Precv_init(room, 2, 50, MPI_BYTE, 0, 1, WORLD, MPI_INFO_NULL, &message);
	else
		MPI_Psend_init(data, 2, 50, MPI_BYTE, 1, 1, WORLD, MPI_INFO_NULL, &message);
	MPI_Barrier_init(WORLD, MPI_INFO_NULL, &barrier);
	for (int i = 0; i < 5; i++) {
		if (!rank && i == 0)
			vftrace_pause();
		if (!rank && i == 2)
			MPI_Pcontrol(0);
		if (rank && i == 3)
			usleep(200000);
		MPI_Start(&barrier);
		MPI_Wait(&barrier, MPI_STATUS_IGNORE);
		if (!rank && i == 1)
			usleep(200000);
		MPI_Start(&message);
		if (!rank)
			MPI_Pready_range(0, 1, message);
		MPI_Wait(&message, MPI_STATUS_IGNORE);
		if (!rank && i == 0)
			vftrace_resume();
		if (!rank && i == 2)
			MPI_Pcontrol(1);
	}
	MPI_Request_free(&message);
	MPI_Request_free(&barrier);
#endif
}

/* Below the library: an MPI that fails when it has started the first of several requests. */
int PMPI_Startall(int n, MPI_Request *requests)
{
	return n > 1 && PMPI_Start(requests) == MPI_SUCCESS ? MPI_ERR_OTHER : MPI_ERR_ARG;
}

/* Five starts of both requests; rank 0 begins the second ones by a call that fails in between. */
static void part_started(void)
{
#if MPI_VERSION >= 4
	MPI_Request both[2];
	MPI_Status status[2];

	if (rank)
		MPI_Precv_init(room, 2, 50, MPI_BYTE, 0, 1, WORLD, MPI_INFO_NULL, &both[0]);
	else
		MPI_Psend_init(data, 2, 50, MPI_BYTE, 1, 1, WORLD, MPI_INFO_NULL, &both[0]);
	MPI_Barrier_init(WORLD, MPI_INFO_NULL, &both[1]);
	for (int i = 0; i < 5; i++) {
		if (rank && i == 2)
			usleep(200000);
		if (rank || i != 1)
			MPI_Start(&both[0]);
		else if (MPI_Startall(2, both) == MPI_SUCCESS)
			printf("nothing failed\n");
		MPI_Start(&both[1]);
		if (!rank)
			MPI_Pready_range(0, 1, both[0]);
		MPI_Waitall(2, both, status);
	}
	MPI_Request_free(&both[0]);
	MPI_Request_free(&both[1]);
#endif
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"long_answer", long_answer}, {"no_answer", no_answer},
	{"pause_for_requests", pause_for_requests}, {"left_out", left_out}, {"too_long", too_long},
	{"starts", starts}, {"part_started", part_started}};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name))
			cases[i].run();
	MPI_Finalize();
	return 0;
}
