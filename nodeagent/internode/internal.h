/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder only. */
#ifndef VFTR_NODEAGENT_INTERNODE_INTERNAL_H
#define VFTR_NODEAGENT_INTERNODE_INTERNAL_H

#include "nodeagent/base/map.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/match/process.h"
#include "nodeagent/match/outbox.h"
#include "nodeagent/match/rank-set.h"
#include "nodeagent/internode/far-causes.h"
#include "nodeagent/internode/far-receivers.h"
#include "nodeagent/internode/matching.h"

/* Messages from one thread to another. */
struct thread_pair {
	uint64_t from, to; /* ids of processes */
	uint32_t from_thread, to_thread;
	uint64_t messages, bytes;
	uint64_t late_ticks; /* that the receiver waited for these to be sent: late-senders.c */
};

/* These, by thread. Begins as zeros but of.bytes. */
struct pair_sums {
	struct match_table at;	    /* by index of from and to, and by threads */
	struct match_pool of;	    /* struct thread_pair */
	struct thread_pair *others; /* or NULL; one of them: all that are not in the table */
};

struct longest;
struct longest_wait;
struct node;
struct traffic;

/* A cache of the last results of matching_process(), by rank. */
#define ASKED 256u

struct asked {
	uint64_t proc_id;
	const struct process *process; /* NULL: nothing is known */
};

struct matching {
	struct host *host;
	struct match_node *node;
	struct matching_listener listener;
	FILE *dump; /* VFTR_TEST_PAIRS with .HOST, or NULL */

	struct map64 here; /* ids of this node's processes -> index in owners */
	const struct process **owners;
	size_t n_owners, cap_owners;
	struct asked *asked;   /* ASKED of them, or NULL */
	struct map64 index;    /* ids of all processes -> a number: matching_index() */
	struct map64 far_late; /* ids of ranks of other jobs on other nodes -> traffic_late_far() */
	uint32_t n_far_late;
	uint64_t *lost; /* ids of processes here whose records were lost */
	size_t n_lost, cap_lost;
	struct map64 is_lost;
	struct match_outbox *outbox; /* sends to other nodes */
	struct match_outbox *inbox;  /* receives from other nodes */
	/* sends to other nodes whose agents did not answer, or that were dropped */
	uint64_t not_shipped;

	struct pair_sums thread_pairs;
	struct thread_pair *recent;  /* of them */
	struct longest *longest;     /* waits of calls that complete several messages; or NULL */
	struct longest *own_longest; /* that, if there is none in host->sync */
	struct wrong_order *wrong_order; /* or NULL */
	struct unproven *unproven;	 /* or NULL */
	struct far_receivers far_receivers;
	struct far_heard far;	/* what senders on other nodes did */
	uint64_t clock_bound;	/* ticks: the greatest difference of clocks of two nodes */
	bool met;		/* the directory has answered */
	struct rank_set absent; /* then: the agents that it has not heard of */
	struct rank_set reporters, homes; /* of directory.h */

	struct matching_round *rounds; /* by number; empty before a second round has begun */
	size_t n_rounds, cap_rounds;
};

/* The results of one round of a session: that in which a receive was posted, or a send sent. */
struct matching_round {
	uint64_t pairs[MATCH_LABELS];
	uint64_t unmatched_sends[MATCH_REASONS], unmatched_receives[MATCH_REASONS];
	struct pair_sums thread_pairs;
	uint64_t found, stored; /* number of all these; the same when they were stored last */
};

/* rounds.c */
void matching_round_pair(struct matching *m, const struct match_send *s,
	const struct match_receive *r, enum match_label label);
void matching_round_unmatched(struct matching *m, const struct match_send *s,
	const struct match_receive *r, enum match_reason reason);

/* A part of thread_pair.late_ticks: of the round in which the receive was posted. */
void matching_round_late(
	struct matching *m, const struct thread_pair *pair, uint64_t posted, uint64_t ticks);

/* late-senders.c: counts the wait in an exact pair, if there is one. */
void matching_late_sender(
	struct matching *m, const struct match_send *s, const struct match_receive *r);
void matching_late_free(struct matching *m);
/* matching.c: a process that is traced here, or NULL. */
const struct process *matching_process(const struct matching *m, uint64_t proc_id);
/* `from` as a rank of the job of p, that has the id `to`; UINT32_MAX: it is none. */
uint32_t matching_rank(const struct process *p, uint64_t from, uint64_t to);
/* A late process of another job than that of t, which may be NULL: traffic_late_job(), or
 * traffic_late_far(). */
uint32_t matching_late_job(struct matching *m, uint64_t late, struct traffic *t);
/* The same of a rank of a job, which may be that of t. */
uint32_t matching_late_of(struct matching *m, struct traffic *t, uint64_t job, uint32_t rank);
/*
 * Counts what the late process did during wait w, if that is known; t: of the process that waited.
 */
void matching_causes(struct matching *m, struct traffic *t, struct longest_wait *w);
struct longest *matching_longest(struct matching *m);

/* late-receivers.c: the same of the sender, in an exact pair. */
void matching_late_receiver(
	struct matching *m, const struct match_send *s, const struct match_receive *r);
/* Counts those that are known now, and frees what was kept. */
void matching_late_receivers_end(struct matching *m);
/* Whether the call that has completed a send of t completes other operations, too. */
enum matching_completes { COMPLETES_NONE, COMPLETES_ONE, COMPLETES_SEVERAL };
enum matching_completes matching_completes(const struct traffic *t, const struct match_send *s);
/* True for the node of an MPI_Sendrecv(): it sends and receives. n: or NULL, it is not known. */
bool matching_is_sendrecv(const struct node *n);
struct unproven *matching_unproven(struct matching *m);

/* matching.c: a number for a process's id, always the same. */
uint32_t matching_index(struct matching *m, uint64_t proc_id);

/* matching.c: the sum over all rounds for the threads of `like`, made if need be. */
struct thread_pair *matching_recent_pair(struct matching *m, const struct thread_pair *like);

/*
 * matching.c: the sum in s for the threads of `like`, made if need be; s->others if there are
 * `most` already.
 */
struct thread_pair *matching_pair_of(
	struct matching *m, struct pair_sums *s, const struct thread_pair *like, size_t most);

/* store.c: adds all pairs to thread_pairs[]. */
void matching_store_pairs(const struct host *host, struct profile *p, const struct pair_sums *s,
	const uint32_t *ranks);

static inline struct match *matching_core(const struct matching *m)
{
	return match_node_matcher(m->node);
}

/* matching.c: takes a piece of receives from this source back from the inbox. Their number; 0: no
 * more. */
uint64_t matching_take_receives(struct matching *m, uint64_t source);

/* times.c: global ns (clock/sync.h) of ticks of this agent, and back; after peers_clock(). */
uint64_t internode_global(const struct host *host, uint64_t ticks);
uint64_t internode_ticks(const struct host *host, uint64_t global);
/* The greatest error of this agent's global times, ns; UINT64_MAX: not known. */
uint64_t internode_clock_error(const struct host *host);
/* The greatest error, in ticks, of a difference between times of two agents whose clocks have these
 * errors, ns. UINT64_MAX: not known, as one of them is not, or is beyond 73 years. */
uint64_t internode_error_ticks(const struct host *host, uint64_t mine, uint64_t others);

/* exchange.c: exchanges sends with all other agents. */
void matching_exchange(struct matching *m);

#endif
