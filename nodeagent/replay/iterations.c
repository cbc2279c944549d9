/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which call paths may be the main loop of a program, and when their calls end. Paths are watched
 * that begin at most ITERATION_DEPTH frames below the root, the first ITERATION_PATHS of each
 * depth; and calls of MPI, whose time belongs to those that are open around them, and between which
 * an iteration may be (tree/period.h). Both have a node_extra, by which the fast way of
 * replay_block() knows them.
 */
#include "mpi_id.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"
#include "nodeagent/replay/tree/anchor.h"
#include "nodeagent/replay/tree/iterations.h"
#include "nodeagent/replay/tree/off-cpu.h"
#include "nodeagent/replay/tree/period.h"
#include "nodeagent/replay/tree/slices.h"
#include "nodeagent/trace/collective.h"

void replay_watch_iterations(struct replay *r, uint64_t least_ticks)
{
	r->iterates = true;
	r->iteration_least = least_ticks;
}

void replay_note_off_cpu(struct replay *r, uint64_t ticks, struct off_time off)
{
	if (!r->iterates)
		return;
	if (!r->off)
		r->off = off_cpu_new();
	off_cpu_note(r->off, ticks, off);
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
	if (key_is_site(key))
		return false;
	return key_is_region(key) || (key & KEY_WIDE) ||
	       (!(key & KEY_INIT) && (uint32_t)key >= RECORD_ID_FUNCTION);
}

/* What its caller calls: a function of MPI, or the place of the call. */
static struct node *called(struct node *n)
{
	return key_is_site(n->parent->key) ? n->parent : n;
}

/* The function of MPI that is called, or called there; KEY_NO_MPI: none. */
static uint32_t mpi_of(const struct node *n)
{
	return key_mpi(key_is_site(n->key) ? n->child->key : n->key);
}

static void watch_mpi(struct replay *r, struct node *n)
{
	struct node *parent = n->parent;

	calltree_extra(n)->watched |= WATCH_ITERATIONS;
	if (!r->is_shadow && !calltree_extra(r->base->node)->slices)
		r->base->node->extra->slices = slices_new(r->start);
	if (depth_of(n) > PERIOD_DEPTH || (parent->parent && !may_iterate(parent->key)))
		return;
	if (calltree_extra(parent)->period || r->n_periods >= PERIODS_MOST)
		return;
	r->n_periods++;
	parent->extra->period = period_new(!r->is_shadow);
}

void replay_iteration_path(struct replay *r, struct node *n)
{
	unsigned depth;

	if (key_mpi(n->key) != KEY_NO_MPI) {
		watch_mpi(r, called(n));
		return;
	}
	depth = may_iterate(n->key) ? depth_of(n) : 0;
	if (!depth || depth > ITERATION_DEPTH || r->n_iterated[depth] >= ITERATION_PATHS)
		return;
	r->n_iterated[depth]++;
	calltree_extra(n)->watched |= WATCH_ITERATIONS;
	n->extra->iterations = iterations_new();
}

/* Those that are open around a call of MPI. */
static void add_mpi(struct replay *r, const struct frame *mpi, uint64_t ticks, struct off_time off)
{
	const struct off_time none = {0, 0};

	for (struct frame *f = r->base; f < mpi && f <= r->base + ITERATION_DEPTH; f++) {
		const struct node_extra *e = f->node ? f->node->extra : NULL;

		if (e && e->iterations) {
			iterations_add_mpi(e->iterations, ticks);
			if (off.ns)
				iterations_add_off(e->iterations, off_time_less(none, off));
		}
		if (e && e->period)
			period_add_mpi(e->period, ticks, off);
		if (e && e->slices)
			slices_add(e->slices, SLICE_MPI, mpi->since, ticks, 1);
	}
}

static struct off_time off_between(const struct replay *r, uint64_t from, uint64_t to)
{
	if (!r->off || elapsed(from, to) < r->iteration_least)
		return (struct off_time){0, 0};
	return off_cpu_between(r->off, from, to);
}

static bool is_of_window(uint32_t function)
{
	return function == VFTR_MPI_INIT || function == VFTR_MPI_INIT_THREAD ||
	       function == VFTR_MPI_FINALIZE;
}

/* Timers read it several times in an iteration, and it says nothing to other ranks. */
static bool is_clock(uint32_t function)
{
	return function == VFTR_MPI_WTIME || function == VFTR_MPI_WTICK;
}

/* ---- slow ones ----------------------------------------------------------------------------- */

/* A call around it is one of a loop, by those before. */
static bool is_in_loop(const struct replay *r, const struct frame *f)
{
	for (const struct frame *g = r->base + 1; g < f; g++)
		if (g->node && g->node->extra && g->node->extra->iterations &&
			iterations_cover(g->node->extra->iterations, g->since))
			return true;
	return false;
}

/* What of this time the last pause of recording took: nobody knows what was slow in it. */
static uint64_t paused_within(const struct replay *r, uint64_t since, uint64_t t)
{
	const uint64_t until = r->slow & SLOW_PAUSED || r->went_on > t ? t : r->went_on;
	const uint64_t from = r->paused > since ? r->paused : since;

	return from < until ? until - from : 0;
}

/* What separates the iterations of a loop that n itself has, and has half of the time since then.
 */
static bool find_anchor(const struct replay *r, const struct node *n, uint64_t t, struct anchor *a)
{
	if (!n->extra || !n->extra->period)
		return false;
	sequences_settle(r->sequences);
	return anchor_of(n, 0, a) && iterations_cover(a->iterations, t);
}

/* Its caller has a loop, of which each iteration calls it several times. */
static bool is_part(const struct replay *r, const struct node *n, uint64_t calls, uint64_t t)
{
	struct anchor a;

	return find_anchor(r, n->parent, t, &a) && anchor_has_inside(&a, n, calls);
}

/* The function has a callee that each iteration of its loop calls once: that is the main loop. */
static bool has_function(const struct replay *r, const struct node *n, uint64_t t)
{
	const struct node *c = n->child;

	do {
		const struct iterations *all = c->extra ? c->extra->iterations : NULL;

		if (all && iterations_cover(all, t) &&
			!is_part(r, c, iterations_count(all, NULL), t))
			return true;
		c = c->sibling;
	} while (c != n->child);
	return false;
}

static void tell_slow(struct replay *r, const struct node *n, struct replay_slow *slow)
{
	slow->number--; /* calls there were */
	r->tell_slow(r->slow_ctx, key_is_site(n->key) ? n->child : n, slow);
}

static void note_slow(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	struct iterations *all = n->extra->iterations;
	struct replay_slow slow = {
		.number = iterations_count(all, NULL), .ticks = elapsed(f->since, t)};

	if (!iterations_is_slow(
		    all, slow.ticks - paused_within(r, f->since, t), r->slow_least, &slow.usual) ||
		!(r->slow_anywhere || (iterations_cover(all, t) && !is_in_loop(r, f) &&
					      !is_part(r, n, slow.number, t))))
		return;
	tell_slow(r, n, &slow);
}

/* An iteration of a loop without a function has ended with this call of MPI. */
static void note_slow_between(struct replay *r, const struct frame *f, const struct node *n,
	struct iterations *all, uint64_t took)
{
	const uint64_t t = f->since;
	struct replay_slow slow = {
		.number = iterations_count(all, NULL), .ticks = took, .between = true};
	struct anchor a;

	if (!iterations_is_slow(
		    all, took - paused_within(r, t - took, t), r->slow_least, &slow.usual) ||
		r->slow_anywhere || is_in_loop(r, f) || !find_anchor(r, n->parent, t, &a) ||
		a.node != n || has_function(r, n->parent, t))
		return;
	tell_slow(r, n, &slow);
}

/* ------------------------------------------------------------------------------------------- */

/* The function itself has made a call of MPI. */
static __attribute__((noinline)) void add_to_period(
	struct replay *r, struct period *p, const struct frame *f, const struct node *n, uint64_t t)
{
	struct path *path = period_path(p, n->key);
	const struct period_call call = {.node = n,
		.since = f->since,
		.until = f->since + elapsed(f->since, t),
		.off = r->off,
		.least = r->iteration_least,
		.unsettled = sequences_unsettled(r->sequences)};

	if (!path && !is_of_window(mpi_of(n)) && !is_clock(mpi_of(n)))
		path = period_add(
			p, &call, collective_shape(mpi_of(n))->kind != COLLECTIVE_UNKNOWN);
	if (path && period_is_kept(path)) {
		if (period_reads_tree(path, &call))
			sequences_settle(r->sequences);

		const uint64_t took = period_call(p, path, &call);

		if (r->tell_slow && period_is_kept(path))
			note_slow_between(r, f, n, period_iterations(path), took);
	}
	n->extra->no_period = !path || !period_is_kept(path);
}

static void leave_mpi(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	struct period *p = n->parent->extra ? n->parent->extra->period : NULL;

	add_mpi(r, f, elapsed(f->since, t), off_between(r, f->since, t));
	if (!p)
		return;
	if (!n->extra->no_period)
		add_to_period(r, p, f, n, t);
	if (period_has_first(p))
		period_left(p, n, t);
}

void replay_iteration_left(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	struct node_extra *e = n->extra;

	if (unlikely(e->watched != WATCH_ITERATIONS)) {
		if (e->watched & WATCH_PROBE)
			traffic_probed(r->track, n, f->since, t);
		if (!(e->watched & WATCH_ITERATIONS))
			return;
	}
	if (key_mpi(n->key) != KEY_NO_MPI || key_is_site(n->key)) {
		leave_mpi(r, f, n, t);
		return;
	}
	if (n->parent->extra && n->parent->extra->period &&
		period_has_first(n->parent->extra->period))
		period_left(n->parent->extra->period, n, t);
	if (r->off)
		iterations_add_off(e->iterations, off_between(r, f->since, t));
	if (elapsed(f->since, t) >= r->iteration_least &&
		iterations_compare(
			e->iterations, elapsed(f->since, t), sequences_unsettled(r->sequences)) &&
		iterations_cover(e->iterations, f->since)) {
		sequences_settle(r->sequences);
		iterations_add_callees(e->iterations, n);
	}
	if (iterations_add(e->iterations, f->since, t, r->iteration_least)) {
		if (r->tell_slow)
			note_slow(r, f, n, t);
		return;
	}
	iterations_free(e->iterations);
	e->iterations = NULL;
	e->watched &= ~WATCH_ITERATIONS;
}
