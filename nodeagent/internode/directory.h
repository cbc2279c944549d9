/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which agent has which process. Each agent tells agent 0 which processes it has,
 * which it has sends for, and to which agents it reports collective calls; agent 0 answers each
 * with its part. One message there and one back; an agent that has died, or does not answer in
 * time, has no processes.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_DIRECTORY_H
#define VFTR_NODEAGENT_INTERNODE_DIRECTORY_H

#include <stdint.h>
#include "nodeagent/match/rank-set.h"

struct transport;

/* The entry of one agent; ids of processes (match_proc_id()) in any order, maybe some twice. */
struct directory_entry {
	uint64_t clock_bound_ns; /* of its clock; UINT64_MAX: not known */
	uint64_t *here;		 /* ids of its processes */
	size_t n_here;
	uint64_t *wanted; /* ids of processes that it has sends for */
	size_t n_wanted;
	uint64_t *lost; /* ids of its processes whose records were lost */
	size_t n_lost;
	uint64_t *homes; /* agents to which it reports collective calls (home.h) */
	size_t n_homes;
};

/* The answer to one agent. */
struct directory {
	uint64_t clock_bound_ns; /* for all clocks; UINT64_MAX: that of one is not known */
	struct rank_set lost;	 /* of all agents */
	int *senders;		 /* agents that have sends for processes here, ascending */
	size_t n_senders;
	struct directory_target {
		int agent;
		struct rank_set proc_ids;
	} * targets; /* the agents of the processes wanted, ascending */
	size_t n_targets;
	struct rank_set absent; /* agents that did not tell */
	/* agents with reports for this one; those of the entry that are there */
	struct rank_set reporters, homes;
};

/*
 * To be called by all agents at about the same time. Takes at most `seconds`, at
 * agent 0 half of it. Sorts what is in *mine. 0, or -errno: then *d says nothing.
 * directory_free() in any case.
 */
int directory_ask(struct transport *transport, const struct directory_entry *mine, double seconds,
	struct directory *d);
void directory_free(struct directory *d);

/* Called by the proxy of a dead agent, so that agent 0 does not wait for it. */
void directory_gone(struct transport *transport);

#endif
