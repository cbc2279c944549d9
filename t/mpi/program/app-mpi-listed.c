/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls of 4 ranks whose messages have known lengths, for mpi.only_for_ranks:
 * rank r sends r + 1 integers, or p + 1 to rank p, or (r + 1)(p + 1). Those below `turned`
 * are on a communicator with the ranks in reverse, those below `odd` on one of ranks 1 and 3
 * and of ranks 0 and 2.
 */
#include <mpi.h>

enum { RANKS = 4, ROOM = 64 };

static int in[ROOM], out[ROOM], rank;
static int one_more[RANKS], product[RANKS], at[RANKS], fours[RANKS];

static void turned(void)
{
	MPI_Comm c;

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c);
	MPI_Reduce_scatter(out, in, one_more, MPI_INT, MPI_SUM, c);
	MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, c);
	MPI_Exscan(out, in, 3, MPI_INT, MPI_SUM, c);
	MPI_Comm_free(&c);
}

static void odd(void)
{
	MPI_Comm c;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &c);
	MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, c);
	MPI_Comm_free(&c);
}

/* To the rank after the next, and to the one before. */
static void neighbours(void)
{
	const int from[] = {(rank + 2) % RANKS, (rank + 1) % RANKS},
		  to[] = {(rank + 2) % RANKS, (rank + 3) % RANKS};
	const int sent[] = {rank + 1, 10}, got[] = {from[0] + 1, 10}, places[] = {0, 20};
	MPI_Comm c;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
		MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c);
	MPI_Neighbor_alltoallv(out, sent, places, MPI_INT, in, got, places, MPI_INT, c);
	MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
	MPI_Request r;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int p = 0; p < RANKS; p++) {
		one_more[p] = p + 1;
		product[p] = (rank + 1) * (p + 1);
		at[p] = p * 4 * RANKS;
		fours[p] = p * RANKS;
	}
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD);
	MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
	MPI_Alltoallv(out, product, at, MPI_INT, in, product, at, MPI_INT, MPI_COMM_WORLD);
	MPI_Ialltoallv(out, product, at, MPI_INT, in, product, at, MPI_INT, MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, in, one_more, fours, MPI_INT, MPI_COMM_WORLD);
	MPI_Gatherv(out, rank + 1, MPI_INT, in, one_more, fours, MPI_INT, 3, MPI_COMM_WORLD);
	MPI_Scatterv(out, one_more, fours, MPI_INT, in, rank + 1, MPI_INT, 3, MPI_COMM_WORLD);
	MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
	turned();
	odd();
	neighbours();
	return MPI_Finalize();
}
