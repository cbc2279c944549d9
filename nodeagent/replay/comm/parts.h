/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a thread in an interval, by node: the sum of the stretches that activity_walk()
 * tells. And a budget of such looks, as each costs time.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_PARTS_H
#define VFTR_NODEAGENT_REPLAY_COMM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct node;

#define PARTS_MOST 32 /* nodes, while stretches are added */

/* Begins as zeros. */
struct parts {
	struct part {
		struct node *node;
		uint64_t ticks;
		uint32_t depth;
		bool stays;
	} at[PARTS_MOST];
	unsigned n;
	uint64_t ticks; /* of all parts */
	uint64_t steps; /* of work that adding them took */
};

/* An activity_stretch; arg: struct parts. */
void parts_add(void *arg, struct node *n, uint64_t ticks);
/* Adds short parts to those of their callers, until at most `most' (4 or more) are left. */
void parts_few(struct parts *p, unsigned most);

struct look_budget {
	int64_t steps;	/* of work that may be done now; below 0: too many were done before */
	uint64_t until; /* ticks up to which steps were added */
};

struct look_budget look_budget_full(void);
/* True if a look may be made at `now', ticks. */
bool look_budget_allows(struct look_budget *b, uint64_t now);
/* Takes the steps of a look. */
void look_budget_take(struct look_budget *b, uint64_t steps);

#endif
