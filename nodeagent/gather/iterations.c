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
#include "nodeagent/replay/tree/anchor.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/period.h"

#define CHOSEN		  2
#define CANDIDATE_COVERED 8u /* of the time: that which others may choose */

struct loop {
	const struct node *node; /* whose calls are the iterations, or separate them */
	const struct node *in;	 /* that has called what is in them: node, or its caller */
	struct iterations *all;
	unsigned depth;
	uint64_t ticks;
	bool is_other; /* the rank has chosen another one, or none */
};

static uint64_t window_of(const struct gather_from *g)
{
	const struct time_window *w = &g->p->window;

	return w->end > w->begin ? w->end - w->begin : 0;
}

static bool covers(const struct iterations *all, uint64_t least)
{
	return iterations_count(all, NULL) >= ITERATION_CALLS_LEAST &&
	       iterations_ticks(all) >= least;
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

/* of: whose names match; NULL: with at least so many ticks. */
static size_t find_functions(
	const struct gather_from *g, const regex_t *of, uint64_t least, struct loop *best)
{
	struct calltree *tree = g->p->ended_tree;
	size_t found = 0;

	for (size_t i = 1; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);
		struct iterations *all = n->extra ? n->extra->iterations : NULL;

		if (all && (of ? is_named(g, of, n) : covers(all, least)))
			choose_loop(best, &found,
				(struct loop){n, n, all, calltree_depth(n), n->ticks, false});
	}
	return found;
}

/* ---- a loop without a function of its own ---------------------------------------------------- */

/* The best, from one call of MPI to the next of the same path, with so much time. */
static bool find_anchor(const struct gather_from *g, uint64_t least, struct anchor *best)
{
	struct calltree *tree = g->p->ended_tree;

	*best = (struct anchor){.node = NULL};
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);
		struct anchor a;

		if (!n->extra || !n->extra->period)
			continue;
		period_end(n->extra->period);
		if (anchor_of(n, least, &a) && anchor_is_better(&a, best))
			*best = a;
	}
	return best->node;
}

/* ---- its runs -------------------------------------------------------------------------------- */

/* 1 + the number of the stack, or 0. */
static uint32_t stack_of(const struct gather_from *g, const struct node *n)
{
	const uint32_t *at = n ? map64_find(g->node_at, (uintptr_t)n) : NULL;

	return at ? *at + 1 : 0;
}

/* Of the calls that began in a run, that which lasted longest. */
static const struct iteration_run *longest_in(
	const struct iterations *all, const struct iteration_run *in)
{
	const struct iteration_run *run, *longest = NULL;
	size_t low = LOWER_BOUND(i, 0, iterations_runs(all),
		(int64_t)(iterations_run(all, i)->since - in->since) < 0);

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

	while (run && run->most_key && (below = calltree_find_child(n, run->most_key))) {
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
	to->mpi_ns = MIN(clocks_ns(c, run->mpi_ticks), to->ns);
	to->least_ns = clocks_ns(c, run->least);
	to->most_ns = clocks_ns(c, run->most);
	to->most_at = run->most_at;
	to->busy_ns = to->ns - to->mpi_ns;
	to->wait_ns = MIN(clocks_ns(c, run->wait_ticks), to->mpi_ns);
	to->off_ns = to->busy_off_ns = MIN(run->off.ns, to->busy_ns);
	if (g->p->off_cpu.knows_queue) {
		to->busy_queued_ns = MIN(run->off.queued_ns, to->busy_off_ns);
		to->busy_asleep_ns = to->busy_off_ns - to->busy_queued_ns;
	}
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
			.others = l->is_other,
			.calls = MIN(left, whole),
			.most_rank = g->rank,
			.busy_rank = g->rank};
		add_run(g, l, run, to);
	}
}

/* ---- which ----------------------------------------------------------------------------------- */

/*
 * With `part` of the window: up to CHOSEN functions, or what separates iterations. Where other
 * ranks may see it the other way round, as the function is called beside that, both: the second one
 * has not been chosen. Returns their number.
 */
static size_t find_loops(const struct gather_from *g, uint64_t part, struct loop *found)
{
	const uint64_t least = window_of(g) / part;
	size_t n = least ? find_functions(g, NULL, least, found) : 0;
	struct anchor a;

	if (!least || !find_anchor(g, least, &a))
		return n;
	if (!n || anchor_has_inside(&a, found[0].node, iterations_count(found[0].all, NULL)))
		n = 0;
	else if (found[0].node->parent != a.node->parent)
		return n;
	found[n] = (struct loop){key_is_site(a.node->key) ? a.node->child : a.node, a.node->parent,
		a.iterations, a.depth, 0, n > 0};
	return n + 1;
}

/* Those that others may choose, if this rank has none of its own: it had something else to do. */
static size_t find_candidates(const struct gather_from *g, struct loop *found)
{
	size_t n = find_loops(g, CANDIDATE_COVERED, found);

	for (size_t i = 0; i < n; i++)
		found[i].is_other = true;
	return n;
}

static size_t find_named(const struct gather_from *g, const char *pattern, struct loop *found)
{
	regex_t of;
	size_t n;

	if (regcomp(&of, pattern, REG_EXTENDED | REG_NOSUB))
		return 0;
	n = find_functions(g, &of, 0, found);
	regfree(&of);
	return n;
}

void gather_iterations(const struct gather_from *g)
{
	const char *pattern = g->host->conf->iterations_of;
	struct loop found[CHOSEN + 1];
	size_t n;

	if (!g->host->conf->iterations_active || !g->p->window.whole)
		return;
	n = pattern ? find_named(g, pattern, found) : find_loops(g, ITERATION_COVERED, found);
	if (!n && !pattern)
		n = find_candidates(g, found);
	for (size_t i = 0; i < n; i++)
		add_runs(g, &found[i]);
}
