/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/ids.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/radix.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

struct called {
	int64_t first_ns; /* INT64_MAX: not known */
	uint32_t depth;
	uint32_t stack;
	const char *name;
};

/* Of calls at one time. */
ORDER_BY(by_depth, struct called, RISING(depth) ?: ALPHABETIC(name) ?: RISING(stack))

/* The number of callers of each stack. A parent may come after its child. */
static uint32_t *depths(const struct profile *p)
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

static struct called called_of(const struct profile *p, const uint32_t *depth, uint32_t stack)
{
	const struct profile_stack *s = &p->stacks[stack];

	if (!s->first_ns)
		return (struct called){INT64_MAX, 0, stack, ""};
	return (struct called){s->first_ns, depth[stack], stack, p->names[s->name]};
}

/* By first call; of one time callers before those that they call. */
static struct called *in_order(const struct profile *p)
{
	const size_t n = p->n_stacks;
	struct called *order = xcalloc(n, sizeof(*order));
	struct radix *items = xcalloc(n, sizeof(*items));
	uint32_t *depth = depths(p);

	for (uint32_t i = 0; i < n; i++) {
		const int64_t first_ns = called_of(p, depth, i).first_ns;

		items[i] = (struct radix){(uint64_t)first_ns ^ (uint64_t)1 << 63, i};
	}
	radix_sort(items, n);
	for (size_t i = 0; i < n; i++)
		order[i] = called_of(p, depth, items[i].i);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && items[end].key == items[i].key;)
			end++;
		/* those that are not known are in their order already */
		if (end > i + 1 && order[i].first_ns != INT64_MAX)
			qsort(order + i, end - i, sizeof(*order), by_depth);
	}
	free(items);
	free(depth);
	return order;
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
	struct called *order = in_order(p);
	uint32_t *id = xcalloc(p->n_stacks, sizeof(*id));

	for (uint32_t i = 0; i < p->n_stacks; i++)
		id[order[i].stack] = i;
	free(order);
	settle_equal_hashes(p, id);
	return id;
}

uint64_t *profile_hashes(const struct profile *p)
{
	uint64_t *hashes = xcalloc(p->n_stacks, sizeof(*hashes));
	uint32_t *id = profile_ids(p);

	for (size_t i = 0; i < p->n_stacks; i++)
		hashes[id[i]] = p->stacks[i].hash;
	free(id);
	return hashes;
}

uint64_t *profile_ids_in(const struct profile *p, const uint64_t *hashes, size_t n)
{
	struct radix *job = xcalloc(n, sizeof(*job));
	uint64_t *id = xcalloc(p->n_stacks, sizeof(*id));
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++)
		job[i] = (struct radix){hashes[i], i};
	radix_sort(job, n);
	for (size_t i = 0; i < p->n_stacks; i++) {
		while (at < n && job[at].key < p->stacks[i].hash)
			at++;
		id[i] = at < n && job[at].key == p->stacks[i].hash ? job[at++].i : UINT64_MAX;
	}
	free(job);
	return id;
}
