/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective and one-sided operations as the messages between ranks that Vftrace
 * makes of them: a rooted one becomes messages between the root and each rank, one to
 * all becomes messages between all pairs, a barrier none. A sampling file has one
 * record per call and rank; this makes its messages one by one, in memory that
 * does not grow with the number of ranks.
 *
 * If the messages of one direction differ in length (v- and w-forms), or their other ends
 * are neighbours, and the file lacks the lengths or the neighbours, there is one message
 * with all their bytes, whose peer is VFD_NONE.
 */
#ifndef VFTR_NODEAGENT_TRACE_READ_COLLECTIVES_H
#define VFTR_NODEAGENT_TRACE_READ_COLLECTIVES_H

#include "nodeagent/trace/read/file.h"
#include "shm/message.h"

/* The lengths of a call's messages in one direction, one by one. */
struct lengths {
	size_t at; /* next record of the file */
	uint64_t key;
	struct vfd_lengths now;
	uint64_t bytes[LENGTHS_MOST];
	uint32_t given; /* lengths of `now` that were given */
};

/* n messages in one direction. */
struct vfd_part {
	bool send;
	bool differ;		     /* in length: then `lengths` has them */
	const struct wire_run *runs; /* world ranks of their other ends, except `without`; */
	size_t n_runs;		     /* 0: the other end is `peer`, a world rank, or VFD_NONE */
	uint32_t peer;
	uint64_t first, without; /* indices in the runs; first: of the first message */
	uint32_t n;
	uint64_t bytes; /* of each */
	struct lengths lengths;
};

#define VFD_PARTS_MOST 6

struct vfd_expansion {
	struct vfd_message message; /* the next one */
	bool as_is;
	struct vfd_file *file;
	const struct vfd_comm *comm;
	struct vfd_part parts[VFD_PARTS_MOST];
	uint32_t n_parts, part;
	uint32_t done; /* messages of this part */
	uint64_t rank; /* index of the next one in the part's runs, as run and offset: */
	size_t run;
	uint32_t at;
};

/* Begins with m; a message of another kind is its own only message. m is copied, f is not. */
void vfd_expand(struct vfd_expansion *x, struct vfd_file *f, const struct vfd_message *m);
/* The next message, valid until the next call; NULL at the end. Messages of operations have
 * no ticket, and the tag -1. */
const struct vfd_message *vfd_expand_next(struct vfd_expansion *x);
/* The number of messages, right after vfd_expand(). */
uint64_t vfd_expand_count(const struct vfd_expansion *x);

/* True if vfd_expand() makes other messages of m. */
static inline bool vfd_expands(const struct vfd_message *m)
{
	return m->kind == VFD_COLLECTIVE || m->kind == VFD_RMA;
}

#endif
