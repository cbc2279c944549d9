/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a process's window begins and ends, and the classes of its threads' time. MPI_Init and
 * MPI_Finalize are called once: the call tree tells of their paths, which are new then. From
 * there on SLOW_WINDOW is set until the next word, or as long as MPI_Init is open; so no other
 * word is looked at.
 */
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/window.h"

#include "mpi_id.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"
#include "nodeagent/replay/shadow.h"

/* ---- classes ------------------------------------------------------------------------------ */

static enum time_class class_of(const struct replay *r, uint64_t key)
{
	if (key_is_region(key))
		return r->class_of_region ? r->class_of_region(r->ctx, key) : TIME_USEFUL;
	if (key_mpi(key) != KEY_NO_MPI)
		return TIME_MPI;
	if ((key & KEY_WIDE) || !(key & KEY_INIT))
		return TIME_USEFUL;
	if (key_is_orphan(key))
		return TIME_USEFUL;
	if ((key & KEY_SYNC) == KEY_SYNC)
		return TIME_MPI;
	switch (key) {
	case KEY_INIT:
		return TIME_OUTSIDE;
	case KEY_JOIN:
		return TIME_OPENMP_WAIT;
	case KEY_IDLE:
		return TIME_OPENMP_IDLE;
	case KEY_PAUSE:
	case KEY_OVERFLOW:
		return TIME_UNKNOWN;
	default:
		return TIME_USEFUL;
	}
}

/* d ticks of `in` are none of what it lies in. */
static void move_time(struct time_sums *s, enum time_class in, enum time_class from, uint64_t d)
{
	s->of[in] += (int64_t)d;
	s->of[from] -= (int64_t)d;
}

static const struct node *caller_of(const struct node *n)
{
	const struct node *in = n->parent;

	return in && in->key == KEY_DEEP ? in->parent : in;
}

/* True for what is its caller's time: calls for files by MPI, waits for locks by MPI and OpenMP. */
static bool is_of_caller(
	const struct replay *r, const struct node *n, enum time_class c, enum time_class caller)
{
	if (c == TIME_LOCK_WAIT)
		return caller == TIME_MPI || caller == TIME_OPENMP_WAIT ||
		       caller == TIME_OPENMP_IDLE;
	return caller == TIME_MPI && files_are_in(r->files, n->key);
}

static enum time_class class_at(const struct replay *r, const struct node *n)
{
	const enum time_class c = class_of(r, n->key);
	const struct node *in = caller_of(n);
	enum time_class caller;

	if (!in || (c != TIME_LOCK_WAIT && !r->files))
		return c;
	caller = class_of(r, in->key);
	return is_of_caller(r, n, c, caller) ? caller : c;
}

/* Below KEY_DEEP times are exclusive, and its own is that of its children (calltree.h). */
static void add_node(const struct replay *r, struct time_sums *s, const struct node *n)
{
	const struct node *in = caller_of(n);
	enum time_class c;
	uint64_t io = 0;

	if (n->key == KEY_DEEP)
		return;
	c = class_at(r, n);
	if (in)
		move_time(s, c, class_at(r, in), n->ticks);
	else
		s->of[c] += (int64_t)n->ticks;
	for (int i = 0; n->extra && i < RECORD_IO_KINDS; i++)
		io += n->extra->io[i].ticks;
	if (c == TIME_USEFUL || c == TIME_OUTSIDE)
		move_time(s, TIME_IO, c, io);
}

struct open_time {
	const struct replay *r;
	struct time_sums *s;
};

/* A frame that was placed elsewhere suspends the one below it. */
static void add_open(void *ctx, const struct node *n, const struct node *below, uint64_t ticks)
{
	const struct open_time *o = ctx;
	const enum time_class c = class_at(o->r, n);

	if (below)
		move_time(o->s, c, class_at(o->r, below), ticks);
	else
		o->s->of[c] += (int64_t)ticks;
}

struct time_sums replay_time_sums(struct replay *r, uint64_t t)
{
	struct time_sums s = {{0}};
	struct open_time open = {r, &s};

	sequences_settle(r->sequences);
	for (size_t i = 0; i < calltree_nodes(r->tree); i++)
		add_node(r, &s, calltree_at(r->tree, i));
	replay_open_frames(r, t, add_open, &open);
	move_time(&s, TIME_USEFUL, TIME_LOCK_WAIT, r->team_times.join_locks);
	if (!r->idle_frames)
		move_time(&s, TIME_OPENMP_WAIT, TIME_USEFUL, r->team_times.join);
	s.of[TIME_BLOCKED] += (int64_t)r->blocked;
	return s;
}

/* ---- where the window begins and ends ------------------------------------------------------ */

static bool is_init(uint64_t key)
{
	return key_mpi(key) == VFTR_MPI_INIT || key_mpi(key) == VFTR_MPI_INIT_THREAD;
}

void replay_window_path(struct replay *r, struct node *n)
{
	if (!is_init(n->key) && key_mpi(n->key) != VFTR_MPI_FINALIZE)
		return;
	r->entered = n;
	r->slow |= SLOW_WINDOW;
}

void replay_set_window(struct replay *r, struct time_window *w, time_class_of_region *of)
{
	r->window = w;
	r->class_of_region = of;
}

static void begin_window(struct replay *r)
{
	struct time_window *w = r->window;

	r->init_frame = 0;
	/* others may wait for it at its first call already */
	if (!r->activity && r->track && traffic_asks_activity(r->track))
		replay_keep_activity(r);
	if (w->begun || w->ended)
		return;
	w->begun = true;
	w->thread = r->thread;
	w->begin = r->now;
	w->before = replay_time_sums(r, w->begin);
}

static void end_window(struct replay *r)
{
	struct time_window *w = r->window;

	if (w->ended || (w->begun && w->thread != r->thread))
		return;
	w->ended = true;
	w->thread = r->thread;
	w->end = r->top->since;
	w->until = replay_time_sums(r, w->end);
}

void replay_window_step(struct replay *r)
{
	const struct node *n = r->entered;
	const size_t top = (size_t)(r->top - r->base);

	r->entered = NULL;
	if (n && n == r->top->node) {
		if (!is_init(n->key))
			end_window(r);
		else if (!r->init_frame)
			r->init_frame = top;
	}
	if (r->init_frame && top >= r->init_frame)
		return;
	r->slow &= ~SLOW_WINDOW;
	if (r->init_frame)
		begin_window(r);
}

/* ---- the thread's end ---------------------------------------------------------------------- */

static struct time_sums minus_before(const struct time_sums *a, const struct time_sums *b)
{
	struct time_sums d;

	for (int i = 0; i < TIME_CLASSES; i++)
		d.of[i] = a->of[i] - b->of[i];
	return d;
}

static void close_first(struct replay *r, const struct time_sums *all)
{
	struct time_window *w = r->window;

	if (!w->begun)
		w->begin = r->start;
	if (!w->ended) {
		w->end = r->now;
		w->until = *all;
	}
	w->first = w->begun ? minus_before(&w->until, &w->before) : w->until;
	w->whole = true;
}

/* Takes `ticks` off a class, no more than it has. Returns the rest. */
static uint64_t take_off(struct time_sums *s, enum time_class c, uint64_t ticks)
{
	const uint64_t has = s->of[c] > 0 ? (uint64_t)s->of[c] : 0;
	const uint64_t taken = ticks < has ? ticks : has;

	s->of[c] -= (int64_t)taken;
	return ticks - taken;
}

/*
 * It is not known what another thread did when the first one left MPI_Init and entered
 * MPI_Finalize: a worker was idle then, any other thread did what it mostly does.
 */
static void cut_to_window(struct replay *r, struct time_sums *s, uint64_t *there)
{
	const struct time_window *w = r->window;
	uint64_t beyond = w->begun ? elapsed(r->start, w->begin) : 0;

	beyond += w->ended ? elapsed(w->end, r->now) : 0;
	beyond = beyond < *there ? beyond : *there;
	*there -= beyond;
	beyond = take_off(s, TIME_OPENMP_IDLE, beyond);
	beyond = take_off(s, TIME_OUTSIDE, beyond);
	if (!beyond)
		return;
	r->window->cut = true;
	beyond = take_off(s, TIME_USEFUL, beyond);
	for (int i = 0; i < TIME_CLASSES; i++)
		beyond = take_off(s, i, beyond);
}

static void close_other(struct replay *r, struct time_sums *s)
{
	struct time_window *w = r->window;
	const bool is_worker = r->team_times.parts;
	uint64_t there = elapsed(r->start, r->now);

	if (is_worker) { /* it is there for teams only */
		move_time(s, TIME_OUTSIDE, TIME_LOCK_WAIT, r->team_times.idle_locks);
		s->of[TIME_OPENMP_IDLE] += s->of[TIME_OUTSIDE];
		s->of[TIME_OUTSIDE] = 0;
	}
	cut_to_window(r, s, &there);
	for (int i = 0; i < TIME_CLASSES; i++)
		w->others.of[i] += s->of[i];
	w->threads++;
	if (!is_worker)
		return;
	w->workers++;
	at_once_add(&w->at_once, r->team_times.from, r->team_times.to);
	w->worker_useful += s->of[TIME_USEFUL];
	if (s->of[TIME_USEFUL] > w->worker_most)
		w->worker_most = s->of[TIME_USEFUL];
}

void replay_window_close(struct replay *r)
{
	struct time_window *w = r->window;
	struct time_sums all;

	if (!w)
		return;
	all = replay_time_sums(r, r->now);
	w->openmp |= r->team_times.ticks > 0 || r->team_times.parts > 0;
	if (r->thread == w->thread)
		close_first(r, &all);
	else
		close_other(r, &all);
}
