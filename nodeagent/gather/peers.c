/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of this node by their ranks in jobs of their own, and by their traffic: a search of
 * all of them for each peer would take most of the end of a node with thousands of small jobs.
 */
#include "nodeagent/gather/internal.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/process/process.h"

static void add_process(struct gather_peers *w, const struct process *p)
{
	const uint64_t rank = (uint64_t)p->job_rank;

	*APPEND(w->all, w->n, w->cap) = p;
	if (p->traffic)
		map64_add(&w->by_traffic, (uintptr_t)p->traffic, (uint32_t)w->n - 1);
	if (p->greeted && p->job_rank != WIRE_UNKNOWN && !p->main_job &&
		!match_table_find(&w->by_rank, p->job, rank)) /* of several, the newest */
		match_table_add(&w->by_rank, p->job, rank, (void *)p);
}

static const struct gather_peers *peers_of(const struct gather_from *g)
{
	const struct process *p = g->peers->made ? NULL : g->host->processes;

	for (; p; p = p->next)
		if (p->ended)
			add_process(g->peers, p);
	g->peers->made = true;
	return g->peers;
}

const struct process *gather_process_of_job(
	const struct gather_from *from, uint64_t job, uint32_t rank)
{
	return match_table_find(&peers_of(from)->by_rank, job, rank);
}

const struct process *gather_process_with(
	const struct gather_from *from, const struct traffic *traffic)
{
	const struct gather_peers *w = peers_of(from);
	const uint32_t *at = traffic ? map64_find(&w->by_traffic, (uintptr_t)traffic) : NULL;

	return at ? w->all[*at] : NULL;
}

void gather_peers_free(struct gather_peers *peers)
{
	match_table_free(&peers->by_rank);
	map64_free(&peers->by_traffic);
	free(peers->all);
	*peers = (struct gather_peers){.made = false};
}
