/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random messages that carry who sent them: app-mpi-match LEVEL SEED ROUNDS FILE
 * [partitioned | wait FILE].
 *
 * In each round all ranks throw the same dice about the messages on one
 * communicator (world, a duplicate, all in reverse, every other rank, an
 * intercommunicator). The receives of one rank are of one style - any source and
 * tag, any tag, any source, or neither - so that none takes what another one needs.
 * Sends and receives are done in all ways that there are, by several threads if
 * LEVEL is serialized or multiple. The length of a message is its number at its
 * sender. FILE.RANK lists the messages that came: "from thread bytes to thread".
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS	 8
#define THREADS	 3
#define COMMS	 5
#define TAGS	 3
#define MESSAGES 40 /* in a round */
#define BYTES	 8192
#define HEADER	 ((int)sizeof(struct header))

struct header {
	int rank, thread, bytes, check;
};

struct op {
	int is_send, peer, tag, thread, how, bytes, done, freed;
	MPI_Request request;
	union {
		struct header header;
		char bytes[BYTES];
	} b;
};

struct space {
	MPI_Comm comm;
	int member[RANKS]; /* side 1 or 2, or 0; on an intracommunicator all are 1 */
	int number[RANKS]; /* of a world rank in its group */
	int inter;
};

enum { IRECV, RECV, PERSISTENT, MRECV, IMRECV, IMPROBE, RECEIVE_HOWS };
enum { ISEND, ISSEND, SEND_INIT, ISEND_FREED, SEND_HOWS };

static struct space spaces[COMMS];
static struct op ops[2 * MESSAGES];
static int n_ops, n_messages, rank, size, threads, level, last_number;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static const struct space *space;
static FILE *truth;
static unsigned long dice_of_all;
static int over;

static int throw(unsigned long *dice, int n)
{
	*dice = *dice * 6364136223846793005u + 1442695040888963407u;
	return (int)((*dice >> 33) % (unsigned long)n);
}

static void enter(void)
{
	if (level == MPI_THREAD_SERIALIZED)
		pthread_mutex_lock(&turn);
}

static void leave(void)
{
	if (level == MPI_THREAD_SERIALIZED)
		pthread_mutex_unlock(&turn);
}

static void check(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rank %d: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- communicators ------------------------------------------------------------------ */

static void number_members(struct space *s, int (*of)(int world))
{
	for (int r = 0; r < size; r++) {
		s->member[r] = of(r) >= 0;
		s->number[r] = of(r);
	}
}

static int same(int r)
{
	return r;
}

static int reversed(int r)
{
	return size - 1 - r;
}

static int every_other(int r)
{
	return r % 2 ? -1 : r / 2;
}

static void make_spaces(void)
{
	MPI_Comm half;

	spaces[0].comm = MPI_COMM_WORLD;
	number_members(&spaces[0], same);
	MPI_Comm_dup(MPI_COMM_WORLD, &spaces[1].comm);
	number_members(&spaces[1], same);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &spaces[2].comm);
	number_members(&spaces[2], reversed);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : 0, rank, &spaces[3].comm);
	number_members(&spaces[3], every_other);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 5, &spaces[4].comm);
	MPI_Comm_free(&half);
	spaces[4].inter = 1;
	for (int r = 0; r < size; r++) {
		spaces[4].member[r] = 1 + r % 2;
		spaces[4].number[r] = r / 2;
	}
}

static int may_send(const struct space *s, int from, int to)
{
	if (!s->member[from] || !s->member[to])
		return 0;
	return !s->inter || s->member[from] != s->member[to];
}

/* ---- what is done in a round ---------------------------------------------------------- */

static struct op *add_op(int is_send, int peer, int tag)
{
	struct op *o = &ops[n_ops++];

	o->is_send = is_send;
	o->peer = peer;
	o->tag = tag;
	o->done = o->freed = 0;
	o->request = MPI_REQUEST_NULL;
	return o;
}

static void plan(unsigned long *mine)
{
	int style[RANKS];

	n_ops = 0;
	space = &spaces[throw(&dice_of_all, COMMS)];
	for (int r = 0; r < size; r++)
		style[r] = throw(&dice_of_all, 4);
	n_messages = 5 + throw(&dice_of_all, MESSAGES - 5);
	for (int i = 0; i < n_messages; i++) {
		int from = throw(&dice_of_all, size), to = throw(&dice_of_all, size);
		int tag = throw(&dice_of_all, TAGS), any = style[to];

		if (!may_send(space, from, to))
			continue;
		if (from == rank)
			add_op(1, space->number[to], tag)->how = throw(mine, SEND_HOWS);
		if (to == rank)
			add_op(0, any & 1 ? MPI_ANY_SOURCE : space->number[from],
				any & 2 ? MPI_ANY_TAG : tag)
				->how = throw(mine, RECEIVE_HOWS);
	}
	/* the order of receives is not that of sends */
	for (int i = n_ops - 1; i > 0; i--) {
		int k = throw(mine, i + 1);
		struct op o = ops[i];

		ops[i] = ops[k];
		ops[k] = o;
	}
	for (int i = 0; i < n_ops; i++)
		ops[i].thread = throw(mine, threads);
}

static void start_send(struct op *o)
{
	MPI_Comm c = space->comm;

	enter();
	o->bytes = HEADER + __atomic_fetch_add(&last_number, 1, __ATOMIC_RELAXED);
	check(o->bytes < BYTES, "too many messages");
	o->b.header = (struct header){rank, o->thread, o->bytes, ~o->bytes};
	switch (o->how) {
	case ISSEND:
		MPI_Issend(o->b.bytes, o->bytes, MPI_BYTE, o->peer, o->tag, c, &o->request);
		break;
	case SEND_INIT:
		MPI_Send_init(o->b.bytes, o->bytes, MPI_BYTE, o->peer, o->tag, c, &o->request);
		MPI_Start(&o->request);
		break;
	default:
		MPI_Isend(o->b.bytes, o->bytes, MPI_BYTE, o->peer, o->tag, c, &o->request);
	}
	if (o->how == ISEND_FREED) {
		MPI_Request_free(&o->request);
		o->done = 1;
	}
	leave();
}

static void probe_and_receive(struct op *o)
{
	MPI_Message m = MPI_MESSAGE_NULL;
	MPI_Status s;
	int found = 0;

	if (level != MPI_THREAD_SERIALIZED && o->how != IMPROBE)
		MPI_Mprobe(o->peer, o->tag, space->comm, &m, &s);
	else
		while (!found) {
			enter();
			MPI_Improbe(o->peer, o->tag, space->comm, &found, &m, &s);
			leave();
		}
	enter();
	if (o->how == IMRECV) {
		MPI_Imrecv(o->b.bytes, BYTES, MPI_BYTE, &m, &o->request);
	} else {
		MPI_Mrecv(o->b.bytes, BYTES, MPI_BYTE, &m, &s);
		o->done = 1;
	}
	leave();
}

static void start_receive(struct op *o)
{
	MPI_Comm c = space->comm;

	memset(&o->b.header, 0, sizeof(o->b.header));
	if (o->how == MRECV || o->how == IMRECV || o->how == IMPROBE) {
		probe_and_receive(o);
		return;
	}
	enter();
	if (o->how == RECV && level != MPI_THREAD_SERIALIZED) {
		MPI_Recv(o->b.bytes, BYTES, MPI_BYTE, o->peer, o->tag, c, MPI_STATUS_IGNORE);
		o->done = 1;
	} else if (o->how == PERSISTENT) {
		MPI_Recv_init(o->b.bytes, BYTES, MPI_BYTE, o->peer, o->tag, c, &o->request);
		MPI_Start(&o->request);
	} else {
		MPI_Irecv(o->b.bytes, BYTES, MPI_BYTE, o->peer, o->tag, c, &o->request);
	}
	leave();
}

/* From the last to the first, so that completion is in another order than posting. */
static void complete(int me)
{
	int open = 1;

	while (open) {
		open = 0;
		for (int i = n_ops - 1; i >= 0; i--) {
			struct op *o = &ops[i];

			if (o->thread != me || o->done)
				continue;
			enter();
			if (level == MPI_THREAD_SERIALIZED || o->bytes % 2)
				MPI_Test(&o->request, &o->done, MPI_STATUS_IGNORE);
			else
				o->done = !MPI_Wait(&o->request, MPI_STATUS_IGNORE);
			if (o->done && o->request != MPI_REQUEST_NULL)
				MPI_Request_free(&o->request); /* persistent */
			leave();
			open |= !o->done;
		}
	}
}

static void do_my_part(int me)
{
	for (int i = 0; i < n_ops; i++)
		if (ops[i].thread == me && ops[i].is_send)
			start_send(&ops[i]);
	for (int i = 0; i < n_ops; i++)
		if (ops[i].thread == me && !ops[i].is_send)
			start_receive(&ops[i]);
	complete(me);
}

static void tell(void)
{
	for (int i = 0; i < n_ops; i++) {
		const struct header *h = &ops[i].b.header;

		if (ops[i].is_send)
			continue;
		check(h->check == ~h->bytes, "a message was not what was sent");
		fprintf(truth, "%d %d %d %d %d\n", h->rank, h->thread, h->bytes, rank,
			ops[i].thread);
	}
}

/* Nothing has been sent yet that it could take. */
static void cancel_one(unsigned long *mine)
{
	MPI_Request q;
	char room[16];

	if (space->comm == MPI_COMM_NULL || throw(mine, 2))
		return;
	MPI_Irecv(room, sizeof(room), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, space->comm, &q);
	MPI_Cancel(&q);
	MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void *other_thread(void *number)
{
	for (;;) {
		pthread_barrier_wait(&barrier);
		if (over)
			return NULL;
		do_my_part((int)(long)number);
		pthread_barrier_wait(&barrier);
	}
}

/* Inits in one order, starts in another; two starts of each. */
static void partitioned(void)
{
#if MPI_VERSION >= 4
	enum { N = 3, PARTS = 2 };
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request q[2 * N];
	int first;

	/* both sides know the length */
	MPI_Allreduce(&last_number, &first, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	for (int i = 0; i < N; i++) {
		struct op *o = &ops[i], *in = &ops[N + i];

		/* even, as there are two parts */
		o->bytes = HEADER + (first + 1) / 2 * 2 + 2 * i;
		MPI_Psend_init(o->b.bytes, PARTS, o->bytes / PARTS, MPI_BYTE, next, 1,
			MPI_COMM_WORLD, MPI_INFO_NULL, &q[i]);
		MPI_Precv_init(in->b.bytes, PARTS, o->bytes / PARTS, MPI_BYTE, before, 1,
			MPI_COMM_WORLD, MPI_INFO_NULL, &q[N + i]);
	}
	for (int i = 2 * N - 1; i >= 0; i--) {
		if (i < N)
			ops[i].b.header = (struct header){rank, 0, ops[i].bytes, ~ops[i].bytes};
		MPI_Start(&q[i]);
		for (int k = 0; i < N && k < PARTS; k++)
			MPI_Pready(k, q[i]);
	}
	for (int i = 0; i < 2 * N; i++)
		MPI_Wait(&q[i], MPI_STATUS_IGNORE);
	for (int i = 0; i < N; i++) {
		ops[i] = ops[N + i];
		ops[i].is_send = ops[i].thread = 0;
	}
	n_ops = N;
	tell();
	for (int i = 0; i < 2 * N; i++)
		MPI_Request_free(&q[i]);
#endif
}

/* So that something can happen to the agents in the middle. */
static void wait_for_file(const char *name)
{
	fflush(truth);
	while (access(name, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
	int provided, wanted = 0, rounds = atoi(argv[3]);
	unsigned long mine;
	pthread_t others[THREADS];
	char name[256];

	while (wanted < 3 && strcmp(levels[wanted], argv[1]))
		wanted++;
	MPI_Init_thread(&argc, &argv, wanted, &provided);
	level = wanted;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	check(provided >= wanted && size <= RANKS && size > 1, "a level or size that is not had");
	threads = level >= MPI_THREAD_SERIALIZED ? THREADS : 1;
	snprintf(name, sizeof(name), "%s.%d", argv[4], rank);
	truth = fopen(name, "w");
	dice_of_all = strtoul(argv[2], NULL, 0);
	mine = dice_of_all * 1000 + (unsigned)rank;
	make_spaces();
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, other_thread, (void *)i);
	for (int i = 0; i < rounds; i++) {
		plan(&mine);
		cancel_one(&mine);
		MPI_Barrier(MPI_COMM_WORLD);
		pthread_barrier_wait(&barrier);
		do_my_part(0);
		pthread_barrier_wait(&barrier);
		tell();
		MPI_Barrier(MPI_COMM_WORLD);
		if (argc > 6 && i == rounds / 2)
			wait_for_file(argv[6]);
	}
	if (argc == 6)
		partitioned();
	over = 1;
	pthread_barrier_wait(&barrier);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	for (int i = 1; i < COMMS; i++)
		if (spaces[i].comm != MPI_COMM_NULL)
			MPI_Comm_free(&spaces[i].comm);
	fclose(truth);
	MPI_Finalize();
	return 0;
}
