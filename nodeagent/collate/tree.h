/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the collation between agents. */
#ifndef VFTR_NODEAGENT_COLLATE_TREE_H
#define VFTR_NODEAGENT_COLLATE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/net/transport.h"

struct profile;

enum tag {
	TAG_HOST = 1,
	TAG_PLAN,
	TAG_UP,
	TAG_ACK,
	TAG_DOWN,
	TAG_BYE,
	TAG_END,
	TAG_WEIGHTS,
	TAG_ROWS
};

#define LEVELS_MAX 32
#define NAME_BYTES 256

/* Hashes of stacks, sorted. */
struct keys {
	uint64_t *hash; /* NULL: not known */
	size_t n;
};

struct collate_plan {
	uint32_t n, position;
	uint32_t place; /* in the tree of net/tree.h: agent 0 is at 0, who is behind it at 1 ... */
	int parent;	/* rank, or -1 at agent 0 */
	uint32_t level; /* at which the parent waits for this agent */
	uint32_t n_levels;
	uint32_t n_children;
	int child[LEVELS_MAX]; /* ranks; child k is waited for at level k */
	bool delivered[LEVELS_MAX];
	uint64_t run;	       /* messages of an earlier run are dropped */
	bool complete;	       /* no agent was missing in the last run, as far as is known */
	uint32_t n_present;    /* in the last run */
	bool cut_off;	       /* our own MPI has gone */
	char root_host[64];    /* of agent 0; cut if it is longer */
	char name[NAME_BYTES]; /* of the job, by agent 0, in this run; "": not known */
	bool unasked;	       /* agent 0 has not said that the run is over */
	bool in_place;	       /* this process is the proxy of a dead agent, and takes its place */
	bool over;	       /* in_place: agent 0 has said that the job is over */
	bool together;	       /* ... and all agents leave together */
	bool prunes, asks;     /* collate_prune() */
	uint64_t prune_from;   /* ... of jobs with more call paths */
	const uint32_t *gone;  /* ... but for these agents; the caller's */
	size_t n_gone;
	/*
	 * the message with the numbers: at agent 0 after the run; in place of a dead agent if it
	 * has come before it is wanted
	 */
	void *down;
	size_t down_bytes;
	bool down_leaves;	      /* a send of it may not be complete, so it is not freed */
	struct keys keys[LEVELS_MAX]; /* in this run: of the children that have delivered */
	struct keys own;	      /* ... and of this agent's own profile */

	/* at agent 0 only */
	char **hosts; /* by position */
	int *ranks;   /* by position */
	bool *direct; /* by rank: sent to agent 0, as its parent did not answer */
};

/* The profile of positions [first, end). */
struct piece {
	uint64_t first, end;
	struct profile *profile;
	bool whole; /* of complete parts of the tree below: nothing that comes later is larger */
};

struct pieces {
	struct piece *at;
	size_t n, cap;
};

void pieces_add(struct pieces *p, uint64_t first, uint64_t end, struct profile *profile);
/* Merges adjacent pieces; of overlapping ones the largest stays. */
void pieces_join(struct pieces *p);
/* Merges adjacent pieces that are whole: while others are awaited that are more. */
void pieces_join_whole(struct pieces *p);
bool pieces_cover(const struct pieces *p, uint64_t position);
void pieces_free(struct pieces *p);

/* Of n pieces; the caller frees keys.hash. */
struct keys keys_of(const struct piece *at, size_t n);
/* Messages with ids of stacks: all of n, sorted; the caller frees. */
struct profile_number;
struct numbers_head {
	uint64_t run, complete; /* complete: 1, no agent is missing */
	char name[NAME_BYTES];	/* of the job, ends with NUL */
};
void *numbers_pack(
	const struct numbers_head *head, const struct profile_number *all, size_t n, size_t *bytes);
bool numbers_valid(uint64_t run, const void *message, size_t bytes);
/* Those of a valid message with these keys; the caller frees. */
struct profile_number *numbers_choose(
	const struct keys *k, const void *message, size_t bytes, size_t *n);
/* Sends a valid message on: to each child what it needs. Not 0: the message may leave yet. */
int numbers_pass_down(struct transport *transport, const void *message, size_t bytes, double until);

/*
 * weights.c. collate_weigh(): all agents call it with their profiles at about the same time, in a
 * run; prunes p (profile/prune.h) if the job has more than `from' call paths. Where agents are
 * missing, p stays as it is. collate_weigh_not(): instead, tells the others that nothing comes.
 */
void collate_weigh(struct transport *transport, struct profile *p, uint64_t from, double until);
void collate_weigh_not(struct transport *transport);

/* Packs the pieces into one message; the caller frees. */
void *pieces_pack(const struct pieces *p, uint64_t run, size_t *bytes);
/*
 * Adds the pieces of a message about n positions that make sense. True if the message has been
 * taken, though all its pieces may be bad: nobody need send it again. False: it is of another run.
 */
bool pieces_unpack(
	struct pieces *p, uint64_t run, uint64_t n, const unsigned char *buf, size_t bytes);

/*
 * Takes the place of an agent that has died: collates with nothing but its
 * host (unless `collated`: that was done), then waits for the end as collate_end(), which frees
 * transport. Does nothing for agent 0, and without a plan.
 */
void collate_take_over(struct transport *transport, const char *host, bool collated);

/*
 * The next message with this tag, of anybody. Ends soon, by -ETIMEDOUT, if the agent `of` has died;
 * -1: of no certain one. In place of a dead agent also, by -ECANCELED, when the numbers have
 * come, which plan->down has then, or the job is over. Otherwise as transport_receive().
 */
int collate_await(struct transport *transport, int of, enum tag tag, void **buf, size_t *bytes,
	int *who, double until);

/* In place of a dead agent: asks its children to send again what it had acknowledged. */
void collate_ask_again(struct transport *transport);
/*
 * collate_asks_again(): true for a message with TAG_ACK by which the parent's proxy asks.
 * collate_asked_again(): true if such a one has come; *by is the proxy's rank. Drops other messages
 * with TAG_ACK.
 */
bool collate_asks_again(
	const struct collate_plan *plan, const void *message, size_t bytes, int from);
bool collate_asked_again(struct transport *transport, int *by);

/* The plan, for a transport that knows the hosts. */
extern const struct transport_plan_operations collate_plan_operations;

/* Plan and hosts as bytes for another process (the caller frees), and back (false: no sense). */
void *collate_plan_pack(const struct transport *transport, size_t *bytes);
bool collate_plan_unpack(struct transport *transport, const void *buf, size_t bytes);
/* The same for a plan alone, without hosts; frees the one that was there, or keeps it. */
bool collate_plan_replace(struct transport *transport, const void *buf, size_t bytes);
/* Drops what belongs to one run: the message with the numbers, and all keys. */
void collate_plan_forget(struct collate_plan *plan);
/* May be NULL. */
void collate_plan_free(struct collate_plan *plan);

/* Sends what was allocated; frees it unless MPI may still read it. */
int send_and_free(
	struct transport *transport, int to, enum tag tag, void *buf, size_t bytes, double until);

#endif
