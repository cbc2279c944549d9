/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that call MPI at once; only where MPI_THREAD_MULTIPLE was provided. */
#include <pthread.h>
#include "transparent.h"

enum { THREADS = 4, ROUNDS = 100 };

struct worker {
	pthread_t thread;
	int number;
	MPI_Comm comm;
	int wrong;
	unsigned sum;
};

static void run_all(void *(*work)(void *), struct worker *w)
{
	for (int i = 0; i < THREADS; i++) {
		w[i].number = i;
		w[i].wrong = 0;
		w[i].sum = 0;
		CHECK(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		CHECK(w[i].wrong == 0);
		say("thread %d: wrong %d sum %u", i, w[i].wrong, w[i].sum);
	}
}

/* Each with its own tag, in one communicator. */
static void *ping(void *arg)
{
	struct worker *w = arg;
	MPI_Status status;
	MPI_Request requests[2];
	int x, y;

	for (int i = 0; i < ROUNDS; i++) {
		x = 1000 * w->number + i;
		mark(&status, 1);
		if (i % 2) {
			MPI_Sendrecv(&x, 1, MPI_INT, peer, w->number, &y, 1, MPI_INT,
				MPI_ANY_SOURCE, w->number, comm, &status);
		} else {
			MPI_Irecv(&y, 1, MPI_INT, peer, w->number, comm, &requests[0]);
			MPI_Isend(&x, 1, MPI_INT, peer, w->number, comm, &requests[1]);
			MPI_Wait(&requests[0], &status);
			MPI_Waitall(1, &requests[1], MPI_STATUSES_IGNORE);
		}
		w->wrong += y != x || status.MPI_SOURCE != peer || status.MPI_TAG != w->number;
		w->sum = 31 * w->sum + y;
	}
	return NULL;
}

static void threads_messages(void)
{
	struct worker w[THREADS];

	if (provided_level < MPI_THREAD_MULTIPLE)
		return;
	run_all(ping, w);
}

/* Each with its own communicator and collectives. */
static void *reduce_rounds(void *arg)
{
	struct worker *w = arg;
	MPI_Request request;
	int x, y;

	for (int i = 0; i < ROUNDS / 4; i++) {
		x = rank + i;
		if (i % 2) {
			MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, w->comm);
		} else {
			MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, w->comm, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		w->wrong += y != size * (size - 1) / 2 + size * i;
		w->sum += y;
	}
	return NULL;
}

static void threads_collectives(void)
{
	struct worker w[THREADS];

	if (provided_level < MPI_THREAD_MULTIPLE)
		return;
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Comm_dup(comm, &w[i].comm));
	run_all(reduce_rounds, w);
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Comm_free(&w[i].comm));
}

/* Opened by one thread, completed by another, and as another handle meanwhile. */
static MPI_Request handed[THREADS];
static int handed_in[THREADS];

static void *complete_other(void *arg)
{
	struct worker *w = arg;
	MPI_Status status;

	for (int i = 0; i < 20; i++) {
		int own = -1;

		MPI_Sendrecv(&i, 1, MPI_INT, 0, 50 + w->number, &own, 1, MPI_INT, 0, 50 + w->number,
			MPI_COMM_SELF, MPI_STATUS_IGNORE);
		w->wrong += own != i;
	}
	mark(&status, 1);
	MPI_Wait(&handed[w->number], &status);
	w->wrong += status.MPI_SOURCE != peer || status.MPI_TAG != 70 + w->number;
	w->wrong += handed_in[w->number] != 5 * w->number;
	w->sum = handed_in[w->number];
	return NULL;
}

static void threads_handed(void)
{
	struct worker w[THREADS];

	if (provided_level < MPI_THREAD_MULTIPLE)
		return;
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Irecv(&handed_in[i], 1, MPI_INT, MPI_ANY_SOURCE, 70 + i, comm, &handed[i]));
	for (int i = 0; i < THREADS; i++)
		OK(MPI_Send(&(int){5 * i}, 1, MPI_INT, peer, 70 + i, comm));
	run_all(complete_other, w);
}

static void *is_main(void *arg)
{
	struct worker *w = arg;
	int flag = -1, level = -1;

	MPI_Is_thread_main(&flag);
	MPI_Query_thread(&level);
	w->wrong = flag != 0 || level != provided_level;
	return NULL;
}

static void threads_queries(void)
{
	struct worker w[THREADS];

	if (provided_level < MPI_THREAD_MULTIPLE)
		return;
	run_all(is_main, w);
}

/* Errors and their handler on all threads at once. */
static void *make_errors(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS; i++) {
		int code = MPI_Send(&i, 1, MPI_INT, size + 3, 1, comm), class = -1;

		MPI_Error_class(code, &class);
		w->wrong += class != MPI_ERR_RANK;
	}
	return NULL;
}

static void threads_errors(void)
{
	struct worker w[THREADS];

	if (provided_level < MPI_THREAD_MULTIPLE)
		return;
	run_all(make_errors, w);
}

const struct program thread_programs[] = {{"threads_messages", threads_messages, PAIR},
	{"threads_collectives", threads_collectives, ANY}, {"threads_handed", threads_handed, PAIR},
	{"threads_queries", threads_queries, ANY}, {"threads_errors", threads_errors, ANY},
	{NULL, NULL, 0}};
