/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sync.c keeps: the instances of collective calls, and who has come to each. sync-waits.c
 * keeps them and tells what their members have waited for; sync.c takes the calls.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_SYNC_INSTANCES_H
#define VFTR_NODEAGENT_REPLAY_COMM_SYNC_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/base/pool.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/trace/collective.h"

struct calltree;
struct causes;
struct comm;
struct elsewhere;
struct longest;
struct node;
struct sync_member;
struct thread_activity;
struct traffic;
struct traffic_track;

#define BUCKETS	 65536u
#define FEW	 2u /* arrivals for which an instance has room */
#define MANY	 8u /* further ones for which there is room in a block */
#define PAIR_IDS 2u /* the ids of pairs, among hashes of windows' ids */

struct arrival {
	struct traffic *traffic;
	struct traffic_track *track; /* NULL: its thread has ended */
	struct calltree *tree;	     /* NULL: it does not block */
	struct node *node;
	uint64_t since;		/* when it came */
	uint64_t enter, until;	/* of the call that waits */
	uint32_t thread, stack; /* for the listener; stack 0: it is not told */
	uint32_t rank;		/* in its group */
	uint32_t root;		/* as its record has it */
	uint32_t group;		/* of an intercommunicator: the world rank of its first member */
	uint32_t path; /* for traffic_wait(), if it does not block or there are members elsewhere */
	struct thread_activity *activity; /* of the thread that came, or NULL */
	struct arrival *next;		  /* of its instance */
};

/* Those of one instance lie side by side: with hundreds of members most are in no cache. */
struct arrivals {
	struct arrivals *next;
	struct arrival at[MANY];
};

struct instance {
	uint64_t id; /* of the communicator, or of a persistent call */
	uint32_t ticket;
	enum collective_kind kind;
	enum wait_kind wait;
	bool of_pair; /* of these two, ranks in comm; else of all members */
	uint32_t awaited, waiting;
	struct traffic *traffic; /* of the first that came ... */
	struct comm *comm;	 /* ... and held there */
	struct arrival *first, *last;
	struct arrivals *blocks; /* of those that are not in few[]; the first one is not full */
	size_t n;
	uint32_t living;       /* arrivals of members that live here now */
	struct instance *next; /* in its bucket */
	struct instance *older, *newer;
	struct arrival few[]; /* the first ones, FEW */
};

struct sync {
	struct sync_member *members;
	size_t n_members;
	uint32_t generation; /* of members[], from 1 */
	struct instance *buckets[BUCKETS];
	struct instance *oldest, *newest;
	struct match_pool instances, arrivals; /* the latter: struct arrivals */
	size_t n_arrivals;
	struct elsewhere *elsewhere; /* or NULL: sync_begin_elsewhere() */
	struct causes *causes;
	struct longest *longest;
	struct window_locks *window_locks;
	struct spawns *spawns;
	uint64_t dropped; /* sync_dropped() */
};

/* What members meet for. */
struct purpose {
	enum collective_kind kind; /* COLLECTIVE_UNKNOWN: they do not wait for each other */
	enum wait_kind wait;
};

/* Which instance it is that a member comes to. */
struct meeting {
	struct comm *comm;
	uint64_t id;
	uint32_t ticket, function;
	const struct purpose *of; /* NULL: that of the function */
	uint32_t *next; /* the ticket after the greatest that this process has come with, or NULL */
};

/* The instance of an id and a ticket; *result NULL: there is none. Successive tickets of a
 * communicator are neighbours: they are used one after the other. */
static inline struct instance **place_of(struct sync *s, uint64_t id, uint32_t ticket)
{
	const uint64_t h = id * 0x9e3779b97f4a7c15u;
	struct instance **at = &s->buckets[((h ^ h >> 32) + ticket) % BUCKETS];

	while (*at && ((*at)->id != id || (*at)->ticket != ticket))
		at = &(*at)->next;
	return at;
}

/* NULL: of no kind in which members wait for each other. */
struct instance *instance_add(struct sync *s, struct traffic *t, const struct meeting *m);
/* Its waits are not counted. */
void instance_drop(struct sync *s, struct instance *i);
/* Room for one that is not among the first FEW of its instance. */
struct arrival *instance_add_further(struct sync *s, struct instance *i);
/* An arrival of any content, but for the next one. */
static inline struct arrival *instance_add_arrival(struct sync *s, struct instance *i)
{
	struct arrival *a = i->n < FEW ? &i->few[i->n] : instance_add_further(s, i);

	a->next = NULL;
	*(i->last ? &i->last->next : &i->first) = a;
	i->last = a;
	i->n++;
	s->n_arrivals++;
	return a;
}

/* Counts the waits of its members, and drops it. Nothing is known of waits for a group that nobody
 * of this node is in. */
void instance_finish(struct sync *s, struct instance *i);
/* Whether others wait for this member of such an instance; rank: its own. */
bool is_awaited(enum collective_kind kind, uint32_t root, uint32_t rank);

#endif
