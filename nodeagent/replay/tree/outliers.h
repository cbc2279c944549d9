/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a duration is out of the ordinary, said at once: among the last OUTLIERS_RECENT ones,
 * more than the median and 8 times the median deviation from it, and more than any that has come
 * twice (as iterations with output do, which are a kind of their own). Units are the caller's.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_OUTLIERS_H
#define VFTR_NODEAGENT_REPLAY_TREE_OUTLIERS_H

#include <stdbool.h>
#include <stdint.h>

#define OUTLIERS_RECENT 64u
#define OUTLIERS_FROM	16u /* durations, before any is one */

/* Begins as zeros; 544 bytes. */
struct outliers {
	uint64_t recent[OUTLIERS_RECENT];
	uint64_t n;
	uint64_t median, limit; /* of those that were there when they were judged last */
};

/* Takes a duration. True: it is an outlier, and longer than `least'. */
bool outliers_add(struct outliers *o, uint64_t took, uint64_t least);

#endif
