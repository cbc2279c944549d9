/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which agent has which place. Each tells agent 0 where it is and what it has sends
 * for; agent 0 answers each with what concerns it. One message there and one
 * back; an agent that has died, or does not answer in time, has no places.
 */
#ifndef VFTR_NODEAGENT_MATCHING_DIRECTORY_H
#define VFTR_NODEAGENT_MATCHING_DIRECTORY_H

#include <stdint.h>
#include "nodeagent/places.h"

struct peer;

/* What an agent tells; the places are sorted. */
struct directory_entry {
	uint64_t clock_bound_ns; /* of its clock; UINT64_MAX: not known */
	uint64_t *here;		 /* places of its processes */
	size_t n_here;
	uint64_t *wanted; /* that it has sends for */
	size_t n_wanted;
	uint64_t *lost; /* places here whose records were lost */
	size_t n_lost;
};

/* What it learns. */
struct directory {
	uint64_t clock_bound_ns; /* of all clocks; UINT64_MAX: of one it is not known */
	struct places lost;	 /* of all agents */
	int *senders;		 /* agents that have sends for places here, ascending */
	size_t n_senders;
	struct directory_target {
		int agent;
		struct places places;
	} * targets; /* the agents of the places wanted, ascending */
	size_t n_targets;
};

/*
 * To be called by all agents at about the same time. Takes at most `seconds`, at
 * agent 0 half of it. 0, or -errno with an empty *d. directory_free() in any case.
 */
int directory_ask(
	struct peer *peer, const struct directory_entry *mine, double seconds, struct directory *d);
void directory_free(struct directory *d);

/* For an agent that is dead: agent 0 must not wait for it. */
void directory_gone(struct peer *peer);

#endif
