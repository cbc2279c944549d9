/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours in a topology, in the order of the blocks of neighbourhood collectives.
 * MPI is asked once for each communicator, with the first such call on it, and the
 * agent is told.
 */
#include <string.h>
#include "libhook/emit.h"
#include "mpi/object/comm.h"
#include "mpi/object/runs.h"
#include "mpi/memory.h"

#define MASK_BITS 64 /* neighbours beyond count as there */

static bool is_missing(const struct comm_neighbours *n, int i)
{
	return i < MASK_BITS && n->missing >> i & 1;
}

/* ---- how many ----------------------------------------------------------------------- */

static void cartesian(MPI_Comm handle, struct comm_neighbours *n)
{
	int dims = 0;

	if (PMPI_Cartdim_get(handle, &dims) != MPI_SUCCESS)
		return;
	for (int d = 0; d < dims; d++) {
		int side[2] = {0, 0};

		PMPI_Cart_shift(handle, d, 1, &side[0], &side[1]);
		for (int i = 0; i < 2; i++)
			if (side[i] == MPI_PROC_NULL && 2 * d + i < MASK_BITS)
				n->missing |= (uint64_t)1 << (2 * d + i);
	}
	n->in = n->out = 2 * (uint32_t)dims;
}

static void graph(MPI_Comm handle, uint32_t rank, struct comm_neighbours *n)
{
	int degree = 0;

	if (PMPI_Graph_neighbors_count(handle, (int)rank, &degree) == MPI_SUCCESS)
		n->in = n->out = (uint32_t)degree;
}

static void distributed_graph(MPI_Comm handle, struct comm_neighbours *n)
{
	int in = 0, out = 0, weighted;

	if (PMPI_Dist_graph_neighbors_count(handle, &in, &out, &weighted) != MPI_SUCCESS)
		return;
	n->in = (uint32_t)in;
	n->out = (uint32_t)out;
}

/* ---- who ---------------------------------------------------------------------------- */

/* Both directions have the same list, except in a distributed graph. False: MPI does not say. */
static bool list(
	const struct mpi_comm *c, int kind, const struct comm_neighbours *n, int *in, int *out)
{
	int *weights = out + n->out;

	if (kind == MPI_DIST_GRAPH)
		return PMPI_Dist_graph_neighbors(c->handle, (int)n->in, in, weights, (int)n->out,
			       out, weights + n->in) == MPI_SUCCESS;
	if (kind == MPI_GRAPH &&
		PMPI_Graph_neighbors(c->handle, (int)c->rank, (int)n->in, in) != MPI_SUCCESS)
		return false;
	for (int d = 0; kind == MPI_CART && d < (int)n->in / 2; d++)
		if (PMPI_Cart_shift(c->handle, d, 1, &in[2 * d], &in[2 * d + 1]) != MPI_SUCCESS)
			return false;
	memcpy(out, in, n->out * sizeof(*out));
	return true;
}

static void tell(const struct mpi_comm *c, const struct comm_neighbours *n, bool received,
	const int *ranks, struct wire_run *run)
{
	struct wire_neighbours message = {
		.head.kind = WIRE_NEIGHBOURS, .comm = c->number, .received = received};
	const uint32_t all = received ? n->in : n->out;
	uint32_t runs = 0;

	for (uint32_t i = 0; i < all; i++) {
		if (is_missing(n, (int)i))
			continue;
		runs = vftr_run_append(run, runs, ranks[i]);
		message.n++;
	}
	do {
		const uint32_t left = runs - message.runs_before;

		message.runs = left < WIRE_RUNS_MAX ? left : WIRE_RUNS_MAX;
		vftr_define(&message.head, sizeof(message), run + message.runs_before,
			message.runs * sizeof(*run));
		message.runs_before += message.runs;
	} while (message.runs_before < runs);
}

static void define(const struct mpi_comm *c, int kind, const struct comm_neighbours *n)
{
	const size_t most = n->in > n->out ? n->in : n->out, both = (size_t)n->in + n->out;
	const size_t bytes = most * sizeof(struct wire_run) + 2 * both * sizeof(int);
	struct wire_run *run = most ? vftr_memory_take(bytes) : NULL;
	int *in = (int *)(run + most), *out = in + n->in;

	if (!run)
		return;
	if (list(c, kind, n, in, out)) {
		tell(c, n, false, out, run);
		tell(c, n, true, in, run);
	}
	vftr_memory_give(run, bytes);
}

const struct comm_neighbours *vftr_comm_neighbours(struct mpi_comm *c)
{
	struct comm_neighbours n = {.known = true};
	int kind = MPI_UNDEFINED;

	if (c->neighbours.known || !c->number)
		return &c->neighbours;
	if (PMPI_Topo_test(c->handle, &kind) != MPI_SUCCESS)
		kind = MPI_UNDEFINED;
	if (kind == MPI_CART)
		cartesian(c->handle, &n);
	else if (kind == MPI_GRAPH)
		graph(c->handle, c->rank, &n);
	else if (kind == MPI_DIST_GRAPH)
		distributed_graph(c->handle, &n);
	define(c, kind, &n);
	c->neighbours = n; /* collectives on one communicator never run side by side */
	return &c->neighbours;
}
