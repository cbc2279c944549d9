/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi.only_for_ranks and collective calls: a call of a listed rank counts, with those of its
 * messages whose other rank is listed, too. If messages of one call differ in length, the
 * process records the lengths (LENGTHS); if records were lost, each message gets an equal
 * share of the bytes. The time per call grows with the runs of its communicator only, and the
 * memory does not grow with the number of ranks.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_SHARE_H
#define VFTR_NODEAGENT_REPLAY_COMM_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct comm;
struct message_lengths;
struct pending;
struct shares; /* of a communicator: lengths of calls that have not come */
struct traffic;

/* The part of a call that counts. */
struct share {
	uint32_t sends, receives;
	uint64_t bytes, bytes_received;
};

static inline void share_add(struct share *s, bool received, uint32_t n, uint64_t bytes)
{
	*(received ? &s->receives : &s->sends) += n;
	*(received ? &s->bytes_received : &s->bytes) += bytes;
}

/* Sets p->share of a COLLECTIVE whose lengths have been read; for when not all ranks are listed. */
void share_collective(struct traffic *t, struct pending *p);
/* Keeps lengths, except those of neighbourhood collectives. */
void share_lengths(struct traffic *t, struct comm *c, const struct message_lengths *l);
void shares_free(struct traffic *t, struct shares *s);

#endif
