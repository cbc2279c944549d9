/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Non-blocking collective calls, started together, completed in every way, their
 * insignificant arguments garbage; and the persistent ones where there are any.
 */
#include "transparent.h"

enum { N = 3, MOST = 64 };

static int out[N * MOST], in[N * MOST], more[N * MOST], counts[MOST], places[MOST];

static void prepare(void)
{
	fill(out, N * size, 1000 * rank);
	memset(in, 0xff, sizeof(in));
	memset(more, 0xff, sizeof(more));
	for (int r = 0; r < size; r++) {
		counts[r] = N;
		places[r] = N * r;
	}
}

/* By Wait, Test, Waitall with the status, without, ... in turn */
static void complete(MPI_Request *request, int how)
{
	MPI_Status status;
	int flag = 0, index = -1;

	mark(&status, 1);
	CHECK(*request != MPI_REQUEST_NULL);
	switch (how % 6) {
	case 0:
		OK(MPI_Wait(request, &status));
		break;
	case 1:
		while (!flag)
			OK(MPI_Test(request, &flag, &status));
		break;
	case 2:
		OK(MPI_Waitall(1, request, MPI_STATUSES_IGNORE));
		break;
	case 3:
		OK(MPI_Waitany(1, request, &index, &status));
		CHECK(index == 0);
		break;
	case 4:
		OK(MPI_Waitsome(1, request, &flag, &index, &status));
		CHECK(flag == 1 && index == 0);
		break;
	default:
		until_complete(1, request);
		OK(MPI_Wait(request, MPI_STATUS_IGNORE));
	}
	CHECK(*request == MPI_REQUEST_NULL);
}

/* When nothing is under way any more. */
static void say_data(void)
{
	say("in %08x more %08x", checksum(in, sizeof(in)), checksum(more, sizeof(more)));
}

static void ibarrier(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];

	for (int i = 0; i < 6; i++) {
		OK(MPI_Ibarrier(comm, requests));
		complete(requests, i);
	}
	for (int i = 0; i < 3; i++)
		OK(MPI_Ibarrier(comm, &requests[i]));
	mark(statuses, 3);
	OK(MPI_Waitall(3, requests, statuses));
	say("all");
}

static void ibcast(void)
{
	MPI_Request requests[2];

	prepare();
	for (int root = 0; root < size; root++) {
		OK(MPI_Ibcast(rank == root ? out : in, N, MPI_INT, root, comm, &requests[0]));
		OK(MPI_Ibcast(rank == root ? out + N : more, N, MPI_INT, root, comm, &requests[1]));
		complete(&requests[1], root);
		complete(&requests[0], root + 1);
		CHECK(rank == root || is_filled(more, N, 1000 * root + N));
	}
	say_data();
}

static void igather_iscatter(void)
{
	MPI_Request requests[4];
	const int root = size - 1;

	prepare();
	if (rank == root) {
		OK(MPI_Igather(out, N, MPI_INT, in, N, MPI_INT, root, comm, &requests[0]));
		complete(requests, 0);
		fill(in + N * rank, N, -50);
		OK(MPI_Igather(
			MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, N, MPI_INT, root, comm, &requests[0]));
		OK(MPI_Igatherv(
			out, N, MPI_INT, more, counts, places, MPI_INT, root, comm, &requests[1]));
		complete(&requests[0], 1);
		complete(&requests[1], 2);
		CHECK(is_filled(in + N * rank, N, -50));
		OK(MPI_Iscatter(out, N, MPI_INT, MPI_IN_PLACE, NO_COUNT, NO_TYPE, root, comm,
			&requests[2]));
		OK(MPI_Iscatterv(
			out, counts, places, MPI_INT, more, N, MPI_INT, root, comm, &requests[3]));
	} else {
		OK(MPI_Igather(
			out, N, MPI_INT, NO_ARRAY, NO_COUNT, NO_TYPE, root, comm, &requests[0]));
		complete(requests, 0);
		OK(MPI_Igather(out, N, MPI_INT, NULL, 0, NO_TYPE, root, comm, &requests[0]));
		OK(MPI_Igatherv(out, N, MPI_INT, NULL, NO_ARRAY, NO_ARRAY, NO_TYPE, root, comm,
			&requests[1]));
		complete(&requests[0], 1);
		complete(&requests[1], 2);
		OK(MPI_Iscatter(NULL, NO_COUNT, NO_TYPE, in, N, MPI_INT, root, comm, &requests[2]));
		OK(MPI_Iscatterv(NULL, NO_ARRAY, NO_ARRAY, NO_TYPE, more, N, MPI_INT, root, comm,
			&requests[3]));
	}
	complete(&requests[2], 3);
	complete(&requests[3], 4);
	CHECK(is_filled(more, N, 1000 * root + N * rank));
	say_data();
}

static void iallgather(void)
{
	MPI_Request requests[2];

	prepare();
	OK(MPI_Iallgather(out, N, MPI_INT, in, N, MPI_INT, comm, &requests[0]));
	OK(MPI_Iallgatherv(out, N, MPI_INT, more, counts, places, MPI_INT, comm, &requests[1]));
	OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, N, 1000 * r) && is_filled(more + N * r, N, 1000 * r));
	fill(in + N * rank, N, -rank);
	fill(more + N * rank, N, -rank);
	OK(MPI_Iallgather(MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, N, MPI_INT, comm, &requests[0]));
	OK(MPI_Iallgatherv(MPI_IN_PLACE, NO_COUNT, NO_TYPE, more, counts, places, MPI_INT, comm,
		&requests[1]));
	complete(&requests[1], 5);
	complete(&requests[0], 0);
	for (int r = 0; r < size; r++)
		CHECK(is_filled(in + N * r, N, -r) && is_filled(more + N * r, N, -r));
	say_data();
}

static void ialltoall(void)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	MPI_Datatype types[MOST];
	int bytes[MOST];
	static int third[N * MOST];

	prepare();
	for (int r = 0; r < size; r++) {
		types[r] = MPI_INT;
		bytes[r] = places[r] * (int)sizeof(int);
	}
	OK(MPI_Ialltoall(out, N, MPI_INT, in, N, MPI_INT, comm, &requests[0]));
	OK(MPI_Ialltoallv(
		out, counts, places, MPI_INT, more, counts, places, MPI_INT, comm, &requests[1]));
	OK(MPI_Ialltoallw(
		out, counts, bytes, types, third, counts, bytes, types, comm, &requests[2]));
	mark(statuses, 3);
	OK(MPI_Waitall(3, requests, statuses));
	for (int r = 0; r < size; r++)
		CHECK(is_filled(third + N * r, N, 1000 * r + N * rank));
	CHECK(memcmp(in, third, sizeof(int) * N * size) == 0);
	/* Open MPI 4.1 looks at the type here */
	OK(MPI_Ialltoall(MPI_IN_PLACE, NO_COUNT, MPI_INT, in, N, MPI_INT, comm, &requests[0]));
	complete(&requests[0], 1);
	CHECK(is_filled(in, N * size, 1000 * rank));
	say_data();
}

static void ireduce(void)
{
	MPI_Request requests[2];

	for (int root = 0; root < size; root++) {
		prepare();
		memcpy(more, out, sizeof(more));
		OK(MPI_Ireduce(out, rank == root ? in : NULL, N, MPI_INT, MPI_SUM, root, comm,
			&requests[0]));
		if (rank == root)
			OK(MPI_Ireduce(
				MPI_IN_PLACE, more, N, MPI_INT, MPI_MAX, root, comm, &requests[1]));
		else
			OK(MPI_Ireduce(more, NULL, N, MPI_INT, MPI_MAX, root, comm, &requests[1]));
		complete(&requests[0], root);
		complete(&requests[1], root + 2);
		if (rank == root)
			CHECK(is_filled(more, N, 1000 * (size - 1)));
	}
	say_data();
}

static void iallreduce(void)
{
	MPI_Request requests[5];
	MPI_Status statuses[5];
	int a[5] = {0}, x = -1, send = rank;

	memset(statuses, 0, sizeof(statuses));
	prepare();
	memcpy(more, out, sizeof(more));
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]));
	OK(MPI_Iallreduce(out, in, N, MPI_INT, MPI_SUM, comm, &requests[1]));
	OK(MPI_Iallreduce(MPI_IN_PLACE, more, N, MPI_INT, MPI_MIN, comm, &requests[2]));
	requests[3] = MPI_REQUEST_NULL;
	OK(MPI_Isend(&send, 1, MPI_INT, (rank + 1) % size, 6, comm, &requests[4]));
	OK(MPI_Waitall(5, requests, statuses));
	say_status("between collectives", &statuses[0], MPI_INT);
	WANT(&statuses[0], (rank + size - 1) % size, 6, MPI_INT, 1);
	CHECK(is_filled(more, N, 0) && in[0] == 1000 * size * (size - 1) / 2);
	for (int i = 0; i < 5; i++)
		OK(MPI_Iallreduce(
			&rank, &a[i], 1, MPI_INT, i % 2 ? MPI_MAX : MPI_SUM, comm, &requests[i]));
	for (int i = 4; i >= 0; i--)
		complete(&requests[i], i);
	CHECK(a[1] == size - 1 && a[2] == size * (size - 1) / 2);
	say_data();
}

static void ireduce_scatter(void)
{
	MPI_Request requests[2];

	prepare();
	OK(MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_MIN, comm, &requests[0]));
	OK(MPI_Ireduce_scatter_block(out, more, N, MPI_INT, MPI_MAX, comm, &requests[1]));
	complete(&requests[0], 0);
	complete(&requests[1], 1);
	CHECK(is_filled(in, N, N * rank) && is_filled(more, N, 1000 * (size - 1) + N * rank));
	memcpy(in, out, sizeof(in));
	memcpy(more, out, sizeof(more));
	OK(MPI_Ireduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_MIN, comm, &requests[0]));
	OK(MPI_Ireduce_scatter_block(MPI_IN_PLACE, more, N, MPI_INT, MPI_MAX, comm, &requests[1]));
	OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	CHECK(is_filled(in, N, N * rank) && is_filled(more, N, 1000 * (size - 1) + N * rank));
	say_data();
}

static void iscan(void)
{
	MPI_Request requests[2];

	prepare();
	OK(MPI_Iscan(out, in, N, MPI_INT, MPI_MAX, comm, &requests[0]));
	OK(MPI_Iexscan(out, more, N, MPI_INT, MPI_MAX, comm, &requests[1]));
	OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
	CHECK(is_filled(in, N, 1000 * rank));
	CHECK(rank == 0 || is_filled(more, N, 1000 * (rank - 1)));
	memcpy(in, out, sizeof(in));
	OK(MPI_Iscan(MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, comm, &requests[0]));
	complete(&requests[0], 3);
	CHECK(in[0] == 1000 * rank * (rank + 1) / 2);
	say_data();
}

/* A collective request cannot be freed or cancelled; status of one is empty-ish. */
static void wrong_uses(void)
{
	MPI_Request request;

	OK(MPI_Ibarrier(comm, &request));
	SAY(MPI_Cancel(&request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

const struct program nonblocking_programs[] = {{"ibarrier", ibarrier, ANY}, {"ibcast", ibcast, ANY},
	{"igather_iscatter", igather_iscatter, ANY}, {"iallgather", iallgather, ANY},
	{"ialltoall", ialltoall, ANY}, {"ireduce", ireduce, ANY}, {"iallreduce", iallreduce, ANY},
	{"ireduce_scatter", ireduce_scatter, ANY}, {"iscan", iscan, ANY},
	{"wrong_uses", wrong_uses, ANY}, {NULL, NULL, 0}};

#if MPI_VERSION >= 4
/* Started three times, alone and together with others; inactive in between. */
static void persistent_collectives(void)
{
	enum { KINDS = 13 };
	MPI_Request r[KINDS];
	MPI_Status statuses[KINDS];
	static int data[KINDS][N * MOST];
	const MPI_Info none = MPI_INFO_NULL;

	prepare();
	OK(MPI_Barrier_init(comm, none, &r[0]));
	OK(MPI_Bcast_init(data[1], N, MPI_INT, 1 % size, comm, none, &r[1]));
	if (rank == 0)
		OK(MPI_Gather_init(out, N, MPI_INT, data[2], N, MPI_INT, 0, comm, none, &r[2]));
	else
		OK(MPI_Gather_init(out, N, MPI_INT, NULL, NO_COUNT, NO_TYPE, 0, comm, none, &r[2]));
	/* and not MPI_Scatter_init, which fails in MPICH 4.0 when started again */
	OK(MPI_Reduce_scatter_init(out, data[3], counts, MPI_INT, MPI_MIN, comm, none, &r[3]));
	OK(MPI_Allgather_init(out, N, MPI_INT, data[4], N, MPI_INT, comm, none, &r[4]));
	OK(MPI_Allgatherv_init(
		out, N, MPI_INT, data[5], counts, places, MPI_INT, comm, none, &r[5]));
	OK(MPI_Alltoall_init(out, N, MPI_INT, data[6], N, MPI_INT, comm, none, &r[6]));
	OK(MPI_Alltoallv_init(
		out, counts, places, MPI_INT, data[7], counts, places, MPI_INT, comm, none, &r[7]));
	OK(MPI_Reduce_init(out, rank ? NULL : data[8], N, MPI_INT, MPI_SUM, 0, comm, none, &r[8]));
	OK(MPI_Allreduce_init(out, data[9], N, MPI_INT, MPI_SUM, comm, none, &r[9]));
	OK(MPI_Scan_init(out, data[10], N, MPI_INT, MPI_MAX, comm, none, &r[10]));
	OK(MPI_Reduce_scatter_block_init(out, data[11], N, MPI_INT, MPI_SUM, comm, none, &r[11]));
	OK(MPI_Exscan_init(out, data[12], N, MPI_INT, MPI_MAX, comm, none, &r[12]));
	for (int round = 0; round < 3; round++) {
		fill(out, N * size, 1000 * rank + round);
		memset(data, 0, sizeof(data));
		if (rank == 1 % size)
			fill(data[1], N, round);
		if (round == 1) {
			OK(MPI_Startall(KINDS, r));
			mark(statuses, KINDS);
			OK(MPI_Waitall(KINDS, r, statuses));
		} else {
			for (int i = 0; i < KINDS; i++) {
				OK(MPI_Start(&r[i]));
				OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
			}
		}
		CHECK(is_filled(data[1], N, round) && is_filled(data[3], N, N * rank + round));
		CHECK(data[9][0] == 1000 * size * (size - 1) / 2 + round * size);
		for (int i = 0; i < KINDS; i++) {
			CHECK(r[i] != MPI_REQUEST_NULL);
			say("%d: %08x", i, checksum(data[i], sizeof(data[i])));
		}
	}
	for (int i = 0; i < KINDS; i++)
		OK(MPI_Request_free(&r[i]));
}

/* Never started, freed while inactive. */
static void persistent_never(void)
{
	MPI_Request request;
	int x = 0, y = 0;

	/* no wait: MPICH 4.0 would wait for ever */
	OK(MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
	OK(MPI_Request_free(&request));
	CHECK(request == MPI_REQUEST_NULL);
}
#endif

const struct program persistent_programs[] = {
#if MPI_VERSION >= 4
	{"persistent_collectives", persistent_collectives, ANY},
	{"persistent_never", persistent_never, ANY},
#endif
	{NULL, NULL, 0}};
