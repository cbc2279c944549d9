/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of a function that calls none of its own for each iteration: which of its calls of
 * MPI stands between the iterations (period.h). Chosen so that all ranks choose alike.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_ANCHOR_H
#define VFTR_NODEAGENT_REPLAY_TREE_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

struct iterations;
struct node;

struct anchor {
	const struct node *node;       /* the call; its parent is the function with the loop */
	struct iterations *iterations; /* owned by that function's period */
	unsigned depth;		       /* of the call */
	unsigned alike; /* number of callees that are called once in each iteration, this one
			   included */
	bool collective;
	uint64_t first; /* ticks: when its first call began */
};

/*
 * The best of the calls that n itself makes, with ITERATION_CALLS_LEAST iterations and `least`
 * ticks in them. n has a period. False: there is none.
 */
bool anchor_of(const struct node *n, uint64_t least, struct anchor *best);

/*
 * True if a is the better choice: the one of lesser depth; then with the greater `alike'; then a
 * collective call; then the one that was called first. Any is better than one without a node.
 */
bool anchor_is_better(const struct anchor *a, const struct anchor *b);

/*
 * True if a function that the caller of the anchor has called `calls' times is called several times
 * in each iteration.
 */
bool anchor_has_inside(const struct anchor *a, const struct node *function, uint64_t calls);

#endif
