/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths to one tree, in time linear in their number: deep recursion is no danger. */
#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/show/tree.h"

#define OUTSIDE 0u /* no node: of what is not below the wanted function */

struct building {
	const struct report *r;
	uint32_t group; /* or PROFILE_NONE */
	struct union_tree tree;
	struct map64 below; /* by node, then group */
	uint32_t *node_of;  /* by stack; PROFILE_NONE: not yet known */
};

static uint32_t group_of(const struct building *b, uint32_t stack)
{
	return b->r->group[b->r->p->stacks[stack].name];
}

static void begin_tree(struct building *b)
{
	*LIST_ADD(&b->tree, nodes) = (struct union_node){.group = PROFILE_NONE};
}

static uint32_t node_below(struct building *b, uint32_t above, uint32_t group, uint32_t stack)
{
	const uint64_t key = (uint64_t)above << 32 | group;
	const uint32_t *found = map64_find(&b->below, key);
	const uint32_t at = (uint32_t)b->tree.n_nodes;

	if (found)
		return *found;
	map64_add(&b->below, key, at);
	*LIST_ADD(&b->tree, nodes) = (struct union_node){
		.above = above,
		.group = group,
		.stack = stack,
		.depth = b->tree.nodes[above].depth + 1,
	};
	return at;
}

static void add_stack(struct building *b, uint32_t node, uint32_t stack, bool inclusive)
{
	const struct profile_stack *s = &b->r->p->stacks[stack];
	struct union_node *to = &b->tree.nodes[node];

	to->paths++;
	to->own = stack;
	to->calls += s->calls;
	to->estimated |= s->estimated;
	to->own_estimated |= b->r->own_estimated[stack];
	to->excl_ns += s->excl_ns;
	to->incl_ns += inclusive ? s->incl_ns : 0;
}

/* ---- down ----------------------------------------------------------------------------- */

static uint32_t place_below(struct building *b, uint32_t above, uint32_t stack)
{
	const bool begins = b->group == PROFILE_NONE ? b->r->parent[stack] == PROFILE_NONE
						     : b->group == group_of(b, stack);

	if (above == OUTSIDE && !begins)
		return OUTSIDE;
	return node_below(b, above, group_of(b, stack), stack);
}

/* The nodes of a stack and all its callers that have none, from the outermost on. */
static uint32_t place_stack(struct building *b, uint32_t stack, uint32_t *chain)
{
	uint32_t above = OUTSIDE;
	size_t n = 0;

	while (stack != PROFILE_NONE && b->node_of[stack] == PROFILE_NONE) {
		chain[n++] = stack;
		stack = b->r->parent[stack];
	}
	if (stack != PROFILE_NONE)
		above = b->node_of[stack];
	while (n) {
		stack = chain[--n];
		above = b->node_of[stack] = place_below(b, above, stack);
	}
	return above;
}

struct union_tree union_down(const struct report *r, uint32_t group)
{
	const size_t n = r->p->n_stacks;
	struct building b = {.r = r, .group = group};
	uint32_t *chain = xcalloc(n + 1, sizeof(*chain));

	b.node_of = xcalloc(n + 1, sizeof(*b.node_of));
	for (size_t i = 0; i < n; i++)
		b.node_of[i] = PROFILE_NONE;
	begin_tree(&b);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t node = place_stack(&b, i, chain);

		if (node != OUTSIDE)
			add_stack(&b, node, i, true);
	}
	free(chain);
	free(b.node_of);
	map64_free(&b.below);
	return b.tree;
}

/* ---- up ------------------------------------------------------------------------------- */

static void add_callers(struct building *b, uint32_t stack, uint64_t depth)
{
	/* of a recursion, the calls inside are in the time of the outermost one */
	const bool inclusive = b->r->outermost[stack];
	uint32_t node = 0;

	for (uint32_t at = stack; at != PROFILE_NONE && depth; at = b->r->parent[at], depth--) {
		node = node_below(b, node, group_of(b, at), at);
		add_stack(b, node, stack, inclusive);
	}
}

struct union_tree union_up(const struct report *r, uint32_t group, uint64_t depth)
{
	struct building b = {.r = r, .group = group};

	if (!depth || depth > UNION_CALLERS_MOST)
		depth = UNION_CALLERS_MOST;
	begin_tree(&b);
	for (uint32_t i = 0; i < r->p->n_stacks; i++)
		if (group == PROFILE_NONE || group == group_of(&b, i))
			add_callers(&b, i, depth);
	map64_free(&b.below);
	return b.tree;
}
