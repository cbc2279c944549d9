/* SPDX-License-Identifier: BSD-3-Clause */
/* Between which ranks the messages of MPI's collective functions go. */
#ifndef VFTR_NODEAGENT_COLLECTIVE_H
#define VFTR_NODEAGENT_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

enum collective_kind {
	COLLECTIVE_UNKNOWN,
	COLLECTIVE_BETWEEN_ALL,
	COLLECTIVE_FROM_ROOT, /* the root has a message to itself, but for MPI_IN_PLACE */
	COLLECTIVE_TO_ROOT,
	COLLECTIVE_CHAIN,	   /* from each rank to the next */
	COLLECTIVE_REDUCE_SCATTER, /* to rank 0, of the other group if there are two, which then
				      scatters to its own */
	COLLECTIVE_NEIGHBOURS,	   /* in a topology */
	COLLECTIVE_KINDS
};

struct collective_shape {
	enum collective_kind kind;
	bool sent_even, received_even; /* each message is as long as the others */
};

/* function: index in mpi/mpi.tab, of any form. Never NULL. */
const struct collective_shape *collective_shape(uint32_t function);

#endif
