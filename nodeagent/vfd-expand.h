/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective and one-sided operations as the messages between ranks that Vftrace
 * makes of them: a rooted one is messages between the root and each rank, one to
 * all is messages between all pairs, a barrier is none. A sampling file has one
 * record per call and rank; this makes its messages one by one, in memory that
 * does not grow with the number of ranks.
 *
 * What the record does not tell is not made up: where the messages of one
 * direction differ in length (v- and w-forms), or their other ends are not known
 * (neighbours), they are one message, of all their bytes, whose peer is VFD_NONE.
 */
#ifndef VFTR_NODEAGENT_VFD_EXPAND_H
#define VFTR_NODEAGENT_VFD_EXPAND_H

#include "nodeagent/vfd-read.h"

/* n messages of the same length in one direction. */
struct vfd_part {
	bool send, remote;
	bool all;	/* to or from all of a group but for the rank `without` ... */
	uint32_t peer;	/* ... else to or from this world rank, or VFD_NONE */
	uint32_t first; /* rank in the group to begin with */
	uint32_t without;
	uint32_t n;
	uint64_t bytes; /* of each */
};

#define VFD_PARTS_MOST 6

struct vfd_expansion {
	struct vfd_message message; /* the next one */
	bool as_is;
	const struct vfd_comm *comm;
	struct vfd_part parts[VFD_PARTS_MOST];
	uint32_t n_parts, part;
	uint32_t done;		/* messages of this part */
	uint32_t rank, run, at; /* next rank of the group: its place in the runs */
};

/* Other messages, and files, are their only message. m may go away. */
void vfd_expand(struct vfd_expansion *x, const struct vfd_file *f, const struct vfd_message *m);
/* NULL: that was all. Valid until the next call. Those of operations have no ticket, and
 * the tag -1. */
const struct vfd_message *vfd_expand_next(struct vfd_expansion *x);
/* How many there are, right after vfd_expand(). */
uint64_t vfd_expand_count(const struct vfd_expansion *x);

/* Whether vfd_expand() makes something else of it. */
static inline bool vfd_expands(const struct vfd_message *m)
{
	return m->kind == VFD_COLLECTIVE || m->kind == VFD_RMA;
}

#endif
