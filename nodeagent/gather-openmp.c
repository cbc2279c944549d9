/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/openmp.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"

#define NUMBER_BYTES 11 /* of a thread, and a blank */

struct placing {
	uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key);
	void *ctx;
};

static uint32_t stack_of(const struct placing *at, struct openmp *o, const struct node *path)
{
	const struct node *up[OPENMP_PATH_MAX + 1];
	uint32_t stack = at->place(at->ctx, PROFILE_NONE, KEY_INIT);
	unsigned n = 0;

	for (; path != openmp_root(o) && n < ARRAY_SIZE(up); path = path->parent)
		up[n++] = path;
	while (n--)
		stack = at->place(at->ctx, stack, up[n]->key);
	return stack;
}

static void add_regions(
	struct agent *a, struct openmp *o, struct profile *out, const struct placing *at)
{
	const struct clocks *c = &a->clocks;
	size_t n;
	const struct openmp_region *regions = openmp_regions(o, &n);

	out->openmp = xrealloc(out->openmp, (out->n_openmp + n) * sizeof(*out->openmp) + 1);
	for (size_t i = 0; i < n; i++) {
		const struct openmp_region *r = &regions[i];

		out->openmp[out->n_openmp++] =
			(struct profile_openmp){.stack = stack_of(at, o, r->path),
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

static void add_threads(struct agent *a, struct openmp *o, uint32_t rank, struct profile *out)
{
	size_t n, first = out->n_openmp_threads;
	const struct openmp_node *nodes = openmp_nodes(o, &n);

	out->openmp_threads =
		xrealloc(out->openmp_threads, (first + n) * sizeof(*out->openmp_threads) + 1);
	for (size_t i = 0; i < n; i++)
		out->openmp_threads[out->n_openmp_threads++] =
			(struct profile_openmp_thread){.rank = rank,
				.parent = nodes[i].parent == OPENMP_NONE
						  ? PROFILE_NONE
						  : (uint32_t)first + nodes[i].parent,
				.level = nodes[i].level,
				.number = nodes[i].number,
				.tasks = nodes[i].parts,
				.ns = clocks_ns(&a->clocks, nodes[i].ticks),
				.threads = numbers(&nodes[i].threads),
				.more = nodes[i].threads.more};
}

void gather_openmp_add(struct agent *a, const struct process *p, uint32_t rank, struct profile *out,
	uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key), void *ctx)
{
	if (!p->openmp)
		return;
	add_regions(a, p->openmp, out, &(struct placing){place, ctx});
	add_threads(a, p->openmp, rank, out);
}

void gather_openmp_store(struct profile *p, const uint32_t *id)
{
	const struct profile_list *l = profile_lists;

	for (size_t i = 0; i < p->n_openmp; i++)
		p->openmp[i].stack = id[p->openmp[i].stack];
	while (l->array != offsetof(struct profile, openmp))
		l++;
	gather_combine(p, l);
}
