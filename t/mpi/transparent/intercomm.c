/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators of groups of unequal size: the ranks and roots are those of
 * the other group, MPI_ROOT and MPI_PROC_NULL are of the own.
 */
#include "transparent.h"

enum { N = 2, MOST = 16 };

static MPI_Comm half, inter;
static int mine, own, other; /* rank, and size of each group */
static bool first;	     /* rank 0 of comm is in the first group, alone if possible */

static void make(void)
{
	first = rank < (size + 1) / 3;
	OK(MPI_Comm_split(comm, first, rank, &half));
	OK(MPI_Comm_rank(half, &mine));
	OK(MPI_Comm_size(half, &own));
	OK(MPI_Intercomm_create(half, 0, comm, first ? (size + 1) / 3 : 0, 23, &inter));
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	OK(MPI_Comm_remote_size(inter, &other));
}

static void unmake(void)
{
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_free(&half));
}

/* As seen from the group of the root: the root, its companions, the others. */
static int root_for(bool root_in_first)
{
	if (first != root_in_first)
		return 0;
	return mine == 0 ? MPI_ROOT : MPI_PROC_NULL;
}

static void inter_queries(void)
{
	MPI_Group group, remote;
	int flag = -1, n = -1, r = -1, result = -1;
	MPI_Comm copy;

	make();
	OK(MPI_Comm_test_inter(inter, &flag));
	OK(MPI_Comm_size(inter, &n));
	OK(MPI_Comm_rank(inter, &r));
	CHECK(flag == 1 && n == own && r == mine && own + other == size);
	OK(MPI_Comm_remote_group(inter, &remote));
	OK(MPI_Comm_group(inter, &group));
	OK(MPI_Group_size(remote, &n));
	CHECK(n == other);
	OK(MPI_Group_free(&remote));
	OK(MPI_Group_free(&group));
	OK(MPI_Comm_dup(inter, &copy));
	OK(MPI_Comm_compare(inter, copy, &result));
	say("%d of %d, other %d, compare %d", mine, own, other, result == MPI_CONGRUENT);
	OK(MPI_Comm_free(&copy));
	unmake();
}

static void inter_messages(void)
{
	MPI_Status status;
	MPI_Request request;
	int x = -1;

	make();
	/* rank 0 of each group to all of the other */
	if (mine == 0) {
		for (int r = 0; r < other; r++) {
			OK(MPI_Isend(&rank, 1, MPI_INT, r, 5, inter, &request));
			OK(MPI_Request_free(&request));
		}
	}
	mark(&status, 1);
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
	say_status("inter", &status, MPI_INT);
	WANT(&status, 0, 5, MPI_INT, 1);
	CHECK(x == (first ? (size + 1) / 3 : 0));
	mark(&status, 1);
	OK(MPI_Sendrecv(&rank, 1, MPI_INT, MPI_PROC_NULL, 1, &x, 1, MPI_INT, MPI_PROC_NULL, 1,
		inter, &status));
	say_empty("nobody", &status);
	OK(MPI_Barrier(half));
	unmake();
}

static void inter_bcast(void)
{
	int data[N];
	MPI_Request request;

	make();
	for (int i = 0; i < 4; i++) {
		const int root = root_for(i % 2);

		fill(data, N, root == MPI_ROOT ? 10 * i : -1);
		if (i < 2) {
			OK(MPI_Bcast(data, N, MPI_INT, root, inter));
		} else {
			OK(MPI_Ibcast(data, N, MPI_INT, root, inter, &request));
			OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
		}
		CHECK(root == MPI_PROC_NULL || is_filled(data, N, 10 * i));
		say("data %d", data[0]);
	}
	OK(MPI_Barrier(inter));
	unmake();
}

static void inter_rooted(void)
{
	int data[N * MOST], in[N * MOST], counts[MOST], places[MOST];

	make();
	for (int i = 0; i < MOST; i++) {
		counts[i] = N;
		places[i] = N * i;
	}
	for (int from_first = 0; from_first < 2; from_first++) {
		const int root = root_for(from_first);

		fill(data, N * MOST, 100 * rank);
		memset(in, 0xff, sizeof(in));
		OK(MPI_Gather(data, N, MPI_INT, in, N, MPI_INT, root, inter));
		say("gather %08x", checksum(in, sizeof(in)));
		OK(MPI_Gatherv(data, N, MPI_INT, in, counts, places, MPI_INT, root, inter));
		say("gatherv %08x", checksum(in, sizeof(in)));
		OK(MPI_Scatter(data, N, MPI_INT, in, N, MPI_INT, root, inter));
		say("scatter %08x", checksum(in, sizeof(in)));
		OK(MPI_Scatterv(data, counts, places, MPI_INT, in, N, MPI_INT, root, inter));
		OK(MPI_Reduce(data, in, N, MPI_INT, MPI_SUM, root, inter));
		say("reduce %08x", checksum(in, sizeof(in)));
	}
	unmake();
}

static void inter_all(void)
{
	int data[N * MOST], in[N * MOST], counts[MOST], places[MOST];
	MPI_Request request;

	make();
	for (int i = 0; i < MOST; i++) {
		counts[i] = N;
		places[i] = N * i;
	}
	fill(data, N * MOST, 100 * rank);
	memset(in, 0xff, sizeof(in));
	OK(MPI_Allgather(data, N, MPI_INT, in, N, MPI_INT, inter));
	CHECK(is_filled(in, N, first ? 100 * ((size + 1) / 3) : 0));
	say("allgather %08x", checksum(in, sizeof(in)));
	OK(MPI_Allgatherv(data, N, MPI_INT, in, counts, places, MPI_INT, inter));
	OK(MPI_Alltoall(data, N, MPI_INT, in, N, MPI_INT, inter));
	say("alltoall %08x", checksum(in, sizeof(in)));
	OK(MPI_Alltoallv(data, counts, places, MPI_INT, in, counts, places, MPI_INT, inter));
	OK(MPI_Allreduce(data, in, N, MPI_INT, MPI_SUM, inter));
	say("allreduce %d", in[0]);
	OK(MPI_Iallreduce(data, in, N, MPI_INT, MPI_MAX, inter, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	say("iallreduce %d", in[0]);
	OK(MPI_Ibarrier(inter, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	unmake();
}

static void inter_split_merge(void)
{
	MPI_Comm parts, merged;
	int n = -1, r = -1, flag = -1, sum = -1;

	make();
	OK(MPI_Intercomm_merge(inter, first, &merged));
	OK(MPI_Comm_size(merged, &n));
	OK(MPI_Comm_rank(merged, &r));
	OK(MPI_Comm_test_inter(merged, &flag));
	CHECK(n == size && !flag);
	OK(MPI_Exscan(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
	say("merged rank %d, exscan %d", r, r ? sum : 0);
	OK(MPI_Comm_free(&merged));
	OK(MPI_Comm_split(inter, mine == 0 ? 1 : MPI_UNDEFINED, 0, &parts));
	if (parts == MPI_COMM_NULL) {
		say("no part");
	} else {
		OK(MPI_Comm_remote_size(parts, &n));
		CHECK(n == 1);
		OK(MPI_Sendrecv(
			&rank, 1, MPI_INT, 0, 1, &sum, 1, MPI_INT, 0, 1, parts, MPI_STATUS_IGNORE));
		say("part from %d", sum);
		OK(MPI_Comm_free(&parts));
	}
	unmake();
}

const struct program intercomm_programs[] = {{"inter_queries", inter_queries, 2},
	{"inter_messages", inter_messages, 2}, {"inter_bcast", inter_bcast, 2},
	{"inter_rooted", inter_rooted, 2}, {"inter_all", inter_all, 2},
	{"inter_split_merge", inter_split_merge, 2}, {NULL, NULL, 0}};
