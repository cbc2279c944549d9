/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi.only_for_ranks and collective calls: a call of a listed rank counts, and of its
 * messages those with ranks that are listed, too. Where messages of one call differ in
 * length, the process tells each (LENGTHS records); if some of that was lost, the bytes of
 * those that count are their equal share. Costs no more per call than its communicator has
 * runs, and what is kept does not grow with the number of ranks.
 */
#ifndef VFTR_NODEAGENT_TRAFFIC_SHARE_H
#define VFTR_NODEAGENT_TRAFFIC_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct comm;
struct message_lengths;
struct pending;
struct shares; /* of a communicator: lengths of calls that have not come */
struct traffic;

/* What of a call counts. */
struct share {
	uint32_t sends, receives;
	uint64_t bytes, bytes_received;
};

static inline void share_add(struct share *s, bool received, uint32_t n, uint64_t bytes)
{
	*(received ? &s->receives : &s->sends) += n;
	*(received ? &s->bytes_received : &s->bytes) += bytes;
}

/* Sets p->share, of a COLLECTIVE whose lengths have come. */
void share_collective(struct traffic *t, struct pending *p);
/* Not those of neighbours. */
void share_lengths(struct traffic *t, struct comm *c, const struct message_lengths *l);
void shares_free(struct traffic *t, struct shares *s);

#endif
