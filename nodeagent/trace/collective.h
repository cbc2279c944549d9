/* SPDX-License-Identifier: BSD-3-Clause */
/* The senders and receivers of the messages that MPI's collective functions imply. */
#ifndef VFTR_NODEAGENT_TRACE_COLLECTIVE_H
#define VFTR_NODEAGENT_TRACE_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

enum collective_kind {
	COLLECTIVE_UNKNOWN,
	COLLECTIVE_BETWEEN_ALL,
	COLLECTIVE_FROM_ROOT, /* the root also sends to itself, except with MPI_IN_PLACE */
	COLLECTIVE_TO_ROOT,
	COLLECTIVE_CHAIN,	   /* from each rank to the next */
	COLLECTIVE_REDUCE_SCATTER, /* to rank 0, of the other group if there are two, which then
				      scatters to its own */
	COLLECTIVE_NEIGHBOURS,	   /* in a topology */
	COLLECTIVE_KINDS
};

struct collective_shape {
	enum collective_kind kind;
	bool sent_even, received_even; /* all messages have the same length */
};

/*
 * True for functions in which all members of a communicator meet without messages, to make a
 * communicator or to open a file.
 */
bool collective_is_meeting(uint32_t function);
/* function: index in mpi/generate/mpi.tab, of any form. Never NULL. */
const struct collective_shape *collective_shape(uint32_t function);
/* True for an MPI_*_init: the collective call takes place at each start of its request. */
bool collective_is_persistent(uint32_t function);
/* The blocking form of a collective function, without large counts; any other function itself. */
uint32_t collective_blocking(uint32_t function);

#endif
