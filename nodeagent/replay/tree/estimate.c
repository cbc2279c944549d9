/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/estimate.h"

#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"

/* By the number of a node; and of a function, which has that of its first node. */
struct sums {
	uint64_t below;	       /* ticks of what it calls */
	double wanted;	       /* ticks of counted calls of what it calls */
	uint64_t ticks, calls; /* of the function, timed */
};

struct estimate {
	struct calltree *tree;
	struct sums *sums;
	struct map64 nodes, functions;
	double hook;
};

static uint64_t counted_of(const struct node *n)
{
	return n->extra ? n->extra->counted : 0;
}

#define MEAN_CALLS 32 /* a mean of fewer calls is none */

static double mean_of(uint64_t ticks, uint64_t calls)
{
	return calls ? (double)ticks / (double)calls : 0;
}

void calltree_price(struct node *n, bool in_window)
{
	struct node_extra *x = n->extra;
	uint64_t timed, ticks;
	double before, now;

	if (!x || !x->counted)
		return;
	timed = n->calls - x->counted - x->seen_calls;
	ticks = n->ticks - x->estimated - x->seen_ticks;
	x->seen_calls += timed;
	x->seen_ticks += ticks;
	/* calls that are open have no ticks yet, nor have all in a recursion that is open */
	if (timed < MEAN_CALLS || (int64_t)ticks <= 0 || (x->last_calls && !in_window))
		return;
	now = mean_of(ticks, timed);
	before = x->last_calls ? mean_of(x->last_ticks, x->last_calls) : now;
	/* as many calls as fit into two equal times, one of short and one of long calls */
	x->priced_ticks += (uint64_t)(2 * before * now / (before + now) *
				      (double)(x->counted - x->priced_calls));
	x->priced_calls = x->counted;
	x->last_calls = timed;
	x->last_ticks = ticks;
}

/* Takes back what was estimated before. True if there are counted calls. */
static bool begin_anew(struct calltree *t)
{
	bool has_counted = false;

	for (size_t i = 1; i < calltree_nodes(t); i++) {
		struct node *n = calltree_at(t, i);

		if (!counted_of(n))
			continue;
		has_counted = true;
		n->ticks -= n->extra->estimated;
		n->extra->estimated = 0;
	}
	return has_counted;
}

static struct sums *of_node(const struct estimate *e, const struct node *n)
{
	return &e->sums[*map64_find(&e->nodes, (uintptr_t)n)];
}

static struct sums *of_function(struct estimate *e, const struct node *n, size_t i)
{
	const uint32_t *first = map64_find(&e->functions, n->key);

	if (!first)
		map64_add(&e->functions, n->key, (uint32_t)i);
	return &e->sums[first ? *first : i];
}

static void add_up(struct estimate *e)
{
	map64_add(&e->nodes, (uintptr_t)calltree_root(e->tree), 0);
	for (size_t i = 1; i < calltree_nodes(e->tree); i++) {
		const struct node *n = calltree_at(e->tree, i);
		struct sums *f = of_function(e, n, i);

		map64_add(&e->nodes, (uintptr_t)n, (uint32_t)i);
		of_node(e, n->parent)->below += n->ticks;
		if (n->calls > counted_of(n)) {
			f->calls += n->calls - counted_of(n);
			f->ticks += n->ticks;
		}
	}
}

/* The ticks of its counted calls, if there is room for them. */
static double wanted_ticks(struct estimate *e, const struct node *n)
{
	const uint64_t timed = n->calls - counted_of(n);
	const struct sums *f = of_function(e, n, 0);
	const struct node_extra *x = n->extra;
	double mean = x->last_calls ? mean_of(x->last_ticks, x->last_calls)
		      : timed	    ? mean_of(n->ticks, timed)
				    : mean_of(f->ticks, f->calls);
	double ticks = (double)x->priced_ticks + mean * (double)(x->counted - x->priced_calls) -
		       e->hook * (double)x->counted;

	return ticks > 0 ? ticks : 0;
}

static uint64_t exclusive_ticks(const struct node *n, const struct sums *s)
{
	return n->ticks > s->below ? n->ticks - s->below : 0;
}

void calltree_estimate(struct calltree *t, double hook)
{
	struct estimate e = {.tree = t, .hook = hook};
	const size_t n = calltree_nodes(t);
	double *wanted;

	if (!begin_anew(t))
		return;
	e.sums = xcalloc(n, sizeof(*e.sums));
	wanted = xcalloc(n, sizeof(*wanted));
	add_up(&e);
	for (size_t i = 1; i < n; i++) {
		const struct node *c = calltree_at(t, i);

		if (!counted_of(c))
			continue;
		wanted[i] = wanted_ticks(&e, c);
		of_node(&e, c->parent)->wanted += wanted[i];
	}
	/* children first: what a caller has gets no more by its own estimate */
	for (size_t i = n; --i;) {
		struct node *c = calltree_at(t, i);
		const struct sums *s = of_node(&e, c->parent);
		const double room = (double)exclusive_ticks(c->parent, s);

		if (!(wanted[i] > 0))
			continue;
		c->extra->estimated =
			(uint64_t)(wanted[i] * (s->wanted > room ? room / s->wanted : 1.0));
		c->ticks += c->extra->estimated;
	}
	free(wanted);
	free(e.sums);
	map64_free(&e.nodes);
	map64_free(&e.functions);
}
