/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/ids.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/radix.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

struct called {
	uint32_t depth;
	uint32_t stack;
	const char *name;
};

/* Of calls at one time. */
ORDER_BY(by_depth, struct called, RISING(depth) ?: ALPHABETIC(name) ?: RISING(stack))

/* A parent may come after its child. */
uint32_t *profile_depths(const struct profile *p)
{
	uint32_t *depth = xcalloc(p->n_stacks, sizeof(*depth)); /* 0: not known yet, or a root */

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		uint32_t n = 0, k;

		for (k = i; p->stacks[k].parent < p->n_stacks && !depth[k] && n < p->n_stacks;
			k = p->stacks[k].parent)
			n++;
		n += depth[k];
		for (k = i; p->stacks[k].parent < p->n_stacks && !depth[k]; k = p->stacks[k].parent)
			depth[k] = n--;
	}
	return depth;
}

/* Puts n items of calls at one time in order: callers before those that they call. */
static void settle_equal_times(
	const struct profile *p, const uint32_t *depth, struct radix *items, size_t n)
{
	struct called *order = xcalloc(n, sizeof(*order));

	for (size_t i = 0; i < n; i++) {
		const uint32_t stack = items[i].i;

		order[i] = (struct called){depth[stack], stack, p->names[p->stacks[stack].name]};
	}
	qsort(order, n, sizeof(*order), by_depth);
	for (size_t i = 0; i < n; i++)
		items[i].i = order[i].stack;
	free(order);
}

#define NOT_KNOWN UINT64_MAX /* such a key is of no time */

/* By first call; of one time callers before those that they call. */
static struct radix *in_order(const struct profile *p)
{
	const size_t n = p->n_stacks;
	struct radix *items = xmalloc(n * sizeof(*items) + 1);
	uint32_t *depth = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const int64_t first_ns = p->stacks[i].first_ns;

		items[i] = (struct radix){
			first_ns ? (uint64_t)first_ns ^ (uint64_t)1 << 63 : NOT_KNOWN, i};
	}
	radix_sort(items, n);
	for (size_t i = 0, end; i < n && items[i].key != NOT_KNOWN; i = end) {
		for (end = i + 1; end < n && items[end].key == items[i].key;)
			end++;
		if (end == i + 1)
			continue;
		if (!depth)
			depth = profile_depths(p);
		settle_equal_times(p, depth, items + i, end - i);
	}
	free(depth);
	return items;
}

ORDER_BY(by_number, uint32_t, ORDER(*x, *y))

static void settle_equal_hashes(const struct profile *p, uint32_t *id)
{
	for (size_t i = 0, end; i < p->n_stacks; i = end) {
		for (end = i + 1; end < p->n_stacks; end++)
			if (p->stacks[end].hash != p->stacks[i].hash)
				break;
		if (end > i + 1)
			qsort(id + i, end - i, sizeof(*id), by_number);
	}
}

uint32_t *profile_ids(const struct profile *p)
{
	struct radix *order = in_order(p);
	uint32_t *id = xcalloc(p->n_stacks, sizeof(*id));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		id[order[i].i] = i;
	free(order);
	settle_equal_hashes(p, id);
	return id;
}

struct profile_number *profile_numbers(const struct profile *p)
{
	struct profile_number *numbers = xcalloc(p->n_stacks + 1, sizeof(*numbers));
	uint32_t *id = profile_ids(p);

	for (size_t i = 0; i < p->n_stacks; i++)
		numbers[i] = (struct profile_number){p->stacks[i].hash, id[i]};
	free(id);
	return numbers;
}

uint64_t *profile_ids_in(const struct profile *p, const struct profile_number *job, size_t n)
{
	uint64_t *id = xcalloc(p->n_stacks + 1, sizeof(*id));
	size_t at = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		while (at < n && job[at].hash < p->stacks[i].hash)
			at++;
		id[i] = at < n && job[at].hash == p->stacks[i].hash ? job[at++].id : UINT64_MAX;
	}
	return id;
}
