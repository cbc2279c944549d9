/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/ids.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

struct called {
	int64_t first_ns; /* INT64_MAX: not known */
	uint32_t depth;
	uint32_t stack;
	const char *name;
};

ORDER_BY(by_first_call, struct called,
	RISING(first_ns) ?: RISING(depth) ?: ALPHABETIC(name) ?: RISING(stack))

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

static struct called *in_order(const struct profile *p)
{
	struct called *order = xcalloc(p->n_stacks, sizeof(*order));
	uint32_t *depth = depths(p);

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		order[i] = (struct called){INT64_MAX, 0, i, ""};
		if (s->first_ns)
			order[i] = (struct called){s->first_ns, depth[i], i, p->names[s->name]};
	}
	qsort(order, p->n_stacks, sizeof(*order), by_first_call);
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

struct of_job {
	uint64_t hash, id;
};

ORDER_BY(by_hash, struct of_job, RISING(hash) ?: RISING(id))

uint64_t *profile_ids_in(const struct profile *p, const uint64_t *hashes, size_t n)
{
	struct of_job *job = xcalloc(n, sizeof(*job));
	uint64_t *id = xcalloc(p->n_stacks, sizeof(*id));
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		job[i] = (struct of_job){hashes[i], i};
	qsort(job, n, sizeof(*job), by_hash);
	for (size_t i = 0; i < p->n_stacks; i++) {
		while (at < n && job[at].hash < p->stacks[i].hash)
			at++;
		id[i] = at < n && job[at].hash == p->stacks[i].hash ? job[at++].id : UINT64_MAX;
	}
	free(job);
	return id;
}
