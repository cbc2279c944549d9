/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for a lock of a window that another process of this node has: window/lock-epoch.h.
 * Those of other nodes are compared when the job is over: far-locks.h.
 */
#include <stdlib.h>
#include "conf/conf.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/window/far-locks.h"
#include "nodeagent/replay/comm/history.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/window/lock-epoch.h"

/* Smaller in tests. */
#ifndef WINDOW_LOCKS_OPEN
#define WINDOW_LOCKS_OPEN  65536u /* epochs of all processes that are not over, 160 B each */
#define WINDOW_LOCKS_KEPT  256u	  /* the last that are over, of one in 64 windows */
#define WINDOW_LOCKS_LEAST 1024u  /* ticks: shorter calls have not waited */
#endif

#define BUCKETS 64u /* of windows */

/* An epoch of one process, which is over or not. */
struct own_epoch {
	struct lock_epoch is;		  /* target: rank in the window */
	struct traffic *traffic;	  /* NULL: forgotten */
	struct thread_activity *activity; /* held; of the thread that gave the lock back */
	uint32_t number;
};

struct window_locks {
	struct longest *longest;
	struct causes *causes;
	struct match_pool epochs;
	struct match_table open; /* by process, and window and number */
	struct kept {
		struct own_epoch *at; /* WINDOW_LOCKS_KEPT, or NULL */
		uint64_t n;	      /* ever */
	} kept[BUCKETS];
	struct far_locks *far; /* or NULL: there is one agent only */
};

struct window_locks *window_locks_new(struct longest *l, struct causes *c)
{
	struct window_locks *w = xcalloc(1, sizeof(*w));

	w->longest = l;
	w->causes = c;
	w->epochs.bytes = sizeof(struct own_epoch);
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
	far_locks_free(w->far);
	free(w);
}

void window_locks_begin_elsewhere(struct window_locks *w)
{
	if (!w->far)
		w->far = far_locks_new();
}

struct far_locks *window_locks_far(const struct window_locks *w)
{
	return w->far;
}

/* ---- who has waited for whom ------------------------------------------------------------------
 */

static const struct own_epoch *own_of(const struct lock_epoch *e)
{
	return (const struct own_epoch *)((const char *)e - offsetof(struct own_epoch, is));
}

static void count_lock(void *arg, const struct lock_epoch *of, const struct lock_call *call,
	const struct lock_epoch *other)
{
	struct window_locks *w = arg;
	const struct own_epoch *a = own_of(of), *on = own_of(other);
	const uint64_t waited = ticks_between(call->enter, other->last.enter);
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

/* ---- epochs -----------------------------------------------------------------------------------
 */

static uint64_t key_of(uint64_t window, uint32_t number)
{
	return window ^ number * 0x9e3779b97f4a7c15u;
}

static void forget_open(struct window_locks *w, struct own_epoch *e)
{
	match_table_remove(&w->open, (uintptr_t)e->traffic, key_of(e->is.window, e->number));
	match_pool_give(&w->epochs, e);
}

static struct own_epoch *find_open(
	const struct window_locks *w, const struct traffic *t, const struct pending *p)
{
	struct own_epoch *e =
		match_table_find(&w->open, (uintptr_t)t, key_of(p->m.bytes, p->m.ticket));

	return e && e->is.window == p->m.bytes && e->number == p->m.ticket ? e : NULL;
}

static struct own_epoch *begin_epoch(
	struct window_locks *w, struct traffic *t, const struct pending *p)
{
	const uint64_t key = key_of(p->m.bytes, p->m.ticket);
	struct own_epoch *e = match_table_find(&w->open, (uintptr_t)t, key);

	if (e)
		forget_open(w, e); /* its end was not recorded */
	if (w->epochs.used >= WINDOW_LOCKS_OPEN)
		return NULL;
	e = match_pool_take(&w->epochs);
	e->traffic = t;
	e->number = p->m.ticket;
	e->is = (struct lock_epoch){.window = p->m.bytes,
		.process = (uintptr_t)t,
		.began = p->since,
		.target = p->m.peer,
		.exclusive = p->m.flags & MESSAGE_EXCLUSIVE};
	match_table_add(&w->open, (uintptr_t)t, key, e);
	return e;
}

/* Compares it with those that are over, and keeps it in the place of the oldest. */
static void end_epoch(struct window_locks *w, struct own_epoch *e)
{
	struct kept *kept = &w->kept[(e->is.window ^ e->is.window >> 32) % BUCKETS];
	const uint64_t n = kept->n < WINDOW_LOCKS_KEPT ? kept->n : WINDOW_LOCKS_KEPT;
	struct own_epoch *place;

	EACH(const struct own_epoch, other, kept->at, n) {
		if (!other->traffic)
			continue;
		lock_epoch_compare(&e->is, &other->is, count_lock, w);
		lock_epoch_compare(&other->is, &e->is, count_lock, w);
	}
	if (!kept->at)
		kept->at = xcalloc(WINDOW_LOCKS_KEPT, sizeof(*kept->at));
	place = &kept->at[kept->n++ % WINDOW_LOCKS_KEPT];
	if (place->traffic)
		thread_activity_let_go(place->activity);
	*place = *e;
}

static uint32_t world_of(const void *comm, uint32_t rank)
{
	return comm_world(comm, rank);
}

/* For those on other nodes that wait for it, and for its waits for them. */
static void keep_far(struct window_locks *w, struct traffic_track *l, const struct pending *p,
	const struct own_epoch *e)
{
	const struct comm *c = p->comm;

	const uint64_t job = l->traffic->job;

	if (!w->far || !has_members_elsewhere(c) || (c->job && c->job != job))
		return;
	far_locks_add(w->far,
		&(struct far_lock){.is = e->is,
			.whose = l->traffic,
			.world = comm_world(c, c->rank),
			.history = history_note(causes_histories(w->causes), l, p->since)},
		&(struct far_lock_comm){c->id, job, c->size, c, world_of});
}

void window_locks_call(
	struct window_locks *w, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	struct lock_call call;
	const enum lock_part part = lock_part_of(p->m.field & ~LARGE_COUNT);
	struct own_epoch *e;

	if (part == LOCK_PARTS)
		return;
	e = part == LOCK_ASKS ? begin_epoch(w, l->traffic, p) : find_open(w, l->traffic, p);
	if (!e)
		return;
	call = (struct lock_call){p->since, until, path_number(l, p->node), part == LOCK_ASKS};
	lock_epoch_add(&e->is, part, &call, WINDOW_LOCKS_LEAST);
	if (part != LOCK_ENDS)
		return;
	e->activity = thread_activity_hold(l->activity);
	end_epoch(w, e);
	keep_far(w, l, p, e);
	forget_open(w, e);
}

void window_locks_forget(struct window_locks *w, const struct traffic *t)
{
	far_locks_forget(w->far, t);
	for (unsigned i = 0; i < BUCKETS; i++)
		for (uint64_t k = 0; w->kept[i].at && k < WINDOW_LOCKS_KEPT; k++) {
			struct own_epoch *e = &w->kept[i].at[k];

			if (e->traffic != t)
				continue;
			thread_activity_let_go(e->activity);
			*e = (struct own_epoch){.traffic = NULL};
		}
	for (size_t i = 0; w->open.slots && i <= w->open.mask; i++) {
		struct own_epoch *e = w->open.slots[i].value;

		while (e && e->traffic == t) { /* another one takes its slot */
			forget_open(w, e);
			e = w->open.slots[i].value;
		}
	}
}
