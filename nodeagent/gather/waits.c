/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for other ranks, by call path: waits[] of a profile. */
#include "nodeagent/gather/internal.h"

#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/tree/calltree.h"

static void add_wait(const struct gather_from *g, const struct node_wait *w, uint32_t stack_at)
{
	struct profile_wait *to;

	if (!w->ticks)
		return;
	to = profile_add(g->out, PROFILE_WAITS);
	to->stack = stack_at;
	to->kind = w->kind;
	to->late = gather_peer(g, w->late == UINT32_MAX ? PROFILE_ELSEWHERE : w->late);
	to->calls = w->calls;
	to->ns = clocks_ns(&g->host->clocks, w->ticks);
}

void gather_waits(const struct gather_from *g)
{
	struct calltree *tree = g->p->ended_tree;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		for (size_t k = 0; n->extra && k < n->extra->waits.n; k++)
			add_wait(g, &n->extra->waits.at[k], g->node[i]);
	}
}

uint64_t gather_wait_ns(const struct gather_from *g)
{
	struct calltree *tree = g->p->ended_tree;
	uint64_t ticks = 0;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		for (size_t k = 0; n->extra && k < n->extra->waits.n; k++)
			ticks += n->extra->waits.at[k].ticks;
	}
	return clocks_ns(&g->host->clocks, ticks);
}
