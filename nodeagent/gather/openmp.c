/* SPDX-License-Identifier: BSD-3-Clause */
/* The teams of OpenMP of a process, as openmp[] and openmp_threads[] of a profile. */
#include "nodeagent/gather/internal.h"

#include <stdio.h>
#include "nodeagent/process/host.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

#define NUMBER_BYTES 11 /* of a thread, and a blank */

static void add_regions(const struct gather_from *from, struct openmp *o)
{
	const struct clocks *c = &from->host->clocks;
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
			.task_ns = clocks_ns(c, r->task_ticks)};
	}
}

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
