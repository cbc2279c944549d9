/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/stack-time.h"

#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"

/* By the number of a node; ticks. */
struct parts {
	double sampled; /* of it and what it calls, as far as that is known from samples */
	uint64_t exact; /* of exact nodes that it calls, through none or others from samples */
	double share;	/* of `sampled' that there is room for */
	uint32_t parent;
};

static void add_up(struct calltree *t, struct parts *parts)
{
	struct map64 numbers = {0};
	const size_t n = calltree_nodes(t);

	for (size_t i = 0; i < n; i++) {
		const struct node *node = calltree_at(t, i);

		map64_add(&numbers, (uintptr_t)node, (uint32_t)i);
		if (i)
			parts[i].parent = *map64_find(&numbers, (uintptr_t)node->parent);
	}
	for (size_t i = n; --i;) {
		const struct node *node = calltree_at(t, i);
		struct parts *above = &parts[parts[i].parent];

		if (node_is_from_stacks(node)) {
			parts[i].sampled += (double)node->extra->stacks.ticks;
			above->sampled += parts[i].sampled;
			above->exact += parts[i].exact;
		} else {
			above->exact += node->ticks;
		}
	}
	map64_free(&numbers);
}

static double share_of(const struct node *n, const struct parts *p)
{
	const double room = n->ticks > p->exact ? (double)(n->ticks - p->exact) : 0;

	return p->sampled > room ? room / p->sampled : 1.0;
}

/* Children first: a path has the time of what it calls, and its own share. */
static void set_times(struct calltree *t, struct parts *parts)
{
	for (size_t i = calltree_nodes(t); --i;) {
		struct node *node = calltree_at(t, i);

		if (node_is_from_stacks(node))
			node->ticks +=
				(uint64_t)((double)node->extra->stacks.ticks * parts[i].share);
		if (node_is_from_stacks(node->parent))
			node->parent->ticks += node->ticks;
	}
}

void calltree_time_stacks(struct calltree *t)
{
	const size_t n = calltree_nodes(t);
	struct parts *parts = xcalloc(n, sizeof(*parts));

	add_up(t, parts);
	for (size_t i = 0; i < n; i++) {
		const struct node *node = calltree_at(t, i);

		parts[i].share = i && node_is_from_stacks(node) ? parts[parts[i].parent].share
								: share_of(node, &parts[i]);
	}
	set_times(t, parts);
	free(parts);
}

void calltree_keep_cpu(struct calltree *t, uint64_t cpu)
{
	struct node *root = calltree_root(t);
	uint64_t below = 0;

	for (size_t i = 1; i < calltree_nodes(t); i++)
		if (calltree_at(t, i)->parent == root)
			below += calltree_at(t, i)->ticks;
	if (cpu < root->ticks)
		root->ticks = cpu;
	if (root->ticks < below)
		root->ticks = below;
}
