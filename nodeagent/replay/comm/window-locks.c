/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for a lock of a window that another process of this node has. MPI_Win_lock may get the
 * lock or only ask for it, and no call says when a process has it. What is known: of two epochs of
 * different processes with the same window and target, at least one of them exclusive, one is over
 * before the other one has the lock. That one has it when an MPI_Win_flush of it has ended, or at
 * last when MPI_Win_unlock has; so the one that has it later comes second. Calls of the second one,
 * until it has the lock, that began before the first one began to give it back, and ended after
 * that, stood for so long while that one worked in its epoch; of several ones for the last. A
 * long MPI_Win_lock is one that gets the lock, and so is second.
 *
 * A target that does not enter MPI may have kept both waiting: then this is too much, by no more
 * than the calls of both have in common.
 */
#include <stdlib.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"

/* Smaller in tests. */
#ifndef WINDOW_LOCKS_OPEN
#define WINDOW_LOCKS_OPEN  65536u /* epochs of all processes that are not over, 160 B each */
#define WINDOW_LOCKS_KEPT  256u	  /* the last that are over, of one in 64 windows */
#define WINDOW_LOCKS_LEAST 1024u  /* ticks: shorter calls have not waited */
#endif

#define CALLS	4u  /* of an epoch that are looked at, the longest */
#define BUCKETS 64u /* of windows */

struct lock_call {
	uint64_t enter, leave;
	uint32_t path;
	bool asks; /* MPI_Win_lock, MPI_Win_lock_all */
};

/* An epoch of one process, which is over or not. */
struct lock_epoch {
	struct traffic *traffic;	  /* NULL: forgotten */
	struct thread_activity *activity; /* held; of the thread that gave the lock back */
	uint64_t window, began;
	uint32_t target; /* rank in the window, or MESSAGE_NO_RANK: all */
	uint32_t number;
	bool exclusive, has; /* has: a flush has ended, so it has the lock */
	uint64_t had_at;     /* it had it then: the end of that, or of the last call */
	uint32_t n;
	struct lock_call calls[CALLS], last; /* last: that gave it back */
};

struct window_locks {
	struct longest *longest;
	struct causes *causes;
	struct match_pool epochs;
	struct match_table open; /* by process, and window and number */
	struct kept {
		struct lock_epoch *at; /* WINDOW_LOCKS_KEPT, or NULL */
		uint64_t n;	       /* ever */
	} kept[BUCKETS];
};

struct window_locks *window_locks_new(struct longest *l, struct causes *c)
{
	struct window_locks *w = xcalloc(1, sizeof(*w));

	w->longest = l;
	w->causes = c;
	w->epochs.bytes = sizeof(struct lock_epoch);
	return w;
}

void window_locks_free(struct window_locks *w)
{
	if (!w)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		free(w->kept[i].at);
	match_pool_free(&w->epochs);
	match_table_free(&w->open);
	free(w);
}

/* ---- who has waited for whom ------------------------------------------------------------------
 */

static bool in_conflict(const struct lock_epoch *a, const struct lock_epoch *b)
{
	return a->window == b->window && a->traffic && b->traffic && a->traffic != b->traffic &&
	       (a->exclusive || b->exclusive) &&
	       (a->target == b->target || a->target == MESSAGE_NO_RANK ||
		       b->target == MESSAGE_NO_RANK);
}

static void count_lock(struct window_locks *w, const struct lock_epoch *a,
	const struct lock_call *call, const struct lock_epoch *on)
{
	const uint64_t waited = ticks_between(call->enter, on->last.enter);
	const struct longest_wait wait = {.enter = call->enter,
		.path = call->path,
		.late = on->traffic->job == a->traffic->job ? (uint32_t)on->traffic->rank
							    : UINT32_MAX,
		.kind = WAIT_RMA_LOCK,
		.ticks = waited};
	struct longest_wait *kept = waited ? longest_add(w->longest, a->traffic, &wait) : NULL;

	if (kept && a->traffic->conf->mpi_waits)
		causes_add(w->causes, a->traffic, call->path, wait.kind, on->activity, call->enter,
			call->enter + waited, &kept->causes);
}

/* What calls of epoch a have waited for the end of another one. */
static void compare_epochs(
	struct window_locks *w, const struct lock_epoch *a, const struct lock_epoch *on)
{
	const bool is_first = ticks_between(on->had_at, a->had_at);

	for (uint32_t i = 0; i < a->n; i++) {
		const struct lock_call *call = &a->calls[i];

		if (ticks_between(on->last.enter, call->leave) && (call->asks || is_first))
			count_lock(w, a, call, on);
	}
}

/* ---- epochs -----------------------------------------------------------------------------------
 */

static uint64_t key_of(uint64_t window, uint32_t number)
{
	return window ^ number * 0x9e3779b97f4a7c15u;
}

static void forget_open(struct window_locks *w, struct lock_epoch *e)
{
	match_table_remove(&w->open, (uintptr_t)e->traffic, key_of(e->window, e->number));
	match_pool_give(&w->epochs, e);
}

static struct lock_epoch *find_open(
	const struct window_locks *w, const struct traffic *t, const struct pending *p)
{
	struct lock_epoch *e =
		match_table_find(&w->open, (uintptr_t)t, key_of(p->m.bytes, p->m.ticket));

	return e && e->window == p->m.bytes && e->number == p->m.ticket ? e : NULL;
}

static struct lock_epoch *begin_epoch(
	struct window_locks *w, struct traffic *t, const struct pending *p)
{
	const uint64_t key = key_of(p->m.bytes, p->m.ticket);
	struct lock_epoch *e = match_table_find(&w->open, (uintptr_t)t, key);

	if (e)
		forget_open(w, e); /* its end was not recorded */
	if (w->epochs.used >= WINDOW_LOCKS_OPEN)
		return NULL;
	e = match_pool_take(&w->epochs);
	e->traffic = t;
	e->window = p->m.bytes;
	e->number = p->m.ticket;
	e->target = p->m.peer;
	e->exclusive = p->m.flags & MESSAGE_EXCLUSIVE;
	e->began = p->since;
	match_table_add(&w->open, (uintptr_t)t, key, e);
	return e;
}

static void add_call(struct lock_epoch *e, const struct lock_call *call)
{
	uint32_t shortest = 0;

	if (e->has || ticks_between(call->enter, call->leave) < WINDOW_LOCKS_LEAST)
		return;
	if (e->n < CALLS) {
		e->calls[e->n++] = *call;
		return;
	}
	for (uint32_t i = 1; i < CALLS; i++)
		if (e->calls[i].leave - e->calls[i].enter <
			e->calls[shortest].leave - e->calls[shortest].enter)
			shortest = i;
	if (call->leave - call->enter > e->calls[shortest].leave - e->calls[shortest].enter)
		e->calls[shortest] = *call;
}

/* Compares it with those that are over, and keeps it in the place of the oldest. */
static void end_epoch(struct window_locks *w, struct lock_epoch *e)
{
	struct kept *kept = &w->kept[(e->window ^ e->window >> 32) % BUCKETS];
	const uint64_t n = kept->n < WINDOW_LOCKS_KEPT ? kept->n : WINDOW_LOCKS_KEPT;
	struct lock_epoch *place;

	for (uint64_t i = 0; i < n; i++) {
		const struct lock_epoch *other = &kept->at[i];

		if (!in_conflict(e, other) || !ticks_between(e->began, other->last.leave) ||
			!ticks_between(other->began, e->last.leave))
			continue;
		compare_epochs(w, e, other);
		compare_epochs(w, other, e);
	}
	if (!kept->at)
		kept->at = xcalloc(WINDOW_LOCKS_KEPT, sizeof(*kept->at));
	place = &kept->at[kept->n++ % WINDOW_LOCKS_KEPT];
	if (place->traffic)
		thread_activity_let_go(place->activity);
	*place = *e;
}

enum part { ASKS, GOES_ON, HAS, ENDS, PARTS };

static enum part part_of(uint32_t function)
{
	switch (function) {
	case VFTR_MPI_WIN_LOCK:
	case VFTR_MPI_WIN_LOCK_ALL:
		return ASKS;
	case VFTR_MPI_WIN_FLUSH_LOCAL:
	case VFTR_MPI_WIN_FLUSH_LOCAL_ALL:
		return GOES_ON;
	case VFTR_MPI_WIN_FLUSH:
	case VFTR_MPI_WIN_FLUSH_ALL:
		return HAS;
	case VFTR_MPI_WIN_UNLOCK:
	case VFTR_MPI_WIN_UNLOCK_ALL:
		return ENDS;
	default:
		return PARTS;
	}
}

void window_locks_call(
	struct window_locks *w, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	struct lock_call call;
	const enum part part = part_of(p->m.field & ~LARGE_COUNT);
	struct lock_epoch *e;

	if (part == PARTS)
		return;
	e = part == ASKS ? begin_epoch(w, l->traffic, p) : find_open(w, l->traffic, p);
	if (!e)
		return;
	call = (struct lock_call){p->since, until, path_number(l, p->node), part == ASKS};
	add_call(e, &call);
	if (!e->has)
		e->had_at = until;
	e->has |= part == HAS;
	if (part != ENDS)
		return;
	e->last = call;
	e->activity = thread_activity_hold(l->activity);
	end_epoch(w, e);
	forget_open(w, e);
}

void window_locks_forget(struct window_locks *w, const struct traffic *t)
{
	for (unsigned i = 0; i < BUCKETS; i++)
		for (uint64_t k = 0; w->kept[i].at && k < WINDOW_LOCKS_KEPT; k++) {
			struct lock_epoch *e = &w->kept[i].at[k];

			if (e->traffic != t)
				continue;
			thread_activity_let_go(e->activity);
			*e = (struct lock_epoch){.traffic = NULL};
		}
	for (size_t i = 0; w->open.slots && i <= w->open.mask; i++) {
		struct lock_epoch *e = w->open.slots[i].value;

		while (e && e->traffic == t) { /* another one takes its slot */
			forget_open(w, e);
			e = w->open.slots[i].value;
		}
	}
}
