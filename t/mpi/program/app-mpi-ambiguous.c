/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of rank 0 and 1 that communicate at the same time, in ways in which
 * the order of their messages is defined, or not:
 *
 *	sends	two threads are inside of a synchronous send of one channel
 *	tags	... each with its own tag
 *	comms	... each on its own communicator
 *	mutex	two threads take turns on one channel
 *	recvs	two threads are inside of a receive of one channel
 *	any	one of them from any source
 *	server	one waits for a message with a tag of its own all the time, while
 *		the other one sends and receives
 *	handed	one posts a receive and ends, another one completes it
 *
 * Prints what each thread of a rank did: "rank thread sends bytes receives bytes".
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 5
#define TURNS  500
#define BYTES  (1 << 20)

static struct done {
	long sends, bytes_sent, receives, bytes_received;
} done[3];
static pthread_barrier_t barrier;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm comms[3];
static MPI_Request left_behind;
static int rank, tag_apart, comm_apart, any_source;
static char *buffer[3];

static void sent(int me, int bytes)
{
	done[me].sends++;
	done[me].bytes_sent += bytes;
}

static void received(int me, int bytes)
{
	done[me].receives++;
	done[me].bytes_received += bytes;
}

static int tag_of(int me)
{
	return tag_apart ? me : 7;
}

static MPI_Comm comm_of(int me)
{
	return comm_apart ? comms[me] : MPI_COMM_WORLD;
}

/* Neither can leave before both have entered: the other rank receives when it has seen both. */
static void *send_big(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Ssend(buffer[me], BYTES, MPI_CHAR, 1, tag_of(me), comm_of(me));
		sent(me, BYTES);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *receive_small(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		MPI_Recv(buffer[me], 8, MPI_CHAR, any_source && me == 1 ? MPI_ANY_SOURCE : 0,
			tag_of(me), comm_of(me), MPI_STATUS_IGNORE);
		received(me, 8);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *take_turns(void *arg)
{
	int me = (int)(long)arg;

	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&turn);
		MPI_Send(buffer[me], 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
		pthread_mutex_unlock(&turn);
		sent(me, 8);
	}
	return NULL;
}

static void *serve(void *arg)
{
	(void)arg;
	MPI_Recv(buffer[1], 8, MPI_CHAR, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	received(1, 8);
	return NULL;
}

static void *post_and_end(void *arg)
{
	(void)arg;
	MPI_Irecv(buffer[1], 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, &left_behind);
	return NULL;
}

static void *complete(void *arg)
{
	(void)arg;
	MPI_Wait(&left_behind, MPI_STATUS_IGNORE);
	received(1, 8); /* it counts to the one that posted it */
	return NULL;
}

static void two(void *(*run)(void *), void (*meanwhile)(void))
{
	pthread_t t[2];

	pthread_barrier_init(&barrier, NULL, meanwhile ? 3 : 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, run, (void *)(i + 1));
	if (meanwhile)
		meanwhile();
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void tell(int to)
{
	MPI_Send(buffer[0], 4, MPI_CHAR, to, 1000, MPI_COMM_WORLD);
	sent(0, 4);
}

static void hear(int from)
{
	MPI_Recv(buffer[0], 4, MPI_CHAR, from, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	received(0, 4);
}

/* They are most likely inside after a while. */
static void let_them_receive(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&barrier);
		usleep(20000);
		tell(0);
		pthread_barrier_wait(&barrier);
	}
}

static void sends(void)
{
	MPI_Message message[3];

	if (rank == 0) {
		two(send_big, NULL);
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 1; k <= 2; k++)
			MPI_Mprobe(0, tag_of(k), comm_of(k), &message[k], MPI_STATUS_IGNORE);
		for (int k = 1; k <= 2; k++) {
			MPI_Mrecv(buffer[0], BYTES, MPI_CHAR, &message[k], MPI_STATUS_IGNORE);
			received(0, BYTES);
		}
	}
}

static void receives(void)
{
	if (rank == 1) {
		two(receive_small, let_them_receive);
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		hear(1);
		for (int k = 1; k <= 2; k++) {
			MPI_Send(buffer[0], 8, MPI_CHAR, 1, tag_of(k), comm_of(k));
			sent(0, 8);
		}
	}
}

static void mutex(void)
{
	if (rank == 0) {
		two(take_turns, NULL);
		return;
	}
	for (int i = 0; i < 2 * TURNS; i++) {
		MPI_Recv(buffer[0], 8, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		received(0, 8);
	}
}

static void server(void)
{
	pthread_t t;

	if (rank == 1)
		pthread_create(&t, NULL, serve, NULL);
	for (int i = 0; i < TURNS; i++) {
		if (rank == 0) {
			tell(1);
			hear(1);
		} else {
			hear(0);
			tell(0);
		}
	}
	if (rank == 1) {
		pthread_join(t, NULL);
	} else {
		MPI_Send(buffer[0], 8, MPI_CHAR, 1, 99, MPI_COMM_WORLD);
		sent(0, 8);
	}
}

static void handed(void)
{
	pthread_t t;

	if (rank == 0) {
		hear(1);
		MPI_Send(buffer[0], 8, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
		sent(0, 8);
		return;
	}
	pthread_create(&t, NULL, post_and_end, NULL);
	pthread_join(t, NULL);
	tell(0);
	pthread_create(&t, NULL, complete, NULL);
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	if (level != MPI_THREAD_MULTIPLE)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 3; i++) {
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
		buffer[i] = calloc(1, BYTES);
	}
	tag_apart = !strcmp(how, "tags");
	comm_apart = !strcmp(how, "comms");
	any_source = !strcmp(how, "any");
	if (!strcmp(how, "sends") || tag_apart || comm_apart)
		sends();
	else if (!strcmp(how, "recvs") || any_source)
		receives();
	else if (!strcmp(how, "mutex"))
		mutex();
	else if (!strcmp(how, "server"))
		server();
	else if (!strcmp(how, "handed"))
		handed();
	for (int i = 0; i < 3; i++) {
		printf("%d %d %ld %ld %ld %ld\n", rank, i, done[i].sends, done[i].bytes_sent,
			done[i].receives, done[i].bytes_received);
		MPI_Comm_free(&comms[i]);
	}
	MPI_Finalize();
	return 0;
}
