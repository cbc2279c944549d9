/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-mpi-arrows SECONDS: THREADS threads of each rank send to the same thread of the
 * next rank, each on a communicator of its own, until the time is over. The tag
 * is the thread; the length says which message of whom it is: 64 * round + rank.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS	    2
#define ROUNDS_MOST 400
#define PAUSE_NS    20000000

static MPI_Comm comms[THREADS];
static int rank, size, rounds;

static void *work(void *arg)
{
	static char out[64 * (ROUNDS_MOST + 1)], in[THREADS][64 * (ROUNDS_MOST + 1)];
	const int me = (int)(intptr_t)arg;

	for (int i = 1; i <= rounds; i++) {
		MPI_Request q;

		MPI_Isend(out, 64 * i + rank, MPI_CHAR, (rank + 1) % size, me, comms[me], &q);
		MPI_Recv(in[me], sizeof(in[me]), MPI_CHAR,
			i % 2 ? MPI_ANY_SOURCE : (rank + size - 1) % size, MPI_ANY_TAG, comms[me],
			MPI_STATUS_IGNORE);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
		nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rounds = argc > 1 ? atoi(argv[1]) * (1000000000 / PAUSE_NS) : 10;
	if (rounds > ROUNDS_MOST)
		rounds = ROUNDS_MOST;
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	if (level < MPI_THREAD_MULTIPLE) {
		fprintf(stderr, "no MPI_THREAD_MULTIPLE\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int i = 1; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	work(NULL);
	for (int i = 1; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	if (!rank)
		printf("%d\n", rounds * size * THREADS);
	return 0;
}
