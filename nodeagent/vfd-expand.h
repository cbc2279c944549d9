/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective and one-sided operations as the messages between ranks that Vftrace
 * makes of them: a rooted one is messages between the root and each rank, one to
 * all is messages between all pairs, a barrier is none. A sampling file has one
 * record per call and rank; this makes its messages one by one, in memory that
 * does not grow with the number of ranks.
 *
 * What the file does not tell is not made up: where the messages of one direction
 * differ in length (v- and w-forms), or their other ends are neighbours, and it does not
 * say how and who, they are one message, of all their bytes, whose peer is VFD_NONE.
 */
#ifndef VFTR_NODEAGENT_VFD_EXPAND_H
#define VFTR_NODEAGENT_VFD_EXPAND_H

#include "nodeagent/vfd-lengths.h"
#include "nodeagent/vfd-read.h"

/* n messages in one direction. */
struct vfd_part {
	bool send;
	bool differ;		     /* in length: lengths */
	const struct wire_run *runs; /* world ranks of their other ends, but for `without`; */
	size_t n_runs;		     /* 0: it is `peer`, a world rank, or VFD_NONE */
	uint32_t peer;
	uint64_t first, without; /* places in the runs; first: to begin with */
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
	uint64_t rank; /* place of the next one in the part's runs, and: */
	size_t run;
	uint32_t at;
};

/* Other messages, and files, are their only message. m may go away, f not. */
void vfd_expand(struct vfd_expansion *x, struct vfd_file *f, const struct vfd_message *m);
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
