/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The matcher in the agent: the processes that it knows, its results as sums and by pairs
 * of threads, and the sends to other nodes, which wait in an outbox (match/outbox.h) until
 * the job is over.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_MATCHING_H
#define VFTR_NODEAGENT_INTERNODE_MATCHING_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/process/observer.h"

struct host;
struct match_receive;
struct match_send;
struct profile;

#ifndef MATCHING_THREAD_PAIRS_MAX
#define MATCHING_THREAD_PAIRS_MAX (1u << 18) /* further ones are added to one entry */
#endif

/* Processes join with their rank, unless mpi.match is off, and leave at their end. */
extern const struct process_observer matching_observer;
/* Adds the session's rank of a process that has joined with its MPI rank before. */
void matching_join_session(struct process *p, uint32_t rank, uint64_t job);
/* To be called when the last record of p was given to the matcher. */
void matching_leave(struct process *p);
/* In a copy of the agent (agent/snapshot.h), before any process leaves there. */
void matching_copied(struct host *host);

/* After the end of all processes: true if this node has sends, locks, losses or collective calls to
 * tell other nodes of. */
bool matching_has_news(const struct host *host);
/* Then: exchanges them with other nodes, unless no node has any (host->no_exchange), and settles
 * the rest. */
void matching_end(struct host *host);
/* Stores the results; after the processes have their ranks. */
void matching_store(const struct host *host, struct profile *p);

/*
 * For sessions with several rounds (rounds.h). round_over() ends the first one, which has all
 * results so far. store_round() stores those known of one round; rank() gives the rank of a
 * process in p, or PROFILE_ELSEWHERE. False if nothing changed since it was stored last.
 */
void matching_round_over(struct host *host, unsigned round);
bool matching_store_round(const struct host *host, unsigned round, struct profile *p,
	uint32_t (*rank)(void *arg, const struct process *p), void *arg);

/* A listener for each pair; label: enum match_label. Set it before the first pair. */
struct matching_listener {
	void (*pair)(void *arg, const struct match_send *s, const struct match_receive *r,
		unsigned label);
	void *arg;
};
void matching_set_listener(struct host *host, const struct matching_listener *listener);

#endif
