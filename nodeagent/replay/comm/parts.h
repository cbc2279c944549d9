/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread did in an interval, by node: stretches of activity_walk() put together. And how
 * often the agent may look, as a look costs time.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_PARTS_H
#define VFTR_NODEAGENT_REPLAY_COMM_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct node;

#define PARTS_MOST 32 /* while stretches come */

/* Begins as zeros. */
struct parts {
	struct part {
		struct node *node;
		uint64_t ticks;
		uint32_t depth;
		bool stays;
	} at[PARTS_MOST];
	unsigned n;
	uint64_t ticks; /* of all */
	uint64_t steps; /* made to put them together */
};

/* An activity_stretch; arg: struct parts. */
void parts_add(void *arg, struct node *n, uint64_t ticks);
/* Short ones count for their callers, so that at most so many are left; most: 4 or more. */
void parts_few(struct parts *p, unsigned most);

struct look_budget {
	int64_t steps;	/* that may be made now; below 0: were made in advance */
	uint64_t until; /* ticks up to which that was counted */
};

struct look_budget look_budget_full(void);
/* now: ticks. */
bool look_budget_allows(struct look_budget *b, uint64_t now);
/* A look has made so many steps. */
void look_budget_take(struct look_budget *b, uint64_t steps);

#endif
