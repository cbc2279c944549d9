/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/collective.h"

#include <stddef.h>

#include "mpi_id.h"
#include "nodeagent/base/util.h"

/* In the order of the table of MPI's functions. */
#define SHAPES(ROW)                                                                                \
	ROW(ALLGATHER, BETWEEN_ALL, true, true)                                                    \
	ROW(ALLGATHERV, BETWEEN_ALL, true, false)                                                  \
	ROW(ALLREDUCE, BETWEEN_ALL, true, true)                                                    \
	ROW(ALLTOALL, BETWEEN_ALL, true, true)                                                     \
	ROW(ALLTOALLV, BETWEEN_ALL, false, false)                                                  \
	ROW(ALLTOALLW, BETWEEN_ALL, false, false)                                                  \
	ROW(BARRIER, BETWEEN_ALL, true, true)                                                      \
	ROW(BCAST, FROM_ROOT, true, true)                                                          \
	ROW(EXSCAN, CHAIN, true, true)                                                             \
	ROW(GATHER, TO_ROOT, true, true)                                                           \
	ROW(GATHERV, TO_ROOT, true, false)                                                         \
	ROW(REDUCE, TO_ROOT, true, true)                                                           \
	ROW(REDUCE_SCATTER, REDUCE_SCATTER, false, true)                                           \
	ROW(REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, true, true)                                      \
	ROW(SCAN, CHAIN, true, true)                                                               \
	ROW(SCATTER, FROM_ROOT, true, true)                                                        \
	ROW(SCATTERV, FROM_ROOT, false, true)                                                      \
	ROW(NEIGHBOR_ALLGATHER, NEIGHBOURS, true, true)                                            \
	ROW(NEIGHBOR_ALLGATHERV, NEIGHBOURS, true, false)                                          \
	ROW(NEIGHBOR_ALLTOALL, NEIGHBOURS, true, true)                                             \
	ROW(NEIGHBOR_ALLTOALLV, NEIGHBOURS, false, false)                                          \
	ROW(NEIGHBOR_ALLTOALLW, NEIGHBOURS, false, false)

/* Each has a form with large counts behind it; non-blocking and persistent ones are alike. */
#define PLACE(name) ((VFTR_MPI_##name - VFTR_MPI_ALLGATHER) / 2)
#define ROW(name, kind, sent_even, received_even)                                                  \
	[PLACE(name)] = {COLLECTIVE_##kind, sent_even, received_even},
static const struct collective_shape shapes[] = {SHAPES(ROW)};
#undef ROW
#define ROW(name, kind, sent_even, received_even)                                                  \
	_Static_assert(                                                                            \
		(VFTR_MPI_I##name - VFTR_MPI_IALLGATHER) / 2 == PLACE(name) &&                     \
			(VFTR_MPI_##name##_INIT - VFTR_MPI_ALLGATHER_INIT) / 2 == PLACE(name),     \
		"the forms of MPI_" #name " have different places");
SHAPES(ROW)
#undef ROW

uint32_t collective_blocking(uint32_t function)
{
	static const uint32_t begins[] = {
		VFTR_MPI_ALLGATHER, VFTR_MPI_IALLGATHER, VFTR_MPI_ALLGATHER_INIT};

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (function >= begins[i] && (function - begins[i]) / 2 < ARRAY_SIZE(shapes))
			return VFTR_MPI_ALLGATHER + ((function - begins[i]) & ~1u);
	return function;
}

bool collective_is_persistent(uint32_t function)
{
	return function >= VFTR_MPI_ALLGATHER_INIT &&
	       (function - VFTR_MPI_ALLGATHER_INIT) / 2 < ARRAY_SIZE(shapes);
}

bool collective_is_meeting(uint32_t function)
{
	switch (function & ~1u) { /* with large counts: the next number */
	case VFTR_MPI_COMM_DUP:
	case VFTR_MPI_COMM_DUP_WITH_INFO:
	case VFTR_MPI_COMM_IDUP:
	case VFTR_MPI_COMM_IDUP_WITH_INFO:
	case VFTR_MPI_COMM_SPLIT:
	case VFTR_MPI_COMM_SPLIT_TYPE:
	case VFTR_MPI_COMM_CREATE:
	case VFTR_MPI_COMM_CREATE_GROUP:
	case VFTR_MPI_COMM_CREATE_FROM_GROUP:
	case VFTR_MPI_INTERCOMM_CREATE_FROM_GROUPS:
	case VFTR_MPI_CART_CREATE:
	case VFTR_MPI_CART_SUB:
	case VFTR_MPI_GRAPH_CREATE:
	case VFTR_MPI_DIST_GRAPH_CREATE:
	case VFTR_MPI_DIST_GRAPH_CREATE_ADJACENT:
	case VFTR_MPI_INTERCOMM_CREATE:
	case VFTR_MPI_INTERCOMM_MERGE:
	case VFTR_MPI_FILE_OPEN:
		return true;
	default:
		return false;
	}
}

const struct collective_shape *collective_shape(uint32_t function)
{
	static const struct collective_shape none = {COLLECTIVE_UNKNOWN, false, false},
					     meeting = {COLLECTIVE_BETWEEN_ALL, true, true};
	const uint32_t blocking = collective_blocking(function);

	if (blocking < VFTR_MPI_ALLGATHER ||
		(blocking - VFTR_MPI_ALLGATHER) / 2 >= ARRAY_SIZE(shapes))
		return collective_is_meeting(function) ? &meeting : &none;
	return &shapes[(blocking - VFTR_MPI_ALLGATHER) / 2];
}
