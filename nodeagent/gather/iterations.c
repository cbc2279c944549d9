/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of a process: iterations[] of a profile. Each process chooses for itself, up to
 * two of its paths, so that ranks which run the same loop choose the same one.
 */
#include "nodeagent/gather/internal.h"

#include <regex.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/names.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/iterations.h"

#define CHOSEN 2

struct loop {
	size_t node; /* its number in the tree */
	unsigned depth;
	uint64_t ticks;
};

/* The better one is first: the shallower, or with more time. */
static bool is_better(const struct loop *a, const struct loop *b)
{
	return a->depth != b->depth ? a->depth < b->depth : a->ticks > b->ticks;
}

static void choose_loop(struct loop *best, size_t *n, struct loop l)
{
	for (size_t i = 0; i < *n; i++)
		if (is_better(&l, &best[i])) {
			struct loop worse = best[i];

			best[i] = l;
			l = worse;
		}
	if (*n < CHOSEN)
		best[(*n)++] = l;
}

static bool covers_window(const struct gather_from *g, const struct iterations *all)
{
	const struct time_window *w = &g->p->window;
	const uint64_t window = w->end > w->begin ? w->end - w->begin : 0;
	unsigned shift;

	return iterations_count(all, &shift) >= ITERATION_CALLS_LEAST && window &&
	       iterations_ticks(all) >= window / ITERATION_COVERED;
}

static bool is_named(const struct gather_from *g, const regex_t *of, const struct node *n)
{
	return !regexec(of, symcache_name(g->host->symbols, g->p, n->key), 0, NULL, 0);
}

static size_t find_loops(const struct gather_from *g, const regex_t *of, struct loop *best)
{
	struct calltree *tree = g->p->ended_tree;
	size_t found = 0;

	for (size_t i = 1; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);
		const struct iterations *all = n->extra ? n->extra->iterations : NULL;
		struct loop l = {.node = i, .ticks = n->ticks};

		if (!all || !(of ? is_named(g, of, n) : covers_window(g, all)))
			continue;
		for (; n->parent; n = n->parent)
			l.depth++;
		choose_loop(best, &found, l);
	}
	return found;
}

static void add_runs(const struct gather_from *g, size_t node)
{
	const struct iterations *all = calltree_at(g->p->ended_tree, node)->extra->iterations;
	const struct clocks *c = &g->host->clocks;
	const struct iteration_run *run;
	unsigned shift;
	const uint64_t n = iterations_count(all, &shift);

	for (uint64_t i = 0; (run = iterations_run(all, i)); i++) {
		struct profile_iteration *to = profile_add(g->out, PROFILE_ITERATIONS);
		const uint64_t ns = clocks_ns(c, run->ticks), mpi = clocks_ns(c, run->mpi_ticks),
			       left = n - (i << shift), whole = (uint64_t)1 << shift;

		*to = (struct profile_iteration){.stack = g->node[node],
			.log2 = shift,
			.run = i,
			.ranks = 1,
			.calls = left < whole ? left : whole,
			.ns = ns,
			.mpi_ns = mpi < ns ? mpi : ns,
			.least_ns = clocks_ns(c, run->least),
			.most_ns = clocks_ns(c, run->most),
			.most_at = run->most_at,
			.most_rank = g->rank,
			.busy_rank = g->rank};
		to->busy_ns = ns - to->mpi_ns;
	}
}

void gather_iterations(const struct gather_from *g)
{
	const char *pattern = g->host->conf->iterations_of;
	struct loop best[CHOSEN];
	regex_t of;
	size_t n;

	if (!g->host->conf->iterations_active || !g->p->window.whole ||
		(pattern && regcomp(&of, pattern, REG_EXTENDED | REG_NOSUB)))
		return;
	n = find_loops(g, pattern ? &of : NULL, best);
	for (size_t i = 0; i < n; i++)
		add_runs(g, best[i].node);
	if (pattern)
		regfree(&of);
}
