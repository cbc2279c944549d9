/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of call paths. Whether a receive has waited is known when its send is, which may be
 * at the end of the job, when the tree of its thread is no more: a number leads to where the
 * counts of the node are then.
 */
#include <stdlib.h>
#include "nodeagent/replay/comm/internal.h"

uint32_t path_number(struct traffic_track *l, struct node *n)
{
	struct node_extra *e = calltree_extra(n);
	struct paths *p = &l->traffic->paths;

	if (e->path || p->n >= TRAFFIC_PATHS_MAX)
		return e->path;
	*APPEND(p->at, p->n, p->cap) = (struct path){n, l->last_path};
	e->path = l->last_path = (uint32_t)p->n;
	return e->path;
}

void paths_move(struct traffic_track *l)
{
	struct paths *p = &l->traffic->paths;

	for (uint32_t i = l->last_path; i; i = p->at[i - 1].before)
		if (p->at[i - 1].node)
			p->at[i - 1].node = p->at[i - 1].node->counterpart;
	l->last_path = 0;
}

void paths_moved(struct traffic_track *l, const struct node *from)
{
	struct paths *p = &l->traffic->paths;

	for (uint32_t i = l->last_path; i; i = p->at[i - 1].before)
		if (p->at[i - 1].node && calltree_is_below(p->at[i - 1].node, from))
			p->at[i - 1].node = p->at[i - 1].node->counterpart;
}

void traffic_wait(struct traffic *t, uint32_t path, enum wait_kind kind, uint32_t late,
	uint64_t calls, uint64_t ticks)
{
	const struct paths *p = &t->paths;

	if (path && path <= p->n && p->at[path - 1].node)
		calltree_wait(p->at[path - 1].node,
			&(struct node_wait){
				.kind = kind, .late = late, .calls = calls, .ticks = ticks});
}
