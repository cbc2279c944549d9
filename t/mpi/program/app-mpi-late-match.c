/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What other tools match wrongly: app-mpi-late-match FILE MESSAGES, three ranks.
 *
 * Each message carries its sender and how many that one had sent to this rank on
 * this communicator before. FILE.RANK lists what came: "case tag from sent to
 * posted", where posted counts the receives on the communicator before. That is
 * what tickets count. MESSAGES are in flight at once in one of the cases.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 3
#define LARGE (68 << 20)

struct space {
	MPI_Comm comm;
	int sent[RANKS], posted;
};

struct header {
	int from, sent;
};

static int rank, messages;
static FILE *truth;
static const char *what; /* the case */
static char *buffer;	 /* LARGE */

static struct space space_new(void)
{
	struct space s = {0};

	MPI_Comm_dup(MPI_COMM_WORLD, &s.comm);
	return s;
}

static void space_free(struct space *s)
{
	MPI_Barrier(s->comm);
	MPI_Comm_free(&s->comm);
}

static void send_to(struct space *s, int to, int tag, int bytes)
{
	struct header h = {rank, s->sent[to]++};

	memcpy(buffer, &h, sizeof(h));
	MPI_Send(buffer, bytes, MPI_BYTE, to, tag, s->comm);
}

static void note(const struct header *h, int tag, int posted)
{
	fprintf(truth, "%s %d %d %d %d %d\n", what, tag, h->from, h->sent, rank, posted);
}

static void receive_from(struct space *s, int from, int tag, int bytes)
{
	MPI_Status status;
	struct header h;

	MPI_Recv(buffer, bytes, MPI_BYTE, from, tag, s->comm, &status);
	memcpy(&h, buffer, sizeof(h));
	note(&h, status.MPI_TAG, s->posted++);
}

/* The same tag and length on two communicators, received in the other order. */
static void communicators(void)
{
	struct space a = space_new(), b = space_new();

	what = "W1";
	if (rank == 0) {
		send_to(&a, 1, 9, 8); /* so that the numbers differ */
		send_to(&a, 1, 1, 64);
		send_to(&b, 1, 1, 64);
	} else if (rank == 1) {
		receive_from(&b, 0, 1, 64);
		receive_from(&a, 0, 9, 8);
		receive_from(&a, 0, 1, 64);
	}
	space_free(&a);
	space_free(&b);
}

static void sources(void)
{
	struct space s = space_new();

	what = "W2";
	if (rank == 0)
		send_to(&s, 1, 2, 64);
	MPI_Barrier(s.comm);
	if (rank == 2) {
		send_to(&s, 1, 99, 8);
		send_to(&s, 1, 2, 64);
	} else if (rank == 1) {
		receive_from(&s, 2, 99, 8);
		receive_from(&s, 2, 2, 64);
		receive_from(&s, 0, 2, 64);
	}
	space_free(&s);
}

static void equal_ones(void)
{
	struct space s = space_new();

	what = "W3";
	for (int i = 0; i < 20; i++) {
		if (rank == 0)
			send_to(&s, 1, 3, 64);
		else if (rank == 1 && i % 2)
			receive_from(&s, 0, 3, 64);
	}
	for (int i = 0; rank == 1 && i < 10; i++)
		receive_from(&s, 0, 3, 64);
	space_free(&s);
}

static void many(void)
{
	struct space s = space_new();

	what = "W4";
	for (int i = 0; rank == 0 && i < messages; i++)
		send_to(&s, 1, i, 8);
	for (int i = messages - 1; rank == 1 && i >= 0; i--)
		receive_from(&s, 0, i, 8);
	space_free(&s);
}

/* More room than what is sent, and another type. */
static void lengths(void)
{
	struct space s = space_new();
	MPI_Datatype pair;
	struct header h[8];

	what = "W6";
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	if (rank == 0) {
		send_to(&s, 1, 6, 40);
		send_to(&s, 1, 6, 8);
	} else if (rank == 1) {
		receive_from(&s, 0, 6, 4096);
		MPI_Recv(h, 8, pair, 0, 6, s.comm, MPI_STATUS_IGNORE);
		note(h, 6, s.posted++);
	}
	MPI_Type_free(&pair);
	space_free(&s);
}

static void wide_numbers(void)
{
	struct space s = space_new();
	const int tag = 7 + (3 << 16);

	what = "W7";
	if (rank == 0) {
		send_to(&s, 1, 7, 64);
		send_to(&s, 1, tag, 64);
		send_to(&s, 1, tag, LARGE);
	} else if (rank == 1) {
		receive_from(&s, 0, tag, 64);
		receive_from(&s, 0, 7, 64);
		receive_from(&s, 0, tag, LARGE);
	}
	space_free(&s);
}

static void *thread_sends(void *s)
{
	send_to(s, 1, 8, 64);
	return NULL;
}

static void *thread_receives(void *s)
{
	receive_from(s, 0, 8, 64);
	return NULL;
}

static void *thread_idles(void *s)
{
	return s;
}

static void run_thread(void *(*f)(void *), struct space *s)
{
	pthread_t t;

	pthread_create(&t, NULL, f, s);
	pthread_join(t, NULL);
}

/* From the first thread of a rank to the second of another. */
static void threads(void)
{
	struct space s = space_new();

	what = "W8";
	if (rank == 0)
		run_thread(thread_sends, &s);
	else
		run_thread(thread_idles, &s);
	if (rank == 1)
		run_thread(thread_receives, &s);
	space_free(&s);
}

/* One that is cancelled in time, one that is too late, and any of two sources. */
static void wildcards(void)
{
	struct space s = space_new();
	MPI_Request q;
	MPI_Status status;
	struct header h;
	int cancelled;

	what = "W9";
	if (rank == 1) {
		MPI_Irecv(&h, sizeof(h), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, s.comm, &q);
		s.posted++;
		MPI_Cancel(&q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		MPI_Irecv(&h, sizeof(h), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, s.comm, &q);
	}
	MPI_Barrier(s.comm);
	if (rank == 2)
		send_to(&s, 1, 9, 8);
	else if (rank == 0)
		send_to(&s, 1, 9, 8);
	if (rank == 1) {
		MPI_Message m;
		int found = 0;

		while (!found) /* then the first one has come, too */
			MPI_Iprobe(MPI_ANY_SOURCE, 9, s.comm, &found, &status);
		MPI_Cancel(&q);
		MPI_Wait(&q, &status);
		MPI_Test_cancelled(&status, &cancelled);
		if (!cancelled)
			note(&h, 9, s.posted);
		s.posted++;
		for (int i = cancelled ? 0 : 1; i < 2; i++) {
			MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, s.comm, &m, &status);
			MPI_Mrecv(&h, sizeof(h), MPI_BYTE, &m, &status);
			note(&h, status.MPI_TAG, s.posted++);
		}
	}
	space_free(&s);
}

/* Waited for in the other order than posted. */
static void posts(void)
{
	struct space s = space_new();
	struct header h[8];
	MPI_Request q[8];

	what = "W10";
	for (int i = 0; i < 8 && rank == 0; i++)
		send_to(&s, 1, 10, 8);
	for (int i = 0; i < 8 && rank == 1; i++)
		MPI_Irecv(&h[i], sizeof(h[i]), MPI_BYTE, 0, 10, s.comm, &q[i]);
	for (int i = 7; i >= 0 && rank == 1; i--) {
		MPI_Wait(&q[i], MPI_STATUS_IGNORE);
		note(&h[i], 10, i);
	}
	space_free(&s);
}

int main(int argc, char **argv)
{
	int provided;
	char name[256];

	MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	snprintf(name, sizeof(name), "%s.%d", argv[1], rank);
	truth = fopen(name, "w");
	messages = atoi(argv[2]);
	buffer = calloc(1, LARGE);
	communicators();
	sources();
	equal_ones();
	many();
	lengths();
	wide_numbers();
	threads();
	wildcards();
	posts();
	free(buffer);
	fclose(truth);
	MPI_Finalize();
	return 0;
}
