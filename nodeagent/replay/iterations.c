/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call paths may be the main loop of a program, and when their calls end. Paths are watched
 * that begin at most ITERATION_DEPTH frames below the root, the first ITERATION_PATHS of each
 * depth; and calls of MPI, whose time belongs to those that are open around them. Both have a
 * node_extra, by which the fast way of replay_block() knows them.
 */
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/internal.h"

void replay_watch_iterations(struct replay *r, uint64_t least_ticks)
{
	r->iterates = true;
	r->iteration_least = least_ticks;
}

void replay_watch_slow(
	struct replay *r, uint64_t least_ticks, bool any_path, replay_slow_call tell, void *ctx)
{
	r->tell_slow = tell;
	r->slow_ctx = ctx;
	r->slow_least = least_ticks;
	r->slow_anywhere = any_path;
}

/* Frames below the root, or ITERATION_DEPTH + 1 for more than are watched. */
static unsigned depth_of(const struct node *n)
{
	unsigned depth = 0;

	for (; n->parent && depth <= ITERATION_DEPTH; n = n->parent)
		depth++;
	return depth;
}

/* Functions and regions; nothing of MPI, OpenMP or our own. */
static bool may_iterate(uint64_t key)
{
	return key_is_region(key) || (key & KEY_WIDE) ||
	       (!(key & KEY_INIT) && (uint32_t)key >= RECORD_ID_FUNCTION);
}

void replay_iteration_path(struct replay *r, struct node *n)
{
	unsigned depth;

	if (key_mpi(n->key) != KEY_NO_MPI) {
		calltree_extra(n)->watched = true;
		return;
	}
	depth = may_iterate(n->key) ? depth_of(n) : 0;
	if (!depth || depth > ITERATION_DEPTH || r->n_iterated[depth] >= ITERATION_PATHS)
		return;
	r->n_iterated[depth]++;
	calltree_extra(n)->watched = true;
	n->extra->iterations = iterations_new();
}

/* Those that are open around a call of MPI. */
static void add_mpi(struct replay *r, const struct frame *mpi, uint64_t ticks)
{
	for (struct frame *f = r->base + 1; f < mpi && f <= r->base + ITERATION_DEPTH; f++)
		if (f->node && f->node->extra && f->node->extra->iterations)
			iterations_add_mpi(f->node->extra->iterations, ticks);
}

/* A call around it is one of a loop, by those before. */
static bool is_in_loop(const struct replay *r, const struct frame *f)
{
	for (const struct frame *g = r->base + 1; g < f; g++)
		if (g->node && g->node->extra && g->node->extra->iterations &&
			iterations_cover(g->node->extra->iterations, g->since))
			return true;
	return false;
}

static void note_slow(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	struct iterations *all = n->extra->iterations;
	struct replay_slow slow = {.ticks = elapsed(f->since, t)};
	unsigned shift;

	if (!iterations_is_slow(all, slow.ticks, r->slow_least, &slow.usual) ||
		!(r->slow_anywhere || (iterations_cover(all, t) && !is_in_loop(r, f))))
		return;
	slow.number = iterations_count(all, &shift) - 1;
	r->tell_slow(r->slow_ctx, n, &slow);
}

void replay_iteration_left(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	struct node_extra *e = n->extra;

	if (!e->watched)
		return;
	if (key_mpi(n->key) != KEY_NO_MPI) {
		add_mpi(r, f, elapsed(f->since, t));
		return;
	}
	if (iterations_add(e->iterations, f->since, t, r->iteration_least)) {
		if (r->tell_slow)
			note_slow(r, f, n, t);
		return;
	}
	iterations_free(e->iterations);
	e->iterations = NULL;
	e->watched = false;
}
