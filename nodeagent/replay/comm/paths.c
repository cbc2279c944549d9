/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of call paths. Whether a receive has waited is known when its send is, which may be
 * at the end of the job, when the tree of its thread is no more: a number leads to where the
 * counts of the node are then.
 */
#include "conf/conf.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"

static uint32_t number_of(struct paths *p, struct node *n, uint32_t *last)
{
	struct node_extra *e = calltree_extra(n);

	if (e->path || p->n >= TRAFFIC_PATHS_MAX)
		return e->path;
	*APPEND(p->at, p->n, p->cap) = (struct path){.node = n, .before = *last};
	e->path = *last = (uint32_t)p->n;
	return e->path;
}

uint32_t path_number(struct traffic_track *l, struct node *n)
{
	return number_of(&l->traffic->paths, n, &l->last_path);
}

uint32_t path_number_past(struct traffic *t, struct node *n)
{
	uint32_t last = 0; /* it does not move any more */

	return number_of(&t->paths, n, &last);
}

void paths_move(struct traffic_track *l)
{
	struct paths *p = &l->traffic->paths;

	for (uint32_t i = l->last_path; i; i = p->at[i - 1].before)
		if (p->at[i - 1].node)
			p->at[i - 1].node = p->at[i - 1].node->counterpart;
	l->last_path = 0;
}

/* What has moved to a node with a number of its own follows that one, and not the tree. */
void paths_moved(struct traffic_track *l, const struct node *from)
{
	struct paths *p = &l->traffic->paths;
	uint32_t *link = &l->last_path;

	while (*link) {
		struct path *at = &p->at[*link - 1];
		struct node_extra *there;

		if (!at->node || !calltree_is_below(at->node, from)) {
			link = &at->before;
			continue;
		}
		at->node = at->node->counterpart;
		there = calltree_extra(at->node);
		if (!there->path) {
			there->path = *link;
			link = &at->before;
			continue;
		}
		at->now = there->path;
		at->node = NULL;
		*link = at->before;
	}
}

static inline uint32_t path_now(const struct traffic *t, uint32_t path)
{
	while (path && path <= t->paths.n && t->paths.at[path - 1].now)
		path = t->paths.at[path - 1].now;
	return path;
}

uint32_t traffic_path_now(const struct traffic *t, uint32_t path)
{
	return path_now(t, path);
}

uint32_t traffic_path(struct traffic_track *l, struct node *n)
{
	return path_number(l, n);
}

struct node *traffic_path_node(const struct traffic *t, uint32_t path)
{
	path = path_now(t, path);
	return path && path <= t->paths.n ? t->paths.at[path - 1].node : NULL;
}

const struct node *path_node(const struct traffic *t, uint32_t path)
{
	return traffic_path_node(t, path);
}

void traffic_wait_elsewhere(struct traffic *t, uint32_t path, const struct node_wait *w)
{
	struct node *n = traffic_path_node(t, path);

	if (n)
		calltree_wait(n, w);
}

void traffic_wait(struct traffic *t, uint32_t path, enum wait_kind kind, uint32_t late,
	uint64_t calls, uint64_t ticks)
{
	traffic_wait_elsewhere(t, path,
		&(struct node_wait){.kind = kind, .late = late, .calls = calls, .ticks = ticks});
}

/* n: at its path, or NULL. calls: 1 or, modulo 2^64, -1 */
static void count_calls(struct node *n, const struct longest_wait *w, uint64_t calls)
{
	if (n)
		calltree_wait(n, &(struct node_wait){.kind = w->kind,
					 .late = w->late,
					 .calls = calls,
					 .ticks = calls * w->ticks,
					 .error = calls * w->error});
}

void traffic_wait_at(struct traffic *t, uint32_t path, uint64_t at, uint64_t ticks)
{
	struct node *n = traffic_path_node(t, path);

	if (n)
		calltree_wait_at(n, at, ticks, 1);
}

static void count_at(
	const struct traffic *t, struct node *n, const struct longest_wait *w, uint64_t calls)
{
	if (!n || !t->conf->mpi_waits)
		return;
	count_calls(n, w, calls);
	calltree_wait_at(n, w->enter, calls * w->ticks, 1);
}

void traffic_count_alone(struct traffic *t, struct node *n, const struct longest_wait *w)
{
	count_at(t, n, w, 1);
}

void traffic_count_longest(struct traffic *t, const struct longest_wait *w, uint64_t calls)
{
	count_at(t, traffic_path_node(t, w->path), w, calls);
	if (calls != 1)
		traffic_cause_back(t, &w->causes);
}

void traffic_wait_in_wrong_order(struct traffic *t, struct longest_wait *w, uint32_t path)
{
	count_calls(traffic_path_node(t, w->path), w, UINT64_MAX);
	traffic_wait_elsewhere(t, w->path,
		&(struct node_wait){.kind = WAIT_WRONG_ORDER,
			.late = w->late,
			.calls = 1,
			.ticks = w->ticks,
			.error = w->error,
			.path = path});
	traffic_cause_is(t, &w->causes, WAIT_WRONG_ORDER);
}
