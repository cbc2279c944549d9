/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a duration is out of the ordinary, said at once: more than the median of the last
 * OUTLIERS_RECENT ones by 8 times their median deviation from it, and more than the second longest
 * of them by a quarter (iterations with output, which come again and again, are a kind of their
 * own). Both limits are found anew for each 16th duration. Units are the caller's.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_OUTLIERS_H
#define VFTR_NODEAGENT_REPLAY_TREE_OUTLIERS_H

#include <stdbool.h>
#include <stdint.h>

#define OUTLIERS_RECENT 64u
#define OUTLIERS_FROM	16u /* durations, before any is one */

/* Begins as zeros; 536 bytes. */
struct outliers {
	uint64_t recent[OUTLIERS_RECENT];
	uint64_t n;
	uint64_t median, limit; /* of those that were there when they were judged last */
};

/* Takes a duration. True: it is an outlier, and longer than `least'. */
bool outliers_add(struct outliers *o, uint64_t took, uint64_t least);

#endif
