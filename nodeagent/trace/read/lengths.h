/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lengths of the messages of collective calls, from the LENGTHS blocks of a sampling file,
 * and neighbours from its definitions. From the first call on, a reader keeps 24 bytes for
 * each record of lengths.
 */
#ifndef VFTR_NODEAGENT_TRACE_READ_LENGTHS_H
#define VFTR_NODEAGENT_TRACE_READ_LENGTHS_H

#include "shm/message.h"
#include "nodeagent/trace/types.h"

struct vfd_file;

/* The lengths of a call's messages in one direction, one by one. */
struct lengths {
	size_t at; /* next record of the file */
	uint64_t key;
	struct vfd_lengths now;
	uint64_t bytes[LENGTHS_MOST];
	uint32_t given; /* lengths of `now` that were given */
};

/*
 * Begins with the messages sent (or received) by a process in its call with this ticket.
 * False: the file does not have all n, or their sum is not `bytes`.
 */
bool reader_lengths(
	struct vfd_file *f, struct lengths *l, const struct vfd_lengths *which, uint64_t bytes);
/* The next length; to be called at most n times. */
uint64_t lengths_next(struct vfd_file *f, struct lengths *l);

/* Neighbours of a process; NULL: the file does not say, or they are not n. */
const struct read_neighbours *reader_neighbours(
	const struct vfd_file *f, uint32_t process, uint32_t comm, bool received, uint32_t n);

#endif
