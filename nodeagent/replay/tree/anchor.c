/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/anchor.h"

#include <stddef.h>

#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/period.h"

/* The callee of n with this key, which may have its place below paths from stack samples. */
static const struct node *find_called(const struct node *n, uint64_t key)
{
	const struct node *found = calltree_find_child(n, key), *c = n->child;

	if (found || c == &calltree_none)
		return found;
	do {
		found = node_is_from_stacks(c) ? find_called(c, key) : NULL;
		c = c->sibling;
	} while (!found && c != n->child);
	return found;
}

/* How many of the callees of n were called as often. */
static unsigned as_frequent(const struct node *n, uint64_t calls)
{
	const struct node *c = n->child;
	unsigned found = 0;

	do {
		found += c->calls >= calls - 1 && c->calls <= calls + 1;
		c = c->sibling;
	} while (c != n->child);
	return found;
}

bool anchor_is_better(const struct anchor *a, const struct anchor *b)
{
	if (!b->node)
		return true;
	if (a->depth != b->depth)
		return a->depth < b->depth;
	if (a->alike != b->alike)
		return a->alike > b->alike;
	return a->collective != b->collective ? a->collective : (int64_t)(a->first - b->first) < 0;
}

bool anchor_of(const struct node *n, uint64_t least, struct anchor *best)
{
	struct period_loop l;

	*best = (struct anchor){.node = NULL};
	for (size_t i = 0; period_loop(n->extra->period, i, &l); i++) {
		struct anchor a = {.node = find_called(n, l.key),
			.iterations = l.iterations,
			.depth = calltree_depth(n) + 1,
			.collective = l.collective,
			.first = l.first};

		if (!a.node || iterations_count(a.iterations, NULL) < ITERATION_CALLS_LEAST ||
			iterations_ticks(a.iterations) < least)
			continue;
		a.alike = as_frequent(a.node->parent, a.node->calls);
		if (anchor_is_better(&a, best))
			*best = a;
	}
	return best->node;
}

bool anchor_has_inside(const struct anchor *a, const struct node *function, uint64_t calls)
{
	return function->parent == a->node->parent &&
	       calls + 2 >= 2 * iterations_count(a->iterations, NULL);
}
