/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank whose first thread waits for others of its team of OpenMP does, meanwhile, what the one
 * does that comes last. Who that is, is known when the wait is over: until then changes of all
 * threads of the process are kept. If it waits for a lock, the rank does what the thread does that
 * has it, or that has what this one waits for, and so on.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/causal/read.h"
#include "shm/construct.h"

#define CHAIN_MOST   16u	       /* threads that wait for each other */
#define CHANGES_MOST ((size_t)1 << 20) /* then the wait is looked at in parts */

struct team_frame {
	uint32_t path;
	bool waits, in_team;
};

struct team_thread {
	uint32_t track;
	uint32_t holder;	   /* the track of who has what it waits for, + 1; 0: nobody */
	struct team_frame *frames; /* open ones */
	size_t n_frames, cap_frames;
};

struct change {
	int64_t t;
	uint32_t thread, path;
	bool works;
};

struct reader_team {
	struct team_thread *threads; /* of the process, but the first one */
	size_t n_threads, cap_threads;
	struct map32 thread_of; /* track + 1 -> index */
	struct change *changes; /* since the first one waits */
	size_t n_changes, cap_changes;
	enum team_wait waits; /* the first one */
	uint32_t wait_path;
	uint32_t told; /* TEAM_LOCK: the path that was told, CAUSAL_NONE: none yet */
};

void reader_team_free(struct reader_team *m)
{
	for (size_t i = 0; m && i < m->n_threads; i++)
		free(m->threads[i].frames);
	if (!m)
		return;
	free(m->threads);
	free(m->changes);
	map32_free(&m->thread_of);
	free(m);
}

/* ---- other threads --------------------------------------------------------------------------- */

enum team_wait reader_team_wait_of(const struct vfd_function *f)
{
	if (f && f->kind == VFD_FUNCTION_REGION && f->index == VFD_REGION_LOCK_WAIT)
		return TEAM_LOCK;
	if (!f || f->kind != VFD_FUNCTION_OPENMP)
		return NO_TEAM_WAIT;
	switch (f->index) {
	case CONSTRUCT_BARRIER:
	case CONSTRUCT_BARRIER_IMPLICIT:
		return TEAM_BARRIER;
	case CONSTRUCT_JOIN:
	case CONSTRUCT_IDLE:
		return TEAM_JOIN;
	case CONSTRUCT_CRITICAL_WAIT:
	case CONSTRUCT_ORDERED_WAIT:
	case CONSTRUCT_LOCK_WAIT:
		return TEAM_LOCK;
	default:
		return NO_TEAM_WAIT;
	}
}

static bool makes_team(const struct vfd_function *f)
{
	return f && f->kind == VFD_FUNCTION_OPENMP &&
	       (f->index == CONSTRUCT_PARALLEL || f->index == CONSTRUCT_TEAMS);
}

/* Below a region, which another thread may have entered. */
static bool is_in_team(const struct reader *r, uint32_t file, uint32_t track, uint32_t stack)
{
	size_t n;
	const struct vfd_stack *stacks = vfd_stacks(r->files[file], track, &n);

	for (size_t left = n; left-- && stack && stack < n; stack = stacks[stack].caller)
		if (makes_team(reader_function(r, file, track, stack)))
			return true;
	return false;
}

static struct team_thread *thread_of(struct reader_team *m, uint32_t track)
{
	const uint32_t *known = map32_find(&m->thread_of, track + 1);

	if (known)
		return &m->threads[*known];
	map32_add(&m->thread_of, track + 1, (uint32_t)m->n_threads);
	*LIST_ADD(m, threads) = (struct team_thread){.track = track};
	return &m->threads[m->n_threads - 1];
}

static void note_change(struct reader_team *m, uint32_t thread, int64_t t)
{
	const struct team_thread *x = &m->threads[thread];
	const struct team_frame *top = x->n_frames ? &x->frames[x->n_frames - 1] : NULL;

	*LIST_ADD(m, changes) =
		(struct change){t, thread, top ? top->path : 0, top && top->in_team && !top->waits};
}

static struct reader_team *team_of(struct reader_line *l)
{
	return l->team ? l->team : (l->team = xcalloc(1, sizeof(*l->team)));
}

static void tell_holder(struct reader *r, uint32_t line, int64_t t);

void reader_team_call(struct reader *r, uint32_t line, const struct vfd_event *e)
{
	struct reader_line *l = &r->lines[line];
	struct reader_team *m = team_of(l);
	struct team_thread *x = thread_of(m, e->track);

	if (e->kind == VFD_ENTER) {
		const struct vfd_function *f = reader_function(r, e->file, e->track, e->stack);
		const bool in_team = x->n_frames
					     ? x->frames[x->n_frames - 1].in_team || makes_team(f)
					     : is_in_team(r, e->file, e->track, e->stack);

		const enum team_wait waits = reader_team_wait_of(f);

		*LIST_ADD(x, frames) =
			(struct team_frame){reader_path(r, e->file, e->track, e->stack),
				waits == TEAM_BARRIER || waits == TEAM_JOIN, in_team};
	} else if (e->kind == VFD_EXIT && x->n_frames) {
		x->n_frames--;
	}
	if (m->waits == TEAM_LOCK)
		tell_holder(r, line, e->time);
	if (!m->waits || m->waits == TEAM_LOCK)
		return;
	note_change(m, (uint32_t)(x - m->threads), e->time);
	if (m->n_changes >= CHANGES_MOST)
		reader_team_again(r, line, e->time);
}

/* ---- the first thread ---------------------------------------------------------------------- */

void reader_team_wait(struct reader *r, uint32_t line, int64_t t, enum team_wait how, uint32_t path)
{
	struct reader_team *m = r->lines[line].team;

	if (how == TEAM_LOCK) {
		m = team_of(&r->lines[line]);
		m->waits = how;
		m->wait_path = path;
		m->told = CAUSAL_NONE;
		tell_holder(r, line, t);
		return;
	}
	if (!m)
		return;
	m->waits = how;
	m->wait_path = path;
	m->n_changes = 0;
	for (size_t i = 0; i < m->n_threads; i++)
		if (m->threads[i].track != r->lines[line].track)
			note_change(m, (uint32_t)i, t);
}

/* The thread that ends its work last, before `to`; CAUSAL_NONE: none works. One that has left a
 * barrier and works again has been there; one that begins before a join is late. */
static uint32_t slowest_of(const struct reader_team *m, int64_t to)
{
	enum { NOT_YET, WORKS, HAS } *state = xcalloc(m->n_threads + 1, sizeof(*state));
	int64_t last = INT64_MIN;
	uint32_t slowest = CAUSAL_NONE;

	EACH(const struct change, c, m->changes, m->n_changes) {
		const bool begins = c->t == m->changes[0].t || m->waits == TEAM_JOIN;

		if (c->works && state[c->thread] == NOT_YET && begins)
			state[c->thread] = WORKS;
		if (c->works || state[c->thread] != WORKS)
			continue;
		state[c->thread] = HAS;
		if (c->t > last)
			slowest = c->thread;
		last = c->t > last ? c->t : last;
	}
	for (uint32_t i = 0; i < m->n_threads && last < to; i++)
		if (state[i] == WORKS) {
			last = to;
			slowest = i;
		}
	free(state);
	return slowest;
}

/* The first region above a path that has this name; 0: there is none. */
static uint32_t region_above(const struct paths *p, uint32_t path, const char *name)
{
	while (path && strcmp(paths_function(p, path), name))
		path = paths_caller(p, path);
	return path;
}

static uint32_t add_below(struct paths *p, uint32_t path, uint32_t region, uint32_t to)
{
	if (path == region)
		return to;
	return paths_add(
		p, add_below(p, paths_caller(p, path), region, to), paths_function(p, path));
}

/* A thread that has begun before its region was known has a path without that region's callers:
 * it is below the region in which the first thread waits. */
static uint32_t path_in_team(struct reader *r, uint32_t path, uint32_t wait_path)
{
	struct paths *p = r->run->paths;
	uint32_t region = wait_path, above;

	while (region && strncmp(paths_function(p, region), "omp_parallel", 12))
		region = paths_caller(p, region);
	above = region ? region_above(p, path, paths_function(p, region)) : 0;
	return above && above != region && !paths_caller(p, above)
		       ? add_below(p, path, above, region)
		       : path;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static const struct team_thread *known_thread(const struct reader_team *m, uint32_t track)
{
	const uint32_t *known = map32_find(&m->thread_of, track + 1);

	return known ? &m->threads[*known] : NULL;
}

uint32_t reader_team_path(struct reader *r, uint32_t line, uint32_t track)
{
	const struct reader_line *l = &r->lines[line];
	const uint32_t first = l->n_frames ? l->frames[l->n_frames - 1].called : 0;
	const struct team_thread *x = l->team ? known_thread(l->team, track) : NULL;

	if (track == l->track)
		return first;
	return x && x->n_frames ? path_in_team(r, x->frames[x->n_frames - 1].path, first) : 0;
}

/* Threads that wait for each other in a circle: the rank stays in its own wait. */
static void tell_holder(struct reader *r, uint32_t line, int64_t t)
{
	const struct reader_line *l = &r->lines[line];
	struct reader_team *m = l->team;
	const struct team_thread *x = known_thread(m, l->track);
	uint32_t track = l->track, left = CHAIN_MOST, path;

	while (x && x->holder && left--) {
		track = x->holder - 1;
		x = known_thread(m, track);
	}
	path = track == l->track || (x && x->holder) ? 0 : reader_team_path(r, line, track);
	path = path ? path : m->wait_path;
	if (path == m->told)
		return;
	m->told = path;
	causal_path(r->run->c, line, t, path, l->frames[l->n_frames - 1].work);
}

void reader_team_held(struct reader *r, uint32_t line, uint32_t track, uint32_t holder, int64_t t)
{
	struct reader_team *m = team_of(&r->lines[line]);

	thread_of(m, track)->holder = holder + 1;
	if (m->waits == TEAM_LOCK)
		tell_holder(r, line, t);
}

/* ---- teams ----------------------------------------------------------------------------------- */

void reader_team_over(struct reader *r, uint32_t line, int64_t t)
{
	struct reader_team *m = r->lines[line].team;
	uint32_t slowest, now;

	if (!m || !m->waits)
		return;
	if (m->waits == TEAM_LOCK) {
		m->waits = NO_TEAM_WAIT;
		return;
	}
	now = m->wait_path;
	slowest = slowest_of(m, t);
	EACH(const struct change, c, m->changes, m->n_changes) {
		uint32_t path = m->wait_path;

		if (c->thread != slowest)
			continue;
		if (c->works)
			path = path_in_team(r, c->path, m->wait_path);
		if (path == now)
			continue;
		causal_path(r->run->c, line, c->t, path, CAUSAL_USEFUL);
		now = path;
		if (!c->works) /* it has come */
			break;
	}
	m->waits = NO_TEAM_WAIT;
	m->n_changes = 0;
}

void reader_team_again(struct reader *r, uint32_t line, int64_t t)
{
	struct reader_team *m = r->lines[line].team;
	const enum team_wait how = m ? m->waits : NO_TEAM_WAIT;

	if (!how)
		return;
	reader_team_over(r, line, t);
	reader_team_wait(r, line, t, how, m->wait_path);
}
