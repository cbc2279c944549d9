/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of a process: iterations[] of a profile. Each process chooses for itself, up to
 * two of its functions, so that ranks which run the same loop choose the same one; or, if there is
 * none that each iteration calls once, a call of MPI that separates iterations (period.h).
 */
#include "nodeagent/gather/internal.h"

#include <regex.h>

#include "conf/conf.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/names.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/period.h"

#define CHOSEN 2

struct loop {
	const struct node *node; /* whose calls are the iterations, or separate them */
	const struct node *in;	 /* that has called what is in them: node, or its caller */
	struct iterations *all;
	unsigned depth;
	uint64_t ticks;
};

static unsigned depth_of(const struct node *n)
{
	unsigned depth = 0;

	for (; n->parent; n = n->parent)
		depth++;
	return depth;
}

static uint64_t count_of(const struct iterations *all)
{
	unsigned shift;

	return iterations_count(all, &shift);
}

static bool covers_window(const struct gather_from *g, const struct iterations *all)
{
	const struct time_window *w = &g->p->window;
	const uint64_t window = w->end > w->begin ? w->end - w->begin : 0;

	return count_of(all) >= ITERATION_CALLS_LEAST && window &&
	       iterations_ticks(all) >= window / ITERATION_COVERED;
}

static bool is_named(const struct gather_from *g, const regex_t *of, const struct node *n)
{
	return !regexec(of, symcache_name(g->host->symbols, g->p, n->key), 0, NULL, 0);
}

/* ---- a function ------------------------------------------------------------------------------ */

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

static size_t find_functions(const struct gather_from *g, const regex_t *of, struct loop *best)
{
	struct calltree *tree = g->p->ended_tree;
	size_t found = 0;

	for (size_t i = 1; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);
		struct iterations *all = n->extra ? n->extra->iterations : NULL;

		if (all && (of ? is_named(g, of, n) : covers_window(g, all)))
			choose_loop(best, &found, (struct loop){n, n, all, depth_of(n), n->ticks});
	}
	return found;
}

/* ---- a loop without a function of its own ---------------------------------------------------- */

static const struct node *child_of(const struct node *n, uint64_t key)
{
	const struct node *c = n->child;

	if (c == &calltree_none)
		return NULL;
	while (c->key != key) {
		c = c->sibling;
		if (c == n->child)
			return NULL;
	}
	return c;
}

/* How many of the callees of n were called as often. */
static unsigned as_frequent(const struct node *n, uint64_t calls)
{
	const struct node *c = n->child;
	unsigned found = 0;

	do {
		found += c->calls >= calls - 1 && c->calls <= calls + 1;
		c = c->sibling;
	} while (c != n->child);
	return found;
}

struct candidate {
	struct loop loop;
	unsigned alike; /* callees that are called once in each iteration */
	bool collective;
	uint64_t first;
};

/* Which all ranks choose alike: a collective call before others, then the first one. */
static bool is_better_anchor(const struct candidate *a, const struct candidate *b)
{
	if (!b->loop.node)
		return true;
	if (a->loop.depth != b->loop.depth)
		return a->loop.depth < b->loop.depth;
	if (a->alike != b->alike)
		return a->alike > b->alike;
	return a->collective != b->collective ? a->collective : (int64_t)(a->first - b->first) < 0;
}

static void look_at_period(
	const struct gather_from *g, const struct node *n, struct candidate *best)
{
	struct period *p = n->extra->period;
	struct period_loop l;

	period_end(p);
	for (size_t i = 0; period_loop(p, i, &l); i++) {
		struct candidate c = {.collective = l.collective, .first = l.first};

		c.loop = (struct loop){child_of(n, l.key), n, l.iterations, depth_of(n) + 1, 0};
		if (!c.loop.node || !covers_window(g, l.iterations))
			continue;
		c.loop.ticks = iterations_ticks(l.iterations);
		c.alike = as_frequent(n, c.loop.node->calls);
		if (is_better_anchor(&c, best))
			*best = c;
	}
}

/* The best, from one call of MPI to the next of the same path. False: there is none. */
static bool find_anchor(const struct gather_from *g, struct loop *to)
{
	struct calltree *tree = g->p->ended_tree;
	struct candidate best = {.alike = 0};

	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		if (n->extra && n->extra->period)
			look_at_period(g, n, &best);
	}
	*to = best.loop;
	return best.loop.node;
}

/* The function is called several times in each iteration of a loop of its caller. */
static bool is_part_of(const struct loop *function, const struct loop *anchor)
{
	return function->node->parent == anchor->in &&
	       count_of(function->all) + 2 >= 2 * count_of(anchor->all);
}

/* ---- its runs -------------------------------------------------------------------------------- */

/* 1 + the number of the stack, or 0. */
static uint32_t stack_of(const struct gather_from *g, const struct node *n)
{
	const uint32_t *at = n ? map64_find(g->node_at, (uintptr_t)n) : NULL;

	return at ? *at + 1 : 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* Of the calls that began in a run, that which lasted longest. */
static const struct iteration_run *longest_in(
	const struct iterations *all, const struct iteration_run *in)
{
	const struct iteration_run *run, *longest = NULL;
	size_t low = 0, high = iterations_runs(all);

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if ((int64_t)(iterations_run(all, middle)->since - in->since) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; (run = iterations_run(all, low)) && run->since - in->since < in->ticks; low++)
		if (!longest || run->most > longest->most)
			longest = run;
	return longest;
}

/* Where the longest call of a run took longer than on average: as far down as calls are known one
 * by one. */
static const struct node *longer_in(const struct node *n, const struct iteration_run *run)
{
	const struct node *below;

	while (run && run->most_key && (below = child_of(n, run->most_key))) {
		n = below;
		run = n->extra && n->extra->iterations ? longest_in(n->extra->iterations, run)
						       : NULL;
	}
	return n;
}

static void add_run(const struct gather_from *g, const struct loop *l,
	const struct iteration_run *run, struct profile_iteration *to)
{
	const struct clocks *c = &g->host->clocks;

	to->ns = clocks_ns(c, run->ticks);
	to->mpi_ns = at_most(clocks_ns(c, run->mpi_ticks), to->ns);
	to->least_ns = clocks_ns(c, run->least);
	to->most_ns = clocks_ns(c, run->most);
	to->most_at = run->most_at;
	to->busy_ns = to->ns - to->mpi_ns;
	to->wait_ns = at_most(clocks_ns(c, run->wait_ticks), to->mpi_ns);
	to->off_ns = to->busy_off_ns = at_most(run->off_ns, to->busy_ns);
	to->busy_stack = stack_of(g, longer_in(l->in, run));
}

static void add_runs(const struct gather_from *g, const struct loop *l)
{
	const uint32_t stack = stack_of(g, l->node);
	const struct iteration_run *run;
	unsigned shift;
	const uint64_t n = iterations_count(l->all, &shift);

	for (uint64_t i = 0; stack && (run = iterations_run(l->all, i)); i++) {
		struct profile_iteration *to = profile_add(g->out, PROFILE_ITERATIONS);
		const uint64_t left = n - (i << shift), whole = (uint64_t)1 << shift;

		*to = (struct profile_iteration){.stack = stack - 1,
			.log2 = shift,
			.run = i,
			.ranks = 1,
			.calls = at_most(left, whole),
			.most_rank = g->rank,
			.busy_rank = g->rank};
		add_run(g, l, run, to);
	}
}

void gather_iterations(const struct gather_from *g)
{
	const char *pattern = g->host->conf->iterations_of;
	struct loop best[CHOSEN], anchor;
	regex_t of;
	size_t n;

	if (!g->host->conf->iterations_active || !g->p->window.whole ||
		(pattern && regcomp(&of, pattern, REG_EXTENDED | REG_NOSUB)))
		return;
	n = find_functions(g, pattern ? &of : NULL, best);
	if (!pattern && find_anchor(g, &anchor) && (!n || is_part_of(&best[0], &anchor))) {
		best[0] = anchor;
		n = 1;
	}
	for (size_t i = 0; i < n; i++)
		add_runs(g, &best[i]);
	if (pattern)
		regfree(&of);
}
