/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of a thread while it runs, by the same rules as at the end (gather/iterations.c):
 * the shallowest path whose calls have half of the time so far, or the calls of MPI between
 * iterations.
 */
#include <string.h>
#include "nodeagent/live/sample/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/replay/shadow.h"
#include "nodeagent/replay/tree/anchor.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/period.h"

/* What is known of one path: by the thread's tree, and by its shadow's. */
struct candidate {
	const struct node *node;
	uint32_t path;
	const struct iterations *all, *more; /* NULL: none */
	uint64_t n, ticks;
	unsigned depth;
	bool between; /* node is a call of MPI */
};

static const struct iterations *iterations_of(const struct seen_loop *l)
{
	return l->node->extra ? l->node->extra->iterations : NULL;
}

static const struct iterations *iterations_at(const struct seen_tree *t, uint32_t path)
{
	for (size_t i = 0; i < t->n_loops; i++)
		if (t->loops[i].path == path)
			return iterations_of(&t->loops[i]);
	return NULL;
}

static void add_counts(struct candidate *c, const struct iterations *all)
{
	if (!all)
		return;
	c->n += iterations_count(all, NULL);
	c->ticks += iterations_ticks(all);
}

static struct candidate candidate_of(const struct seen_loop *l, const struct seen_tree *more)
{
	struct candidate c = {.node = l->node,
		.path = l->path,
		.all = iterations_of(l),
		.more = iterations_at(more, l->path),
		.depth = calltree_depth(l->node)};

	add_counts(&c, c.all);
	add_counts(&c, c.more);
	return c;
}

/* In the window of the process. */
static uint64_t time_until(const struct tree_walk *w, uint64_t now)
{
	const struct time_window *window = &w->p->window;
	const uint64_t begin = window->begun ? window->begin : w->p->start_ticks;

	return now > begin ? now - begin : 0;
}

static bool is_main_loop(const struct tree_walk *w, const struct candidate *c, uint64_t now)
{
	const uint64_t past = time_until(w, now);

	if (!c->all || !c->n)
		return false;
	if (w->loops)
		return !regexec(
			w->loops, symcache_name(w->host->symbols, w->p, c->node->key), 0, NULL, 0);
	return c->n >= ITERATION_CALLS_LEAST && past && c->ticks >= past / ITERATION_COVERED;
}

static bool is_better(const struct candidate *a, const struct candidate *b)
{
	return !b->n || (a->depth != b->depth ? a->depth < b->depth : a->ticks > b->ticks);
}

/* ---- a loop without a function of its own --------------------------------------------------- */

static const struct iterations *iterations_between(
	const struct seen_tree *t, uint32_t path, uint64_t key)
{
	struct period_loop l;

	for (size_t i = 0; i < t->n_periods; i++)
		if (t->periods[i].path == path && t->periods[i].node->extra->period)
			for (size_t k = 0; period_loop(t->periods[i].node->extra->period, k, &l);
				k++)
				if (l.key == key)
					return l.iterations;
	return NULL;
}

static bool find_anchor(const struct seen_tree *t, uint64_t least, struct anchor *best)
{
	*best = (struct anchor){.node = NULL};
	for (size_t i = 0; i < t->n_periods; i++) {
		const struct node *n = t->periods[i].node;
		struct anchor a;

		if (n->extra->period && anchor_of(n, least, &a) && anchor_is_better(&a, best))
			*best = a;
	}
	return best->node;
}

/* What separates the iterations, unless these are those of a function. */
static void choose_anchor(const struct tree_walk *w, const struct seen_tree *t,
	const struct seen_tree *more, uint64_t now, struct candidate *best)
{
	struct anchor a;
	struct candidate c;

	if (w->loops || !find_anchor(t, time_until(w, now) / (2 * ITERATION_COVERED), &a) ||
		(best->n && !anchor_has_inside(&a, best->node, best->n)))
		return;
	c = (struct candidate){.node = a.node,
		.path = seen_path(t, a.node),
		.all = a.iterations,
		.more = iterations_between(more, seen_path(t, a.node->parent), a.node->key),
		.between = true};
	add_counts(&c, c.all);
	add_counts(&c, c.more);
	if (is_main_loop(w, &c, now))
		*best = c;
}

/* ---- how long its last calls took ----------------------------------------------------------- */

struct open_call {
	const struct node *node;
	uint64_t ticks; /* for which its call had been open when the shadow began */
};

static void find_open(void *ctx, const struct node *n, const struct node *below, uint64_t ticks)
{
	struct open_call *o = ctx;

	if (n == o->node)
		o->ticks = ticks;
}

/* For how long the first one of the shadow lasted before that had begun. */
static uint64_t before_shadow(const struct candidate *c, const struct replay *r)
{
	struct open_call o = {.node = c->node};

	if (c->between)
		return iterations_since(c->more) - iterations_until(c->all);
	replay_open_frames(r, replay_last_ticks(r), find_open, &o);
	return o.ticks;
}

/* The last ones of both; of a call that was open when the shadow began it knows only the rest. */
static void take_last(struct sampled_loop *to, const struct candidate *c, const struct replay *r)
{
	uint64_t more[LIVE_STEPS_MAX];
	const size_t n_more = c->more ? iterations_last(c->more, more, LIVE_STEPS_MAX) : 0;

	to->n_took = iterations_last(c->all, to->took, LIVE_STEPS_MAX - n_more);
	if (n_more && n_more == iterations_count(c->more, NULL))
		more[0] += before_shadow(c, r);
	memcpy(to->took + to->n_took, more, n_more * sizeof(*more));
	to->n_took += n_more;
}

struct sampled_loop sampled_loop(const struct tree_walk *w, const struct seen_tree *t,
	const struct seen_tree *more, const struct replay *r, uint64_t now)
{
	struct candidate best = {0};
	struct sampled_loop l = {.path = NO_PATH};

	for (size_t i = 0; i < t->n_loops; i++) {
		const struct candidate c = candidate_of(&t->loops[i], more);

		if (is_main_loop(w, &c, now) && is_better(&c, &best))
			best = c;
	}
	choose_anchor(w, t, more, now, &best);
	if (!best.n)
		return l;
	l.between = best.between;
	l.path = best.path;
	l.n = best.n;
	take_last(&l, &best, r);
	return l;
}
