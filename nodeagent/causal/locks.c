/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of windows. Who has a lock before whom is known when both have given it back: so all
 * epochs are read once before. Then each call that has waited for a lock meets the end of the
 * last epoch that it has waited for, as two calls meet in which one rank needs the other one.
 */
#include <stdlib.h>

#include "nodeagent/base/pool.h"
#include "nodeagent/causal/read.h"
#include "nodeagent/replay/window/lock-epoch.h"

#define LARGE_COUNT 1u
#define OPEN_MOST   (1u << 20) /* epochs */
#define KEPT	    1024u      /* the last that are over, of one in 64 windows */
#define BUCKETS	    64u

/* A call of a line: its start, in the line's file. */
struct lock_at {
	uint32_t line;
	uint64_t start;
};

/* One that has waited for a lock, and the one that gave it back. */
struct lock_wait {
	struct lock_at waiter, holder;
	struct lock_wait *next; /* for the same holder */
};

struct reader_locks {
	struct match_pool epochs, waits;
	struct match_table open;	  /* by line, and window and number */
	struct match_table of_waiter;	  /* by line and start -> struct lock_wait */
	struct match_table of_holder;	  /* the same -> the first one */
	struct lock_epoch *kept[BUCKETS]; /* KEPT, or NULL */
	uint64_t n_kept[BUCKETS];	  /* ever */
};

struct reader_locks *reader_locks_new(void)
{
	struct reader_locks *l = xcalloc(1, sizeof(*l));

	l->epochs.bytes = sizeof(struct lock_epoch);
	l->waits.bytes = sizeof(struct lock_wait);
	return l;
}

void reader_locks_free(struct reader_locks *l)
{
	if (!l)
		return;
	for (unsigned i = 0; i < BUCKETS; i++)
		free(l->kept[i]);
	match_table_free(&l->open);
	match_table_free(&l->of_waiter);
	match_table_free(&l->of_holder);
	match_pool_free(&l->epochs);
	match_pool_free(&l->waits);
	free(l);
}

/* ---- before ---------------------------------------------------------------------------------- */

/* A lock_epoch_compare() callback: of those that a call has waited for, the last one stays. */
static void keep_wait(void *arg, const struct lock_epoch *a, const struct lock_call *call,
	const struct lock_epoch *b)
{
	struct reader_locks *l = arg;
	const struct lock_at holder = {(uint32_t)b->process, b->last.enter};
	struct lock_wait *w = match_table_find(&l->of_waiter, a->process, call->enter);

	if (!w) {
		w = match_pool_take(&l->waits);
		*w = (struct lock_wait){{(uint32_t)a->process, call->enter}, holder, NULL};
		match_table_add(&l->of_waiter, a->process, call->enter, w);
	}
	if ((int64_t)(holder.start - w->holder.start) > 0)
		w->holder = holder;
}

static void end_epoch(struct reader_locks *l, const struct lock_epoch *e)
{
	const unsigned bucket = (unsigned)((e->window ^ e->window >> 32) % BUCKETS);
	const uint64_t n = l->n_kept[bucket] < KEPT ? l->n_kept[bucket] : KEPT;

	if (!l->kept[bucket])
		l->kept[bucket] = xcalloc(KEPT, sizeof(*e));
	for (uint64_t i = 0; i < n; i++) {
		lock_epoch_compare(e, &l->kept[bucket][i], keep_wait, l);
		lock_epoch_compare(&l->kept[bucket][i], e, keep_wait, l);
	}
	l->kept[bucket][l->n_kept[bucket]++ % KEPT] = *e;
}

static uint64_t window_of(const struct reader *r, uint32_t line, const struct vfd_message *m)
{
	return m->offset ^ r->run->ranks[line].job * 0x9e3779b97f4a7c15u;
}

/* The epoch of a call; NULL: its lock was not recorded. */
static struct lock_epoch *epoch_of(
	struct reader *r, uint32_t line, const struct vfd_message *m, uint64_t key, bool begins)
{
	struct reader_locks *l = r->locks;
	struct lock_epoch *e = match_table_find(&l->open, line, key);

	if (!begins || (!e && l->epochs.used >= OPEN_MOST))
		return e;
	if (!e) {
		e = match_pool_take(&l->epochs);
		match_table_add(&l->open, line, key, e);
	}
	*e = (struct lock_epoch){.window = window_of(r, line, m),
		.process = line,
		.began = (uint64_t)m->start,
		.target = m->peer,
		.exclusive = m->flags & VFD_MESSAGE_EXCLUSIVE};
	return e;
}

void reader_lock(struct reader *r, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const enum lock_part part = lock_part_of(m->function & ~LARGE_COUNT);
	const uint32_t line = reader_line_of(r, e->file, e->track);
	struct lock_epoch *of;
	uint64_t key;

	if (part == LOCK_PARTS || line == CAUSAL_NONE || !reader_has_call(r, line, e))
		return;
	key = window_of(r, line, m) ^ m->ticket * 0xd6e8feb86659fd93u;
	of = epoch_of(r, line, m, key, part == LOCK_ASKS);
	if (!of)
		return;
	lock_epoch_add(of, part,
		&(struct lock_call){.enter = (uint64_t)m->start,
			.leave = (uint64_t)m->end,
			.asks = part == LOCK_ASKS},
		1);
	if (part != LOCK_ENDS)
		return;
	end_epoch(r->locks, of);
	match_table_remove(&r->locks->open, line, key);
	match_pool_give(&r->locks->epochs, of);
}

void reader_locks_end(struct reader_locks *l)
{
	for (size_t i = 0; l->of_waiter.slots && i <= l->of_waiter.mask; i++) {
		struct lock_wait *w = l->of_waiter.slots[i].value;

		if (!w)
			continue;
		w->next = match_table_find(&l->of_holder, w->holder.line, w->holder.start);
		match_table_add(&l->of_holder, w->holder.line, w->holder.start, w);
	}
}

/* ---- now ---------------------------------------------------------------------------------------
 */

static void meet_at_lock(
	struct reader *r, const struct lock_wait *w, bool waits, const struct vfd_message *m)
{
	const uint32_t line = waits ? w->waiter.line : w->holder.line,
		       other = waits ? w->holder.line : w->waiter.line;
	/* one call of a line waits for one lock */
	const uint64_t ticket = w->waiter.start << 1 | (w->waiter.line > w->holder.line);

	causal_collective(r->run->c, line,
		&(struct causal_collective){.comm = reader_pair_comm(r, line, other),
			.ticket = ticket & ~((uint64_t)1 << 63),
			.kind = WAIT_RMA_LOCK,
			.root = CAUSAL_NONE,
			.needed = &other,
			.n_needed = waits,
			.enter = m->start,
			.leave = m->end});
}

void reader_lock_meets(struct reader *r, uint32_t line, const struct vfd_message *m)
{
	const struct lock_wait *w =
		match_table_find(&r->locks->of_waiter, line, (uint64_t)m->start);

	if (w)
		meet_at_lock(r, w, true, m);
	w = match_table_find(&r->locks->of_holder, line, (uint64_t)m->start);
	for (; w; w = w->next)
		meet_at_lock(r, w, false, m);
}
