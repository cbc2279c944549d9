/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files matching*.c share, and nobody else. */
#ifndef VFTR_NODEAGENT_MATCHING_INTERNAL_H
#define VFTR_NODEAGENT_MATCHING_INTERNAL_H

#include "nodeagent/map64.h"
#include "nodeagent/match-node.h"
#include "nodeagent/match-outbox.h"
#include "nodeagent/match-table.h"
#include "nodeagent/matching.h"

/* Messages that went from one thread to another. */
struct thread_pair {
	uint64_t from, to; /* places */
	uint32_t from_thread, to_thread;
	uint64_t messages, bytes;
};

struct matching {
	struct agent *agent;
	struct match_node *node;
	struct matching_tap tap;
	FILE *dump; /* VFTR_TEST_PAIRS with .HOST, or NULL */

	struct map64 here; /* places of processes of this node -> index in owners */
	const struct process **owners;
	size_t n_owners, cap_owners;
	struct map64 index; /* of all places -> a number */
	uint64_t *lost;	    /* places here whose records were lost */
	size_t n_lost, cap_lost;
	struct map64 is_lost;
	struct match_table gone;     /* communicator -> how many members have forgotten it */
	struct match_outbox *outbox; /* sends to other nodes */
	struct match_outbox *inbox;  /* receives from there */
	/* sends to other nodes whose agents did not answer, or that were dropped */
	uint64_t not_shipped;

	struct match_table pair_at; /* index of from and to; threads */
	struct match_pool pairs;
	struct thread_pair *recent, *others;

	struct matching_round *rounds; /* by number; none before a second one has begun */
	size_t n_rounds, cap_rounds;
};

/* What belongs to one round of a session: to that in which a message was posted, or sent. */
struct matching_round {
	uint64_t pairs[MATCH_LABELS];
	uint64_t unmatched_sends[MATCH_REASONS], unmatched_receives[MATCH_REASONS];
	struct match_table pair_at;
	struct match_pool of; /* struct thread_pair */
	struct thread_pair *others;
	uint64_t found, stored; /* how many of all these; and when they were stored last */
};

/* matching-rounds.c */
void matching_round_pair(struct matching *m, const struct match_send *s,
	const struct match_receive *r, enum match_label label);
void matching_round_unmatched(struct matching *m, const struct match_send *s,
	const struct match_receive *r, enum match_reason reason);

/* matching.c: of a place, a number that is the same whenever it is asked for. */
uint32_t matching_index(struct matching *m, uint64_t place);

/* matching-store.c: all of a table, and those beyond its room (or NULL), to thread_pairs[]. */
void matching_store_pairs(struct profile *p, const struct match_table *pairs, size_t n,
	const struct thread_pair *others, const uint32_t *ranks);

static inline struct match *matching_core(const struct matching *m)
{
	return match_node_matcher(m->node);
}

/* From a place that is not far any more, or that has sent: a piece. How many; 0: no more. */
uint64_t matching_take_receives(struct matching *m, uint64_t source);

/* matching-exchange.c: with all other agents, what each has for the others. */
void matching_exchange(struct matching *m);

#endif
