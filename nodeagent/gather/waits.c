/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits for other ranks, and for threads of the same one, by call path: waits[] of a profile; those
 * for ranks by who has waited and for whom, too: wait_pairs[].
 */
#include "nodeagent/gather/internal.h"

#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/threads-ended.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/far.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/sampling/sampling.h"
#include "nodeagent/replay/tree/calltree.h"

/* A process of another job, by the number that it has where there are no ranks. */
static uint32_t late_of_job(const struct gather_from *g, const struct traffic *late)
{
	const struct process *p = gather_process_with(g, late);

	return p && p->rank >= 0 ? (uint32_t)p->rank : PROFILE_ELSEWHERE;
}

static uint32_t late_rank(const struct gather_from *g, const struct node_wait *w)
{
	const struct traffic *late =
		g->p->traffic ? traffic_late_process(g->p->traffic, w->late) : NULL;
	uint32_t name;

	if (g->p->traffic && !wait_is_of_threads(w->kind) &&
		traffic_late_is_far(g->p->traffic, w->late, &name))
		return name;
	if (late && !wait_is_of_threads(w->kind))
		return late_of_job(g, late);
	if (w->late == UINT32_MAX)
		return PROFILE_ELSEWHERE;
	return wait_is_of_threads(w->kind) ? g->rank : gather_peer(g, w->late);
}

/* 1 + the number of the stack, or 0. */
static uint32_t late_stack(const struct gather_from *g, const struct node_wait *w)
{
	const struct node *n = traffic_path_node(g->p->traffic, w->path);
	const uint32_t *at = n ? map64_find(g->node_at, (uintptr_t)n) : NULL;

	return at ? *at + 1 : 0;
}

/* ---- by who has waited ------------------------------------------------------------------- */

#define SIDE 256u /* ranks, or groups of them, that are told apart */

/* What one rank has waited for each of the others. */
struct waited {
	uint32_t log2; /* of the ranks in a group */
	struct {
		uint64_t calls, ns;
	} of[SIDE];
};

static void add_pair(const struct gather_from *g, const struct waited *all, uint32_t late,
	uint64_t calls, uint64_t ns)
{
	struct profile_wait_pair *to = profile_add(g->out, PROFILE_WAIT_PAIRS);

	to->log2 = all->log2;
	to->rank = g->rank < PROFILE_UNRANKED ? g->rank >> all->log2 << all->log2 : g->rank;
	to->late = late;
	to->calls = calls;
	to->ns = ns;
}

/* As profile_settle_lists() adds up what is of one pair, those of whom there are few may come as
 * they are. */
static void add_waited(
	const struct gather_from *g, struct waited *all, const struct profile_wait *w)
{
	const uint32_t group = w->late < PROFILE_UNRANKED ? w->late >> all->log2 : SIDE;

	if (wait_is_of_threads(w->kind))
		return;
	if (group >= SIDE) {
		add_pair(g, all, w->late, w->calls, w->ns);
		return;
	}
	all->of[group].calls += w->calls;
	all->of[group].ns += w->ns;
}

static struct waited *waited_of(const struct gather_from *g)
{
	struct waited *all = xcalloc(1, sizeof(*all));

	while (g->rank < PROFILE_UNRANKED && g->p->size > 0 &&
		(uint32_t)(g->p->size - 1) >> all->log2 >= SIDE)
		all->log2++;
	return all;
}

static void store_waited(const struct gather_from *g, const struct waited *all)
{
	for (uint32_t i = 0; i < SIDE; i++)
		if (all->of[i].calls)
			add_pair(g, all, i << all->log2, all->of[i].calls, all->of[i].ns);
}

/* ---- by call path ------------------------------------------------------------------------ */

static void add_wait(const struct gather_from *g, const struct node_wait *w, uint32_t stack_at,
	struct waited *all)
{
	struct profile_wait *to;

	if (!w->ticks)
		return;
	to = profile_add(g->out, PROFILE_WAITS);
	to->stack = stack_at;
	to->kind = w->kind;
	to->late = late_rank(g, w);
	to->late_thread = w->thread;
	to->late_stack = to->late == PROFILE_ELSEWHERE ? 0 : late_stack(g, w);
	to->calls = w->calls;
	to->ns = clocks_ns(&g->host->clocks, w->ticks);
	to->error_ns = clocks_ns(&g->host->clocks, w->error) +
		       (uint64_t)(2.0 * sqrt(w->variance) * g->host->clocks.ns_per_tick);
	add_waited(g, all, to);
}

/* Of the job of p, or of one that has spawned the other one: others have no ranks there. NULL: it
 * is not. */
static const struct process *late_process(const struct gather_from *g, const struct traffic *late)
{
	const struct process *p = g->p, *q = gather_process_with(g, late);

	if (q && q->job != p->job)
		return (q->spawned || p->spawned) && q->rank >= 0 ? q : NULL;
	return q && q->main_job == p->main_job ? q : NULL;
}

static uint32_t union_node(
	const struct gather_from *g, const struct process *p, const struct node *n)
{
	struct gather_from from = *g;

	from.p = p;
	return gather_path(&from, calltree_root(p->ended_tree), n);
}

static uint32_t union_far(const struct gather_from *g, const struct far_paths *paths, uint32_t path)
{
	const char *name[FAR_DEPTH_MAX];
	uint32_t node = PROFILE_NONE, n = 0;

	while (n < FAR_DEPTH_MAX && (name[n] = far_path(paths, path, &path)))
		n++;
	while (n--)
		node = gather_named(g, node, name[n]);
	return node;
}

static void add_far_cause(const struct gather_from *g, const struct traffic_cause_row *row)
{
	struct far_paths *paths = causes_far(sync_causes(g->host->sync));
	uint32_t late;

	if (!traffic_late_is_far(g->p->traffic, row->far_rank, &late))
		late = gather_peer(g, row->far_rank);
	*(struct profile_cause *)profile_add(g->out, PROFILE_CAUSES) =
		(struct profile_cause){.stack = union_node(g, g->p, row->node),
			.kind = row->kind,
			.late = late,
			.activity = union_far(g, paths, row->far_path),
			.ns = clocks_ns(&g->host->clocks, row->ticks)};
}

/* What late ranks did. A process that was let go, or has not ended, is left out. */
static void add_causes(const struct gather_from *g)
{
	struct traffic_cause_row row;

	for (size_t i = 0; traffic_cause_row(g->p->traffic, i, &row); i++) {
		const struct process *late;
		struct profile_cause *to;

		if (row.far_path && row.node && row.ticks)
			add_far_cause(g, &row);
		late = late_process(g, row.late);
		if (!late || !row.node || !row.late_node || !row.ticks)
			continue;
		to = profile_add(g->out, PROFILE_CAUSES);
		*to = (struct profile_cause){.stack = union_node(g, g->p, row.node),
			.kind = row.kind,
			.late = (uint32_t)late->rank,
			.activity = union_node(g, late, threads_ended_awaited(late, row.late_node)),
			.ns = clocks_ns(&g->host->clocks, row.ticks)};
	}
}

void gather_waits(const struct gather_from *g)
{
	struct calltree *tree = g->p->ended_tree;
	struct waited *all = waited_of(g);

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		for (size_t k = 0; n->extra && k < n->extra->waits.n; k++)
			add_wait(g, &n->extra->waits.at[k], g->node[i], all);
	}
	store_waited(g, all);
	free(all);
	if (g->p->traffic)
		add_causes(g);
}

void gather_sampled(const struct host *host, struct profile *out)
{
	struct sampling *sampling = host->sync ? sync_sampling(host->sync) : NULL;
	const struct sampling_count *counts = sampling ? sampling_counts(sampling) : NULL;
	uint32_t most = SAMPLING_LOG2_MAX;

	while (counts && most && !counts[most].all)
		most--;
	for (uint32_t i = 0; counts && most && i <= most; i++)
		if (counts[i].all)
			*(struct profile_sampled *)profile_add(
				out, PROFILE_SAMPLED) = (struct profile_sampled){
				.log2 = i, .calls = counts[i].all, .kept = counts[i].compared};
}

uint64_t gather_wait_ns(const struct gather_from *g)
{
	struct calltree *tree = g->p->ended_tree;
	uint64_t ticks = 0;

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		for (size_t k = 0; n->extra && k < n->extra->waits.n; k++)
			if (!wait_is_of_threads(n->extra->waits.at[k].kind))
				ticks += n->extra->waits.at[k].ticks;
	}
	return clocks_ns(&g->host->clocks, ticks);
}
