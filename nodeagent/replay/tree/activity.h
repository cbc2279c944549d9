/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last calls that a thread has left, kept for threads for which others may wait: so it can be
 * told later what the thread did in an interval. For one thread of the agent.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_ACTIVITY_H
#define VFTR_NODEAGENT_REPLAY_TREE_ACTIVITY_H

#include <stddef.h>
#include <stdint.h>

struct node;

/* A power of 2: 97 KiB for a thread. Smaller in tests. */
#ifndef ACTIVITY_CALLS
#define ACTIVITY_CALLS 4096u
#endif
#define ACTIVITY_GROUP 32u /* calls; a power of 2, and smaller */

struct activity_call {
	struct node *node;
	uint64_t since, until; /* ticks */
};

/* Calls in the order in which they were left: those within a call before it. */
struct activity {
	uint64_t begun; /* ticks: calls that were left since then are kept */
	uint64_t n;	/* ever since; the last ACTIVITY_CALLS are in at[] */
	/* of each group of calls that came together: the first enter; of the first n_groups ever
	 * since, as far as they are still kept */
	uint64_t n_groups, entered[ACTIVITY_CALLS / ACTIVITY_GROUP];
	struct activity_call at[];
};

/* No call is kept that was left before these ticks. The caller frees it. */
struct activity *activity_new(uint64_t ticks);
/*
 * To be called when the thread has ended: returns the last calls, with nodes replaced by their
 * counterparts (calltree_add()), or by root where there is none. Frees a.
 */
struct activity *activity_end(struct activity *a, struct node *root);

/* After calltree_move_down() of `from', before calltree_moved(). */
void activity_moved(struct activity *a, const struct node *from);

static inline void activity_add(struct activity *a, struct node *n, uint64_t since, uint64_t until)
{
	struct activity_call *c = &a->at[a->n++ % ACTIVITY_CALLS];

	c->node = n;
	c->since = since;
	c->until = until;
}

/* Forgets all calls, at ticks. */
static inline void activity_begin(struct activity *a, uint64_t ticks)
{
	a->begun = ticks;
	a->n = a->n_groups = 0;
}

/* A call that is open. */
struct activity_open {
	struct node *node;
	uint64_t since;
};

/*
 * Calls fn() for each stretch of time in [from, to] in which the thread was in the frame of one
 * node and in no other one above it, from the last to the first. open: the calls that are open,
 * n_open of them, the innermost last; the first is the root, open since the thread's begin.
 * now: ticks until which the thread's records were read. Returns the number of calls that were
 * looked at, a group that was entered after `to` as one; what is before the oldest call that is
 * kept is left out.
 */
typedef void activity_stretch(void *arg, struct node *n, uint64_t ticks);
size_t activity_walk(struct activity *a, const struct activity_open *open, size_t n_open,
	uint64_t now, uint64_t from, uint64_t to, activity_stretch *fn, void *arg);

#endif
