/* SPDX-License-Identifier: BSD-3-Clause */
/* Degrees of a topology, in the order of the blocks of neighbourhood collectives. */
#include "mpi/comm.h"

#define MASK_BITS 64 /* neighbours beyond count as there */

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
	c->neighbours = n; /* collectives on one communicator never run side by side */
	return &c->neighbours;
}
