/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limits/rows.c: lists with a row or more for each rank, in a bounded number of rows. Those with
 * the most and the least of each measure are kept, and the others are added up by node: such a sum
 * has the key of the first of its rows, and counts the further ones as its `others'.
 *
 * Any order of merging gives the same: a row that has others of a part before it has them before it
 * in the whole, and rows are added up only if those of the whole are too many, too. But a row that
 * is in two parts, of two runs, counts twice if it is in a sum of one of them.
 */
#ifndef VFTR_NODEAGENT_PROFILE_LIMITS_INTERNAL_H
#define VFTR_NODEAGENT_PROFILE_LIMITS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "nodeagent/profile/lists.h"

#define ROW_CLASSES 4

struct row_limit {
	enum profile_list list;
	size_t rank, others; /* offsets of these members of a record, each a uint32_t */
	unsigned measures;
	uint64_t (*measure)(const void *record, unsigned which);
	/* below ROW_CLASSES: of each class there may be so many, and it has extremes of its own */
	unsigned (*class)(const void *record);
	/* what a sum tells of each of its rows: where it differs, they stay apart. NULL: nothing */
	uint32_t (*known)(const void *record);
	/* adds a row, which loses its texts, to a sum; NULL: by the roles of fields */
	void (*add)(void *sum, void *row);
};

/* If the sorted list has more than `most' rows of a class, keeps `extremes' of each measure. */
void profile_rows_limit(
	struct profile *p, const struct row_limit *l, uint64_t most, size_t extremes);
/* Rows that those of a list are of: sums have several. */
uint64_t profile_rows_of(const struct profile *p, const struct row_limit *l);

#endif
