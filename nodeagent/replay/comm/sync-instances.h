/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instances of collective calls, and the members that have come to each. sync-plain.c takes
 * most calls and adds members, sync.c does so with the others; sync-waits.c keeps the instances and
 * counts the waits of their members.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_SYNC_INSTANCES_H
#define VFTR_NODEAGENT_REPLAY_COMM_SYNC_INSTANCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/base/pool.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/trace/collective.h"

struct causes;
struct comm;
struct elsewhere;
struct longest;
struct node;
struct pending;
struct sampling;
struct sampling_count;
struct sync_member;
struct thread_activity;
struct traffic;
struct traffic_track;

#define BUCKETS	 65536u
#define GROUPS	 64u
#define PLACES	 4u /* of these in which one may be: calls alternate on some communicators */
#define FEW	 2u  /* arrivals for which an instance has room */
#define MANY	 4u  /* further ones of each instance for which there is room in a block */
#define SIDE	 16u /* instances side by side in a block */
#define PAIR_IDS 2u  /* the ids of pairs, among hashes of windows' ids */
#define SIDE_IDS 3u  /* those of groups of intercommunicators, among hashes of theirs */

#ifndef SYNC_AT_ONCE
#define SYNC_AT_ONCE  16u /* members: of no more, waits are counted when the last has come */
#define SYNC_TOGETHER 64u /* calls of more members whose waits are counted rank by rank */
#endif

#define ARRIVAL_THREADS ((1u << 28) - 1)

/* One cache line: with hundreds of members most are in no cache when the last one has come. */
struct arrival {
	struct traffic *traffic;
	struct traffic_track *track; /* NULL: its thread has ended, or the call does not block */
	union {
		struct node *node; /* of a call that blocks; NULL: forgotten */
		uint64_t enter;	   /* else: of the call that waits */
	};
	uint64_t since;			  /* when it came: if it blocks, the same as enter */
	uint64_t until;			  /* of the call that waits */
	struct thread_activity *activity; /* of the thread that came, or NULL; held if that is not
					     known as track */
	uint32_t rank;			  /* in its group */
	uint32_t path; /* for traffic_wait(), if it does not block or there are members elsewhere */
	uint32_t stack;			   /* for the listener; 0: it is not told */
	uint32_t thread : 28, blocks : 1;  /* thread: at most ARRIVAL_THREADS */
	uint32_t is_root : 1, no_root : 1; /* as its record has it */
	uint32_t other_group : 1;	   /* of an intercommunicator: than that of the first one */
};

_Static_assert(sizeof(struct arrival) == 64, "one cache line");

/*
 * Instances of a communicator that were made one after the other, and in a column each the arrivals
 * that are not the first FEW of these. A rank mostly comes to all of them before the next one does,
 * and is counted so: its arrivals are side by side.
 */
struct arrivals {
	struct arrivals *next;
	uint64_t unused[7];
	struct arrival at[MANY][SIDE];
};

struct instance_group {
	uint64_t id;		/* as that of its instances */
	uint32_t n, n_open;	/* instances: that were ever in it, and that are */
	struct arrivals *first; /* or NULL */
};

/* The arrivals that members of an instance wait for; NULL: none on this node. */
struct awaited {
	const struct arrival *last[2]; /* of the group of the first arrival, and of the other one */
	const struct arrival *root;
};

/* Two cache lines say all of most instances. Those of few members are as many as their calls that
 * have not been read of all. */
struct instance {
	_Alignas(64) uint64_t id; /* of the communicator, or of a persistent call */
	uint32_t ticket;
	uint32_t n, living;		/* arrivals; of members that live here now */
	uint8_t kind, wait;		/* enum collective_kind, enum wait_kind */
	bool of_pair;			/* of one_awaited and one_waiting; else of all members */
	bool two_groups;		/* of an intercommunicator */
	struct comm *comm;		/* of the first that came, and held there */
	struct arrival *column;		/* its one in the last block; n > FEW */
	uint64_t since[2], first_since; /* of awaited.last, and of the first of all */

	struct awaited awaited;
	struct traffic *traffic; /* of the first that came */
	uint32_t root;		 /* as the record of the first one has it */
	uint8_t log2;		 /* one in 2^log2 of such calls is compared */
	struct instance *next;	 /* in its bucket */
	struct instance *older, *newer;

	struct arrival few[FEW]; /* the first ones */

	/* not set where they say nothing */
	struct instance_group *beside;	  /* n > FEW, as is the next one */
	struct arrivals *last_block;	  /* that it has arrivals in */
	uint32_t number;		  /* of its column */
	const struct arrival *last_below; /* kinds by rank: of the ranks below the one looked at */
	uint32_t group; /* two_groups: the world rank of the first one's first member */
	uint32_t one_awaited, one_waiting; /* of_pair: ranks in comm */
};

_Static_assert(offsetof(struct instance, awaited) == 64, "a cache line that each arrival changes");
_Static_assert(offsetof(struct instance, few) == 128, "two cache lines");

/* Fetches i, which will be needed soon; i may be NULL. */
static inline void fetch_instance(const struct instance *i)
{
	__builtin_prefetch(i, 1);
	__builtin_prefetch((const char *)i + 64, 1);
}

/* A walk over the arrivals of an instance, in the order in which they came. Begins as zeros. */
struct arrival_walk {
	uint32_t n;
	struct arrivals *block;
};

static inline struct arrival *arrival_next(struct instance *i, struct arrival_walk *w)
{
	const uint32_t n = w->n++, at = (n - FEW) % MANY;

	if (n >= i->n)
		return NULL;
	if (n < FEW)
		return &i->few[n];
	if (!at)
		w->block = n == FEW ? i->beside->first : w->block->next;
	return &w->block->at[at][i->number];
}

/* How the members of a call wait for each other. */
struct purpose {
	enum collective_kind kind; /* COLLECTIVE_UNKNOWN: they do not wait for each other */
	enum wait_kind wait;
	bool by_all; /* members of one group wait for each other, too, where there are two */
};

struct sync {
	struct sync_member *members;
	size_t n_members;
	uint32_t generation; /* of members[], from 1 */
	struct instance *buckets[BUCKETS];
	struct instance *oldest, *newest;
	struct instance *expected; /* newer than that of the last arrival; or NULL */
	struct match_pool instances, arrivals, groups; /* arrivals: struct arrivals */
	struct instance_group *last_groups[GROUPS];    /* by id: the one that has room, or NULL */
	size_t n_arrivals;
	struct instance *complete[SYNC_TOGETHER]; /* whose waits sync_settle() counts */
	uint32_t n_complete;
	struct elsewhere *elsewhere;   /* or NULL: sync_begin_elsewhere() */
	struct sampling *sampling;     /* or NULL: sync_begin_sampling() */
	struct sampling_count *counts; /* of that */
	struct causes *causes;
	struct longest *longest;
	struct window_locks *window_locks;
	struct spawns *spawns;
	uint64_t dropped;	/* sync_dropped() */
	uint32_t met_in;	/* the last function of MPI in which members met, or 0 ... */
	struct purpose met_for; /* ... and what for */
};

/* A member's arrival, and which instance it is of. */
struct meeting {
	struct comm *comm;
	uint64_t id;
	uint32_t ticket, function;
	const struct purpose *of; /* NULL: that of the function */
	uint64_t since, until;	  /* as those of an arrival; so are these */
	uint32_t root;
	struct thread_activity *activity;
	uint32_t log2;	/* as that of the instance */
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

/* of: what its members meet for, which is not COLLECTIVE_UNKNOWN. */
struct instance *instance_add(struct sync *s, struct traffic *t, struct comm *comm, uint64_t id,
	uint32_t ticket, struct purpose of);
/* That of a function of MPI. */
struct purpose instance_purpose(uint32_t function);
/* Drops an instance without counting its waits. */
void instance_drop(struct sync *s, struct instance *i);
/* Where the next arrival comes, unless that makes room by instance_add_block(). */
static inline struct arrival *instance_place(struct instance *i)
{
	const uint32_t n = i->n;

	return n < FEW ? &i->few[n] : i->column + (n - FEW) % MANY * SIDE;
}
/* Room for MANY that are not among the first FEW of the instance. */
void instance_add_block(struct sync *s, struct instance *i);
/* An arrival of any content. */
static inline struct arrival *instance_add_arrival(struct sync *s, struct instance *i)
{
	struct arrival *a;

	if (i->n >= FEW && !((i->n - FEW) % MANY))
		instance_add_block(s, i);
	a = instance_place(i);
	i->n++;
	s->n_arrivals++;
	return a;
}
/*
 * Notes arrival a as one that others may wait for. The other parameters are its members; *a is not
 * read, as it is mostly in no cache yet.
 */
static inline __attribute__((always_inline)) void instance_await(
	struct instance *i, const struct arrival *a, uint64_t since, bool other_group, bool is_root)
{
	if (!i->awaited.last[other_group] || (int64_t)(since - i->since[other_group]) > 0) {
		i->awaited.last[other_group] = a;
		i->since[other_group] = since;
	}
	if (is_root)
		i->awaited.root = a;
	if (i->n == 1 || (int64_t)(since - i->first_since) < 0)
		i->first_since = since;
}

/* sync_arrive() of any call. */
void sync_arrive_any(
	struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until);
/*
 * Counts the waits of an instance's members, at once or by sync_settle(), and drops it. Waits for a
 * group without a member on this node are not known.
 */
void instance_finish(struct sync *s, struct instance *i);
/* True if others wait for the member with this rank in a call of this kind. */
bool is_awaited(enum collective_kind kind, uint32_t root, uint32_t rank);

#endif
