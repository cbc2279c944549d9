/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of lengths of their own between two ranks, after something has gone wrong or was not
 * recorded: app-mpi-disturbed CASE. Each prints what it has found wrong with MPI.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

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

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"long_answer", long_answer}, {"no_answer", no_answer}};

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
