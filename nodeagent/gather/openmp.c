/* SPDX-License-Identifier: BSD-3-Clause */
/* The teams of OpenMP of a process, as openmp[] and openmp_threads[] of a profile. */
#include "nodeagent/gather/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include "conf/conf.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/process/threads-ended.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

#define NUMBER_BYTES 11 /* of a thread, and a blank */
#define NO_REGION    UINT32_MAX

/* ---- regions ------------------------------------------------------------------------------- */

static bool is_wait(const struct process *p, const struct node *n)
{
	return n->key == KEY_JOIN || n->key == KEY_IDLE || regions_is_wait(p, n->key);
}

/* Is a thread's time at this call path of the region the most beyond the mean of its threads? */
static void note_slowest(const struct gather_from *from, struct profile_openmp *region,
	const struct thread_range *range, uint64_t ticks, uint32_t stack)
{
	const uint64_t mean = region->threads ? ticks / region->threads : ticks;
	const uint64_t beyond = range->max > mean ? range->max - mean : 0;

	if (clocks_ns(&from->host->clocks, beyond) <= region->beyond_ns)
		return;
	region->beyond_ns = clocks_ns(&from->host->clocks, beyond);
	region->slowest_ns = clocks_ns(&from->host->clocks, range->max);
	region->slowest_thread = range->thread_max;
	region->slowest_stack = stack + 1;
}

/*
 * The thread that works longest, and where: by the exclusive times of the threads at the call paths
 * below each region, which are those of the innermost region around; its own is one where the waits
 * at its end are not a part of it. first: of the n regions.
 */
static void find_slowest(const struct gather_from *from, size_t first, size_t n)
{
	const struct process *p = from->p;
	/* the thread that made a team waits for the others in the region's own frame */
	const bool has_join = !from->host->conf->openmp_show_idle_time;
	const size_t nodes = p->ranges && n ? calltree_nodes(p->ended_tree) : 0;
	uint32_t *region = xmalloc(nodes * sizeof(*region) + 1);
	uint64_t *below = xcalloc(nodes + 1, sizeof(*below));
	struct map64 by_stack = {0}, index = {0};

	for (size_t i = 0; i < n; i++)
		map64_add(&by_stack, from->out->openmp[first + i].stack, (uint32_t)(first + i));
	for (size_t i = 0; i < nodes; i++) {
		const struct node *at = calltree_at(p->ended_tree, i);
		const uint32_t *own = map64_find(&by_stack, from->node[i]);

		map64_add(&index, (uintptr_t)at, (uint32_t)i);
		region[i] = own ? *own
			    : i ? region[*map64_find(&index, (uintptr_t)at->parent)]
				: NO_REGION;
	}
	for (size_t i = nodes; i-- > 1;) {
		const struct node *at = calltree_at(p->ended_tree, i);

		if (at->key != KEY_DEEP)
			below[*map64_find(&index, (uintptr_t)at->parent)] += at->ticks;
	}
	for (size_t i = 0; i < nodes; i++) {
		const struct node *at = calltree_at(p->ended_tree, i);
		const struct thread_range *range = threads_ended_range_of(p, at);

		if (region[i] != NO_REGION && range && at->ticks > below[i] && !is_wait(p, at) &&
			!(has_join && map64_find(&by_stack, from->node[i])))
			note_slowest(from, &from->out->openmp[region[i]], range,
				at->ticks - below[i], from->node[i]);
	}
	map64_free(&by_stack);
	map64_free(&index);
	free(region);
	free(below);
}

static void add_regions(const struct gather_from *from, struct openmp *o)
{
	const struct clocks *c = &from->host->clocks;
	const size_t first = from->out->n_openmp;
	size_t n;
	const struct openmp_region *r = openmp_regions(o, &n);

	for (size_t i = 0; i < n; i++, r++) {
		struct profile_openmp *to = profile_add(from->out, PROFILE_OPENMP);

		*to = (struct profile_openmp){.stack = gather_path(from, openmp_root(o), r->path),
			.ranks = 1,
			.calls = r->calls,
			.size_min = r->calls ? r->size_min : 0,
			.size_max = r->size_max,
			.threads = r->threads.n,
			.wall_ns = clocks_ns(c, r->wall),
			.busy_ns = clocks_ns(c, r->busy),
			.average_ns = clocks_ns(c, r->busy_average),
			.most_ns = clocks_ns(c, r->busy_most),
			.barrier_ns = clocks_ns(c, r->barrier),
			.wait_ns = clocks_ns(c, r->wait),
			.join_ns = clocks_ns(c, r->join),
			.start_ns = clocks_ns(c, r->start),
			.tasks = r->tasks,
			.task_ns = clocks_ns(c, r->task_ticks),
			.slowest_rank = from->rank};
	}
	find_slowest(from, first, n);
}

/* ---- threads ------------------------------------------------------------------------------- */

static char *numbers(const struct openmp_threads *t)
{
	char *text = xmalloc(t->n * NUMBER_BYTES + 1), *to = text;

	*text = '\0';
	for (uint32_t i = 0; i < t->n; i++)
		to += sprintf(to, i ? " %u" : "%u", t->numbers[i]);
	return text;
}

static void add_threads(const struct gather_from *from, struct openmp *o)
{
	size_t n, first = from->out->n_openmp_threads;
	const struct openmp_node *at = openmp_nodes(o, &n);

	for (size_t i = 0; i < n; i++, at++) {
		struct profile_openmp_thread *to = profile_add(from->out, PROFILE_OPENMP_THREADS);

		*to = (struct profile_openmp_thread){.rank = from->rank,
			.parent = at->parent == OPENMP_NONE ? PROFILE_NONE
							    : (uint32_t)first + at->parent,
			.level = at->level,
			.number = at->number,
			.tasks = at->parts,
			.ns = clocks_ns(&from->host->clocks, at->ticks),
			.threads = numbers(&at->threads),
			.more = at->threads.more};
	}
}

void gather_openmp(const struct gather_from *from)
{
	if (!from->p->openmp)
		return;
	add_regions(from, from->p->openmp);
	add_threads(from, from->p->openmp);
}
