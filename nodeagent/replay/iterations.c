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

void replay_iteration_left(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	struct node_extra *e = n->extra;

	if (!e->watched)
		return;
	if (key_mpi(n->key) != KEY_NO_MPI) {
		add_mpi(r, f, elapsed(f->since, t));
		return;
	}
	if (iterations_add(e->iterations, f->since, t, r->iteration_least))
		return;
	iterations_free(e->iterations);
	e->iterations = NULL;
	e->watched = false;
}
