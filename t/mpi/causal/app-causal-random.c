/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random communication: app-causal-random SEED PROGRAMS STEPS. All ranks draw the same dice for
 * what is done; each has dice of its own for how long it works in between. What is measured of
 * it is compared with reference.py.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMS 4
#define LONG  200000

static uint64_t shared_dice, own_dice;
static int rank, size, tag;
static MPI_Comm comms[COMMS];
static char from_here[LONG], to_here[LONG], exposed[64], locked_here[64];
static MPI_Win window, locked;
static MPI_Op sum_here;

__attribute__((no_instrument_function)) static unsigned throw(uint64_t * dice, unsigned sides)
{
	*dice = *dice * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(*dice >> 33) % sides;
}

__attribute__((no_instrument_function)) static unsigned draw(unsigned sides)
{
	return throw(&shared_dice, sides);
}

__attribute__((no_instrument_function)) static void spin(unsigned us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec <
		(long)us * 1000);
}

static void work_a(void)
{
	spin(throw(&own_dice, 300));
}

static void work_b(void)
{
	spin(throw(&own_dice, 100));
	if (throw(&own_dice, 2))
		work_a();
}

static void work(void)
{
	switch (throw(&own_dice, 4)) {
	case 0:
		break;
	case 1:
		work_a();
		break;
	default:
		work_b();
	}
}

static void send_one(int to, int bytes, unsigned how)
{
	MPI_Request q;

	if (how == 0) {
		MPI_Send(from_here, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
	} else if (how == 1) {
		MPI_Ssend(from_here, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD);
	} else {
		MPI_Isend(from_here, bytes, MPI_CHAR, to, tag, MPI_COMM_WORLD, &q);
		work();
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	}
}

static void receive_one(int from, int bytes, unsigned how)
{
	MPI_Request q;
	int there = 0;

	if (how == 0) {
		MPI_Recv(to_here, bytes, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE);
		return;
	}
	MPI_Irecv(to_here, bytes, MPI_CHAR, from, tag, MPI_COMM_WORLD, &q);
	work();
	if (how == 1)
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	while (how == 2 && !there) {
		spin(50);
		MPI_Test(&q, &there, MPI_STATUS_IGNORE);
	}
}

static void message(void)
{
	static const int lengths[] = {8, 1000, LONG};
	const int from = (int)draw((unsigned)size);
	const int to = (from + 1 + (int)draw((unsigned)size - 1)) % size;
	const int bytes = lengths[draw(3)];
	const unsigned how = draw(3), how_received = draw(3);

	if (rank == from)
		send_one(to, bytes, how);
	else if (rank == to)
		receive_one(from, bytes, how_received);
}

static void halo(void)
{
	const int bytes = draw(2) ? 64 : LONG / 4, left = (rank + size - 1) % size;
	const int right = (rank + 1) % size;
	MPI_Request q[4];
	MPI_Status statuses[4];

	MPI_Irecv(to_here, bytes, MPI_CHAR, left, 2, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(to_here + LONG / 2, bytes, MPI_CHAR, right, 3, MPI_COMM_WORLD, &q[1]);
	MPI_Isend(from_here, bytes, MPI_CHAR, right, 2, MPI_COMM_WORLD, &q[2]);
	MPI_Isend(from_here, bytes, MPI_CHAR, left, 3, MPI_COMM_WORLD, &q[3]);
	work();
	MPI_Waitall(4, q, statuses);
}

static void ring(void)
{
	MPI_Sendrecv(from_here, 32, MPI_CHAR, (rank + 1) % size, 4, to_here, 32, MPI_CHAR,
		(rank + size - 1) % size, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The ring again, with requests that are made once and started twice. */
static void persistent(void)
{
	MPI_Request q[2];
	MPI_Status statuses[2];

	MPI_Recv_init(to_here, 48, MPI_CHAR, (rank + size - 1) % size, 6, MPI_COMM_WORLD, &q[0]);
	MPI_Send_init(from_here, 48, MPI_CHAR, (rank + 1) % size, 6, MPI_COMM_WORLD, &q[1]);
	for (int i = 0; i < 2; i++) {
		MPI_Startall(2, q);
		work();
		MPI_Waitall(2, q, statuses);
	}
	MPI_Request_free(&q[0]);
	MPI_Request_free(&q[1]);
}

/* A message is found first, then received. */
static void find_and_match(unsigned how)
{
	MPI_Message found;
	MPI_Request q;

	MPI_Mprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
	work();
	if (how) {
		MPI_Mrecv(to_here, 24, MPI_CHAR, &found, MPI_STATUS_IGNORE);
		return;
	}
	MPI_Imrecv(to_here, 24, MPI_CHAR, &found, &q);
	work();
	MPI_Wait(&q, MPI_STATUS_IGNORE);
}

static void receive(int with_tag)
{
	MPI_Recv(
		to_here, 24, MPI_CHAR, MPI_ANY_SOURCE, with_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* By MPI_Probe(), which takes it from nobody: so others may be received before. */
static void find(unsigned how)
{
	MPI_Request q;

	MPI_Probe(MPI_ANY_SOURCE, how == 2 ? 7 : tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	work();
	if (how == 0) {
		receive(tag);
	} else if (how == 1) {
		MPI_Probe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(to_here, 24, MPI_CHAR, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &q);
		work();
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	} else {
		receive(how == 2 ? tag : 7);
		receive(how == 2 ? 7 : tag);
	}
}

static void probed(void)
{
	const int from = (int)draw((unsigned)size);
	const int to = (from + 1 + (int)draw((unsigned)size - 1)) % size;
	const unsigned how = draw(6);

	if (rank == from) {
		MPI_Send(from_here, 24, MPI_CHAR, to, tag, MPI_COMM_WORLD);
		work();
		if (how >= 4)
			MPI_Send(from_here, 24, MPI_CHAR, to, 7, MPI_COMM_WORLD);
	} else if (rank == to && how < 2) {
		find_and_match(how);
	} else if (rank == to) {
		find(how - 2);
	}
}

/* One rank gets a message of each other one, in the order in which they come. */
static void gather_any(void)
{
	const int to = (int)draw((unsigned)size);
	MPI_Request *q = malloc((size_t)size * sizeof(*q));
	int n = 0, which;

	if (rank != to) {
		work();
		MPI_Send(from_here, 16, MPI_CHAR, to, 5, MPI_COMM_WORLD);
	}
	for (int i = 0; rank == to && i < size; i++)
		if (i != to)
			MPI_Irecv(to_here + 16 * i, 16, MPI_CHAR, i, 5, MPI_COMM_WORLD, &q[n++]);
	for (int i = 0; i < n; i++) {
		MPI_Waitany(n, q, &which, MPI_STATUS_IGNORE);
		work();
	}
	free(q);
}

/* MPI calls it on the way, while other ranks are late. */
static void add_up(void *in, void *to, int *n, MPI_Datatype *type)
{
	(void)type;
	spin(throw(&own_dice, 100));
	for (int i = 0; i < *n; i++)
		((int *)to)[i] += ((int *)in)[i];
}

static void collective(void)
{
	MPI_Comm c = comms[draw(COMMS)];
	const unsigned what = draw(11), root_of = draw(1000);
	const MPI_Op op = root_of % 2 ? MPI_SUM : sum_here;
	int n, root, in[64] = {0}, out[64];

	MPI_Comm_size(c, &n);
	root = (int)root_of % n;
	switch (what) {
	case 0:
		MPI_Barrier(c);
		break;
	case 1:
		MPI_Allreduce(in, out, 8, MPI_INT, op, c);
		break;
	case 2:
		MPI_Alltoall(in, 1, MPI_INT, out, 1, MPI_INT, c);
		break;
	case 3:
		MPI_Bcast(in, 8, MPI_INT, root, c);
		break;
	case 4:
		MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, root, c);
		break;
	case 5:
		MPI_Reduce(in, out, 8, MPI_INT, op, root, c);
		break;
	case 6:
		MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, root, c);
		break;
	case 7:
		MPI_Scan(in, out, 4, MPI_INT, op, c);
		break;
	case 8:
		MPI_Exscan(in, out, 4, MPI_INT, op, c);
		break;
	case 9:
		MPI_Reduce_scatter_block(in, out, 1, MPI_INT, op, c);
		break;
	default:
		MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_INT, c);
	}
}

static void collective_later(void)
{
	MPI_Comm c = comms[draw(COMMS)];
	const unsigned what = draw(3), root_of = draw(1000);
	int n, in[8] = {0}, out[8];
	MPI_Request q;

	MPI_Comm_size(c, &n);
	if (what == 0)
		MPI_Ibarrier(c, &q);
	else if (what == 1)
		MPI_Iallreduce(in, out, 8, MPI_INT, MPI_SUM, c, &q);
	else
		MPI_Ibcast(in, 8, MPI_INT, (int)root_of % n, c, &q);
	work();
	MPI_Wait(&q, MPI_STATUS_IGNORE);
}

/* All put to their right, between two fences. */
static void fences(void)
{
	MPI_Win_fence(0, window);
	work();
	MPI_Put(from_here, 8, MPI_CHAR, (rank + 1) % size, 8, 8, MPI_CHAR, window);
	work();
	MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

static MPI_Group group_of(int n, const int *ranks)
{
	MPI_Group all, some;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, n, ranks, &some);
	MPI_Group_free(&all);
	return some;
}

/* One or two ranks put to another one. */
static void epochs(void)
{
	const int to = (int)draw((unsigned)size), n = 1 + (int)draw(2);
	const int from[2] = {(to + 1) % size, (to + 2) % size};
	MPI_Group group;

	if (rank == to) {
		group = group_of(n, from);
		MPI_Win_post(group, 0, window);
		work();
		MPI_Win_wait(window);
	} else if (rank == from[0] || (n == 2 && rank == from[1])) {
		group = group_of(1, &to);
		MPI_Win_start(group, 0, window);
		work();
		/* ranks are the other way round there */
		MPI_Put(from_here, 8, MPI_CHAR, size - 1 - to, 16, 8, MPI_CHAR, window);
		work();
		MPI_Win_complete(window);
	} else {
		return;
	}
	MPI_Group_free(&group);
}

/* Some ranks want a lock of the same target, or of all. */
static void locks(void)
{
	const int first = (int)draw((unsigned)size), n = 1 + (int)draw((unsigned)size);
	const int to = (int)draw((unsigned)size), all = !draw(3);
	const int how = throw(&own_dice, 2) ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;

	if ((rank + size - first) % size >= n)
		return;
	if (all && how == MPI_LOCK_SHARED)
		MPI_Win_lock_all(0, locked);
	else
		MPI_Win_lock(how, to, 0, locked);
	work();
	MPI_Put(from_here, 8, MPI_CHAR, to, 8 * (rank % 8), 8, MPI_CHAR, locked);
	if (throw(&own_dice, 3) == 0)
		MPI_Win_flush_local(to, locked);
	if (throw(&own_dice, 2))
		MPI_Win_flush(to, locked);
	work();
	if (all && how == MPI_LOCK_SHARED)
		MPI_Win_unlock_all(locked);
	else
		MPI_Win_unlock(to, locked);
}

static void step(void)
{
	static void (*const all[])(void) = {message, message, message, halo, ring, persistent,
		probed, probed, gather_any, collective, collective, collective_later, fences,
		epochs, locks, locks};

	tag = 10 + (tag + 1) % 1000; /* so that a message for anybody is of this step */
	work();
	all[draw(sizeof(all) / sizeof(all[0]))]();
}

static void make_comms(void)
{
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, -rank, &comms[2]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[3]);
}

int main(int argc, char **argv)
{
	const int programs = argc > 2 ? atoi(argv[2]) : 1, steps = argc > 3 ? atoi(argv[3]) : 30;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	make_comms();
	MPI_Op_create(add_up, 1, &sum_here);
	MPI_Win_create(exposed, sizeof(exposed), 1, MPI_INFO_NULL, comms[3], &window);
	MPI_Win_create(locked_here, sizeof(locked_here), 1, MPI_INFO_NULL, comms[3], &locked);
	for (int i = 0; i < programs; i++) {
		shared_dice = (uint64_t)(argc > 1 ? atoi(argv[1]) : 1) * 1000003u + (uint64_t)i;
		own_dice = shared_dice ^ (uint64_t)(rank + 1) << 40;
		for (int k = 0; k < steps; k++)
			step();
	}
	MPI_Win_free(&locked);
	MPI_Win_free(&window);
	MPI_Op_free(&sum_here);
	MPI_Finalize();
	return 0;
}
