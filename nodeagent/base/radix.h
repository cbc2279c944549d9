/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorting by a number in time linear in the number of items: a profile of a million call paths
 * is sorted several times before it is printed. Least significant byte first, so that items of
 * one key stay in the order in which they were (Knuth, The Art of Computer Programming, 5.2.5).
 */
#ifndef VFTR_NODEAGENT_BASE_RADIX_H
#define VFTR_NODEAGENT_BASE_RADIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define RADIX_BYTES sizeof(uint64_t)
#define RADIX_FEW   48 /* items that are inserted one by one */

/* Thing number i, by its key. */
struct radix {
	uint64_t key;
	uint32_t i;
};

static inline bool radix_is_sorted(const struct radix *items, size_t n)
{
	for (size_t k = 1; k < n; k++)
		if (items[k - 1].key > items[k].key)
			return false;
	return true;
}

static inline void radix_insert_each(struct radix *items, size_t n)
{
	for (size_t k = 1; k < n; k++) {
		const struct radix moved = items[k];
		size_t to = k;

		for (; to && items[to - 1].key > moved.key; to--)
			items[to] = items[to - 1];
		items[to] = moved;
	}
}

/* Moves items to `to`, by byte `at` of their keys; count: of items with each value of it. */
static inline void radix_deal(
	const struct radix *items, struct radix *to, size_t n, unsigned at, const size_t *count)
{
	size_t place[256], sum = 0;

	for (size_t value = 0; value < 256; value++) {
		place[value] = sum;
		sum += count[value];
	}
	for (size_t k = 0; k < n; k++)
		to[place[items[k].key >> 8 * at & 0xff]++] = items[k];
}

/* By rising key; equal ones stay in their order. */
static inline void radix_sort(struct radix *items, size_t n)
{
	size_t(*count)[256];
	struct radix *from = items, *to, *spare;

	if (radix_is_sorted(items, n))
		return;
	if (n <= RADIX_FEW) {
		radix_insert_each(items, n);
		return;
	}
	count = xcalloc(RADIX_BYTES, sizeof(*count));
	to = spare = xmalloc(n * sizeof(*spare));
	for (size_t k = 0; k < n; k++)
		for (unsigned at = 0; at < RADIX_BYTES; at++)
			count[at][items[k].key >> 8 * at & 0xff]++;
	for (unsigned at = 0; at < RADIX_BYTES; at++) {
		struct radix *dealt = to;

		if (count[at][from->key >> 8 * at & 0xff] == n)
			continue; /* all have the same */
		radix_deal(from, to, n, at, count[at]);
		to = from;
		from = dealt;
	}
	if (from != items)
		memcpy(items, from, n * sizeof(*items));
	free(spare);
	free(count);
}

#endif
