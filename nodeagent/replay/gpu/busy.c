/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/gpu/gpu.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

#define INTERVALS_MOST 4096u

static void fold(struct gpu_busy *b)
{
	size_t n = b->n / 2;

	for (size_t i = 0; i < n; i++)
		b->folded += b->at[i].to - b->at[i].from;
	b->n -= n;
	memmove(b->at, b->at + n, b->n * sizeof(*b->at));
}

/* The first one that ends at `from` or later. */
static size_t first_touched(const struct gpu_busy *b, uint64_t from)
{
	const size_t high = b->n;

	if (!high || b->at[high - 1].to < from) /* the usual case */
		return high;
	return LOWER_BOUND(i, 0, high, b->at[i].to < from);
}

void gpu_busy_add(struct gpu_busy *b, uint64_t from, uint64_t to)
{
	size_t first, end;

	if (to <= from)
		return;
	if (b->n >= (b->most ? b->most : INTERVALS_MOST))
		fold(b);
	first = end = first_touched(b, from);
	while (end < b->n && b->at[end].from <= to)
		end++;
	if (end > first) {
		if (b->at[first].from < from)
			from = b->at[first].from;
		if (b->at[end - 1].to > to)
			to = b->at[end - 1].to;
	} else {
		b->at = grow(b->at, b->n, &b->cap, sizeof(*b->at));
	}
	memmove(b->at + first + 1, b->at + end, (b->n - end) * sizeof(*b->at));
	b->n = b->n - (end - first) + 1;
	b->at[first] = (struct gpu_interval){from, to};
}

uint64_t gpu_busy_length(const struct gpu_busy *b)
{
	uint64_t sum = b->folded;

	for (size_t i = 0; i < b->n; i++)
		sum += b->at[i].to - b->at[i].from;
	return sum;
}

void gpu_busy_free(struct gpu_busy *b)
{
	free(b->at);
	*b = (struct gpu_busy){0};
}
