/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives that wait for late senders, by every kind of call that completes them. Each message
 * carries the time at which its send was called, so that the receiver knows what it has waited,
 * and for whom: ranks print "TO FROM NANOSECONDS" for each sender at the end. The second
 * argument 0: all messages are there before they are received.
 *
 *	app-mpi-late PREFIX [MILLISECONDS]
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TURNS 4
#define MOST  16

static int rank, size;
static long nap_ms = 10;
static int64_t late[MOST];

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void nap(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* The call from `enter` to `leave` has received these. */
static void judge(int64_t enter, int64_t leave, int n, const int64_t *sent, const int *from)
{
	int last = 0;

	for (int i = 1; i < n; i++)
		if (sent[i] > sent[last])
			last = i;
	if (sent[last] < leave)
		leave = sent[last];
	if (leave > enter)
		late[from[last]] += leave - enter;
}

static void send_to(int to, int tag)
{
	int64_t sent = now();

	MPI_Send(&sent, 1, MPI_INT64_T, to, tag, MPI_COMM_WORLD);
}

static void by_recv(int tag)
{
	for (int from = 1; from < size; from++) {
		MPI_Status status;
		int64_t sent, enter = now();

		/* the last one can only be that */
		MPI_Recv(&sent, 1, MPI_INT64_T, from < size - 1 ? from : MPI_ANY_SOURCE, tag,
			MPI_COMM_WORLD, &status);
		judge(enter, now(), 1, &sent, &status.MPI_SOURCE);
	}
}

static void by_waitall(int tag)
{
	MPI_Request requests[MOST];
	MPI_Status statuses[MOST];
	int64_t sent[MOST], enter;
	int from[MOST];

	for (int i = 1; i < size; i++) {
		from[i - 1] = i;
		MPI_Irecv(&sent[i - 1], 1, MPI_INT64_T, i, tag, MPI_COMM_WORLD, &requests[i - 1]);
	}
	enter = now();
	MPI_Waitall(size - 1, requests, statuses);
	judge(enter, now(), size - 1, sent, from);
}

static void by_wait(int tag)
{
	for (int from = size - 1; from > 0; from--) {
		MPI_Request request;
		int64_t sent, enter;

		MPI_Irecv(&sent, 1, MPI_INT64_T, from, tag, MPI_COMM_WORLD, &request);
		enter = now();
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		judge(enter, now(), 1, &sent, &from);
	}
}

static void by_persistent(int tag)
{
	MPI_Request request;
	int64_t sent, enter;

	for (int from = 1; from < size; from++) {
		MPI_Recv_init(&sent, 1, MPI_INT64_T, from, tag, MPI_COMM_WORLD, &request);
		MPI_Start(&request);
		enter = now();
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		judge(enter, now(), 1, &sent, &from);
		MPI_Request_free(&request);
	}
}

static void by_mrecv(int tag)
{
	for (int from = 1; from < size; from++) {
		MPI_Message message;
		int64_t sent, enter = now(), left;

		MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
		left = now(); /* it is the probe that waits */
		MPI_Mrecv(&sent, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE);
		judge(enter, left, 1, &sent, &from);
	}
}

static void (*const ways[])(int tag) = {by_recv, by_waitall, by_wait, by_persistent, by_mrecv};
#define WAYS (int)(sizeof(ways) / sizeof(ways[0]))

/* To the right neighbour, from the left one, which comes later. */
static void ring(int tag)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	int64_t sent[2], enter;

	nap(rank * nap_ms);
	sent[0] = enter = now();
	MPI_Sendrecv(&sent[0], 1, MPI_INT64_T, to, tag, &sent[1], 1, MPI_INT64_T, from, tag,
		MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	judge(enter, now(), 1, &sent[1], &from);
}

int main(int argc, char **argv)
{
	char path[4096];
	FILE *f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2)
		nap_ms = atol(argv[2]);
	for (int turn = 0; turn < TURNS * WAYS; turn++) {
		MPI_Barrier(MPI_COMM_WORLD);
		nap(rank * nap_ms);
		if (rank)
			send_to(0, turn);
		if (!nap_ms)
			MPI_Barrier(MPI_COMM_WORLD);
		if (!rank)
			ways[turn % WAYS](turn);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (nap_ms)
		ring(1000);
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	f = fopen(path, "w");
	for (int from = 0; from < size; from++)
		fprintf(f, "%d %d %lld\n", rank, from, (long long)late[from]);
	fclose(f);
	MPI_Finalize();
	return 0;
}
