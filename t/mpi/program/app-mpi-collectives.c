/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every kind of collective call on four ranks, each in a function of its own,
 * with results checked. What is recorded of each is in t4102.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N     10
#define WORLD MPI_COMM_WORLD

static int rank, errors;
static int in[64], out[64];
static int counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6};
static int ones[4] = {1, 1, 1, 1}, few[4], few_at[4], spots[4] = {0, 4, 8, 12};
static MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
static MPI_Aint far[4] = {0, 4, 8, 12};
static MPI_Comm halves;

static void fill(void)
{
	for (int i = 0; i < 64; i++) {
		in[i] = rank + i;
		out[i] = -1;
	}
}

static void check(const char *what, int got, int wanted)
{
	if (got != wanted) {
		printf("%s on rank %d: %d, wanted %d\n", what, rank, got, wanted);
		errors++;
	}
}

#define CASE(name) static void name(void)

CASE(barrier)
{
	MPI_Barrier(WORLD);
}

CASE(bcast)
{
	MPI_Bcast(in, N, MPI_INT, 2, WORLD);
	check("bcast", in[1], 3);
}

CASE(gather)
{
	MPI_Gather(in, N, MPI_INT, out, N, MPI_INT, 1, WORLD);
	check("gather", out[30], rank == 1 ? 3 : -1);
}

/* what is not significant is garbage */
CASE(gather_in_place)
{
	if (rank == 1)
		MPI_Gather(MPI_IN_PLACE, -5, MPI_DATATYPE_NULL, out, N, MPI_INT, 1, WORLD);
	else
		MPI_Gather(in, N, MPI_INT, NULL, -7, MPI_DATATYPE_NULL, 1, WORLD);
}

CASE(gatherv)
{
	int *some = rank == 3 ? counts : NULL;

	MPI_Gatherv(in, rank + 1, MPI_INT, out, some, some ? places : NULL, MPI_INT, 3, WORLD);
	check("gatherv", out[9], rank == 3 ? 6 : -1);
}

CASE(gatherv_in_place)
{
	MPI_Gatherv(rank == 3 ? MPI_IN_PLACE : in, rank + 1, MPI_INT, out, counts, places, MPI_INT,
		3, WORLD);
}

CASE(scatter)
{
	MPI_Scatter(in, N, MPI_INT, out, N, MPI_INT, 0, WORLD);
	check("scatter", out[0], 10 * rank);
}

CASE(scatter_in_place)
{
	MPI_Scatter(in, N, MPI_INT, rank ? out : MPI_IN_PLACE, N, MPI_INT, 0, WORLD);
}

CASE(scatterv)
{
	MPI_Scatterv(in, rank ? NULL : counts, rank ? NULL : places, MPI_INT, out, rank + 1,
		MPI_INT, 0, WORLD);
}

CASE(reduce)
{
	MPI_Reduce(in, out, N, MPI_INT, MPI_SUM, 0, WORLD);
	check("reduce", out[0], rank ? -1 : 6);
}

CASE(reduce_in_place)
{
	MPI_Reduce(rank ? in : MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, 0, WORLD);
}

CASE(allgather)
{
	MPI_Allgather(in, N, MPI_INT, out, N, MPI_INT, WORLD);
}

CASE(allgather_in_place)
{
	MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, N, MPI_INT, WORLD);
}

CASE(allgatherv)
{
	MPI_Allgatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, WORLD);
	check("allgatherv", out[9], 6);
}

CASE(allgatherv_in_place)
{
	MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, out, counts, places, MPI_INT, WORLD);
}

CASE(alltoall)
{
	MPI_Alltoall(in, N, MPI_INT, out, N, MPI_INT, WORLD);
}

CASE(alltoall_in_place)
{
	MPI_Alltoall(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, N, MPI_INT, WORLD);
}

CASE(alltoallv)
{
	MPI_Alltoallv(in, few, few_at, MPI_INT, out, few, few_at, MPI_INT, WORLD);
}

CASE(alltoallv_in_place)
{
	MPI_Alltoallv(
		MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, out, few, few_at, MPI_INT, WORLD);
}

CASE(alltoallw)
{
	MPI_Alltoallw(in, ones, spots, types, out, ones, spots, types, WORLD);
	check("alltoallw", out[3], 3 + rank);
}

CASE(allreduce)
{
	MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, WORLD);
	check("allreduce", out[0], 6);
}

CASE(allreduce_in_place)
{
	MPI_Allreduce(MPI_IN_PLACE, in, N, MPI_INT, MPI_SUM, WORLD);
}

CASE(reduce_scatter)
{
	MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, WORLD);
}

CASE(reduce_scatter_in_place)
{
	MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_SUM, WORLD);
}

CASE(reduce_scatter_block)
{
	MPI_Reduce_scatter_block(in, out, N, MPI_INT, MPI_SUM, WORLD);
}

CASE(scan)
{
	MPI_Scan(in, out, N, MPI_INT, MPI_SUM, WORLD);
	check("scan", out[0], rank * (rank + 1) / 2);
}

CASE(exscan)
{
	MPI_Exscan(in, out, N, MPI_INT, MPI_SUM, WORLD);
}

/* ---- non-blocking and persistent ---- */

CASE(iallreduce)
{
	MPI_Request request;

	MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	check("iallreduce", out[0], 6);
}

CASE(igatherv)
{
	MPI_Request request;

	MPI_Igatherv(in, rank + 1, MPI_INT, out, counts, places, MPI_INT, 3, WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

CASE(persistent)
{
#if MPI_VERSION >= 4
	MPI_Request request;

	MPI_Bcast_init(in, N, MPI_INT, 1, WORLD, MPI_INFO_NULL, &request);
	for (int i = 0; i < 3; i++) {
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	MPI_Request_free(&request);
	check("persistent", in[1], 2);
#endif
}

CASE(large)
{
#if MPI_VERSION >= 4
	MPI_Count more[4] = {1, 2, 3, 4};
	MPI_Aint at[4] = {0, 1, 3, 6};

	MPI_Allgatherv_c(in, rank + 1, MPI_INT, out, more, at, MPI_INT, WORLD);
	check("large", out[9], 6);
#endif
}

/* ---- neighbours ---- */

/* 0 - 1 - 2 - 3: six edges one way and the other; 2 ints go left, 3 right in the v-form */
CASE(cart)
{
	int four = 4, open = 0;
	int send[2] = {2, 3}, receive[2] = {3, 2}, at[2] = {0, 3};
	MPI_Comm line;

	MPI_Cart_create(WORLD, 1, &four, &open, 0, &line);
	MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, line);
	MPI_Neighbor_alltoallv(in, send, at, MPI_INT, out, receive, at, MPI_INT, line);
	MPI_Comm_free(&line);
}

/* to the next two, from the last one and two before */
CASE(graph)
{
	int from[2] = {(rank + 3) % 4, (rank + 2) % 4}, to[2] = {(rank + 1) % 4, (rank + 2) % 4};
	int weights[2] = {1, 1};
	MPI_Comm ring;

	MPI_Dist_graph_create_adjacent(
		WORLD, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &ring);
	MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, ring);
	MPI_Neighbor_alltoall(in, 2, MPI_INT, out, 2, MPI_INT, ring);
	MPI_Neighbor_alltoallv(in, ones, places, MPI_INT, out, ones, places, MPI_INT, ring);
	MPI_Neighbor_alltoallw(in, ones, far, types, out, ones, far, types, ring);
	MPI_Comm_free(&ring);
}

/* ---- intercommunicators: {0, 1} and {2, 3} ---- */

CASE(inter_bcast)
{
	MPI_Bcast(in, N, MPI_INT, rank >= 2 ? 0 : (rank ? MPI_PROC_NULL : MPI_ROOT), halves);
	check("inter_bcast", in[1], rank >= 2 ? 1 : rank + 1);
}

CASE(inter_gather)
{
	MPI_Gather(in, N, MPI_INT, out, N, MPI_INT,
		rank >= 2 ? 0 : (rank ? MPI_PROC_NULL : MPI_ROOT), halves);
}

CASE(inter_scatter)
{
	MPI_Scatter(in, N, MPI_INT, out, N, MPI_INT,
		rank >= 2 ? 0 : (rank ? MPI_PROC_NULL : MPI_ROOT), halves);
}

CASE(inter_allgather)
{
	MPI_Allgather(in, N, MPI_INT, out, N, MPI_INT, halves);
}

CASE(inter_alltoall)
{
	MPI_Alltoall(in, N, MPI_INT, out, N, MPI_INT, halves);
}

CASE(inter_allreduce)
{
	MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, halves);
	check("inter_allreduce", out[0], rank >= 2 ? 1 : 5);
}

CASE(inter_barrier)
{
	MPI_Barrier(halves);
}

/* ---- a sub-communicator: {3, 1} and {2, 0} ---- */

CASE(backwards)
{
	MPI_Comm two;
	int r;

	MPI_Comm_split(WORLD, rank % 2, -rank, &two);
	MPI_Comm_rank(two, &r);
	check("backwards", r, rank < 2);
	MPI_Barrier(two);
	MPI_Bcast(in, N, MPI_INT, 0, two);
	MPI_Gather(in, N, MPI_INT, out, N, MPI_INT, 0, two);
	MPI_Gatherv(in, r + 1, MPI_INT, out, counts, places, MPI_INT, 1, two);
	MPI_Reduce(in, out, N, MPI_INT, MPI_SUM, 1, two);
	MPI_Allreduce(in, out, N, MPI_INT, MPI_SUM, two);
	MPI_Alltoall(in, N, MPI_INT, out, N, MPI_INT, two);
	MPI_Comm_free(&two);
}

/* ---- errors ---- */

CASE(failing)
{
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	check("failing", MPI_Bcast(in, N, MPI_INT, 99, WORLD) != MPI_SUCCESS, 1);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void (*const cases[])(void) = {barrier, bcast, gather, gather_in_place, gatherv,
	gatherv_in_place, scatter, scatter_in_place, scatterv, reduce, reduce_in_place, allgather,
	allgather_in_place, allgatherv, allgatherv_in_place, alltoall, alltoall_in_place, alltoallv,
	alltoallv_in_place, alltoallw, allreduce, allreduce_in_place, reduce_scatter,
	reduce_scatter_in_place, reduce_scatter_block, scan, exscan, iallreduce, igatherv,
	persistent, large, cart, graph, inter_bcast, inter_gather, inter_scatter, inter_allgather,
	inter_alltoall, inter_allreduce, inter_barrier, backwards, failing};

int main(int argc, char **argv)
{
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	for (int i = 0; i < 4; i++) { /* what i sends to me is what I send to i */
		few[i] = rank + i;
		few_at[i] = 8 * i;
	}
	MPI_Comm_split(WORLD, rank / 2, 0, &half);
	MPI_Intercomm_create(half, 0, WORLD, rank / 2 ? 0 : 2, 0, &halves);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fill();
		cases[i]();
	}
	MPI_Comm_free(&halves);
	MPI_Comm_free(&half);
	MPI_Finalize();
	if (!rank || errors)
		printf("%d wrong\n", errors);
	return errors != 0;
}
