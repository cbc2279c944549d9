/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads have counted, by path. Times of nodes are inclusive: each is added to its own path
 * and taken from the one above, so that exclusive times remain; below KEY_DEEP they are exclusive
 * already (replay/tree/calltree.h).
 */
#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/internal.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/shadow.h"
#include "nodeagent/replay/tree/calltree.h"

/* A node that is one too many: its path is that of its parent, which has its time already. */
#define FOLDED ((uint32_t)1 << 31)

void seen_tree_free(struct seen_tree *t)
{
	free(t->path);
	free(t->loops);
	free(t->periods);
	map64_free(&t->place);
	*t = (struct seen_tree){0};
}

uint32_t seen_path(const struct seen_tree *t, const struct node *n)
{
	const uint32_t *known = n ? map64_find(&t->place, (uintptr_t)n) : NULL;

	return known ? *known : NO_PATH;
}

/* The period of a function comes with its first call of MPI. */
static void learn_period(struct seen_tree *t, const struct node *n)
{
	if (key_mpi(n->key) == KEY_NO_MPI || !n->parent || !n->parent->extra ||
		!n->parent->extra->period)
		return;
	for (size_t i = 0; i < t->n_periods; i++)
		if (t->periods[i].node == n->parent)
			return;
	*LIST_ADD(t, periods) = (struct seen_loop){n->parent, seen_path(t, n->parent)};
}

static void learn_node(struct seen_tree *t, const struct node *n, uint32_t path)
{
	const bool folded = n->parent && seen_path(t, n->parent) == path;

	*APPEND(t->path, t->n, t->cap) = folded ? path | FOLDED : path;
	map64_add(&t->place, (uintptr_t)n, path);
	if (n->extra && n->extra->iterations)
		*LIST_ADD(t, loops) = (struct seen_loop){n, path};
	learn_period(t, n);
}

/* Nodes that came since the last look; parents come first. */
static void learn_new(const struct tree_walk *w, struct seen_tree *t, struct calltree *tree)
{
	for (size_t i = t->n; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		learn_node(t, n,
			sampled_child(
				w->paths, w->host, w->p, w->keys, seen_path(t, n->parent), n->key));
	}
}

static void add_waits(const struct tree_walk *w, const struct node_waits *waits)
{
	for (size_t i = 0; i < waits->n; i++) {
		if (waits->at[i].kind >= WAIT_KINDS_END)
			continue;
		w->waits[waits->at[i].kind].calls += waits->at[i].calls;
		w->waits[waits->at[i].kind].ns += waits->at[i].ticks;
	}
}

static void add_node(struct tree_walk *w, const struct node *n, uint32_t path)
{
	uint32_t above;

	if (n->extra) {
		add_waits(w, &n->extra->waits);
		w->messages += n->extra->messages.sends;
		w->bytes += n->extra->messages.bytes_sent;
	}
	if ((path & FOLDED) || (!n->calls && !n->ticks))
		return;
	above = w->paths->at[path].parent;
	sampled_count(
		w->paths, path, (int64_t)n->calls, n->key == KEY_DEEP ? 0 : (int64_t)n->ticks);
	if (n->key == KEY_DEEP || above == NO_PATH)
		return;
	if (w->paths->at[above].deep)
		above = w->paths->at[above].parent;
	sampled_count(w->paths, above, 0, -(int64_t)n->ticks);
}

void walk_tree(struct tree_walk *w, struct seen_tree *t, struct calltree *tree)
{
	learn_new(w, t, tree);
	for (size_t i = 0; i < t->n; i++)
		add_node(w, calltree_at(tree, i), t->path[i]);
}

struct open_walk {
	const struct tree_walk *w;
	const struct seen_tree *t;
};

static void add_open(void *ctx, const struct node *n, const struct node *below, uint64_t ticks)
{
	const struct open_walk *o = ctx;
	const uint32_t path = seen_path(o->t, n), above = seen_path(o->t, below);

	sampled_count(o->w->paths, path, 0, (int64_t)ticks);
	if (below)
		sampled_count(o->w->paths, above, 0, -(int64_t)ticks);
}

/* The first nodes of the shadow's tree are the open frames of the thread. */
static void walk_shadow(struct tree_walk *w, const struct seen_tree *t, const struct replay *of,
	struct replay *shadow, struct seen_tree *seen, uint64_t now)
{
	const struct node **open = xmalloc((DEPTH_MAX + 1) * sizeof(*open));
	const size_t n_open = replay_open_nodes(of, open, DEPTH_MAX + 1);
	struct calltree *tree = replay_tree(shadow);
	struct open_walk o = {w, seen};

	for (size_t i = 0; i < n_open && i < calltree_nodes(tree); i++)
		learn_node(seen, calltree_at(tree, i), seen_path(t, open[i]));
	walk_tree(w, seen, tree);
	replay_open_frames(shadow, now, add_open, &o);
	free(open);
}

/* Adds what the thread has stored and not published. */
static void add_shadow(struct tree_walk *w, const struct seen_tree *t, const struct replay *of,
	struct replay *shadow, struct seen_tree *seen, uint64_t now, struct thread_look *look)
{
	const uint64_t last = replay_last_ticks(shadow), until = now > last ? now : last;
	const struct time_sums more = replay_time_sums(shadow, until);

	walk_shadow(w, t, of, shadow, seen, until);
	for (int i = 0; i < TIME_CLASSES; i++)
		look->sums.of[i] += more.of[i];
	look->records = replay_counts(shadow)->records;
	look->calls = replay_counts(shadow)->calls;
}

void walk_thread(struct tree_walk *w, struct seen_tree *t, const struct thread_ring *thread,
	uint64_t now, struct thread_look *look)
{
	struct replay *r = thread->replay, *shadow = replay_shadow(r);
	struct open_walk o = {w, t};
	struct seen_tree seen = {0};
	uint64_t until = now;

	if (shadow && !drain_shadow(thread, shadow)) {
		replay_free(shadow);
		shadow = NULL;
	}
	if (shadow)
		until = replay_last_ticks(r);
	walk_tree(w, t, replay_tree(r));
	replay_open_frames(r, until, add_open, &o);
	*look = (struct thread_look){.sums = replay_time_sums(r, until)};
	if (shadow)
		add_shadow(w, t, r, shadow, &seen, now, look);
	look->loop = sampled_loop(w, t, &seen, r, now);
	seen_tree_free(&seen);
	replay_free(shadow);
}
