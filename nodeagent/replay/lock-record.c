/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of OpenMP and of the C library (shm/record.h): when the thread got one and when it gave it
 * back. A critical or ordered region has the lock for as long as its frame is open, which follows
 * the wait. A lock is given back by an UNLOCK if another thread waits for it, and without a word
 * otherwise.
 */
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/openmp/lock-uses.h"
#include "nodeagent/replay/openmp/locks.h"
#include "nodeagent/replay/shadow.h"
#include "shm/atomic.h"

void replay_set_locks(struct replay *r, struct locks *l)
{
	r->locks = l;
}

void replay_set_lock_uses(struct replay *r, struct lock_uses *u)
{
	r->lock_uses = u;
}

static struct lock_place place_of(const struct replay *r, struct node *n)
{
	return (struct lock_place){r->thread, r->track ? traffic_path(r->track, n) : 0};
}

/* The last time that the thread got this lock, or NULL. */
static struct held_lock *find_taken(struct replay *r, uint32_t number)
{
	return FIND(x, r->taken, LOCKS_REMEMBERED, x->number == number);
}

static void take_lock(struct replay *r, uint32_t number, uint64_t t)
{
	struct held_lock *to = find_taken(r, number);

	if (!to)
		to = &r->taken[r->n_taken++ % LOCKS_REMEMBERED];
	*to = (struct held_lock){.number = number, .since = t};
}

void replay_got_lock(struct replay *r, uint64_t a, struct node *n, uint64_t since, uint64_t t)
{
	const uint32_t number = OPENMP_LOCK(a);
	const struct lock_place at = place_of(r, n);

	lock_uses_waited(r->lock_uses, number, at.path, elapsed(since, t));
	if (!r->locks)
		return;
	/* of many locks with one number it is not known which one is meant */
	if (elapsed(since, t) >= LOCKS_LEAST_TICKS && !(r->lock_uses && number <= LOCK_KINDS_END))
		locks_waited(r->locks, number, at, since, t);
	if ((a & (OPENMP_HOLDS | OPENMP_TURN)) == OPENMP_TURN)
		return;
	if (!(a & OPENMP_HOLDS)) {
		take_lock(r, number, t);
		return;
	}
	r->got = (struct held_lock){.number = number, .in_turn = a & OPENMP_TURN, .since = t};
	r->slow |= SLOW_GOT;
}

void replay_hold_lock(struct replay *r, bool exit, uint64_t t)
{
	const struct frame *f = r->top;

	r->slow &= ~SLOW_GOT;
	if (exit || f == r->base || f->since != t || f->depth || !f->node ||
		!key_is_region(f->node->key) || r->n_holds == LOCKS_HELD)
		return; /* it opened no frame */
	r->got.frame = (size_t)(f - r->base);
	*LIST_ADD(r, holds) = r->got;
	r->fast_from = RECORD_ID_FUNCTION;
}

void replay_leave_lock(struct replay *r, const struct frame *f, struct node *n, uint64_t t)
{
	const size_t frame = (size_t)(f - r->base);

	while (r->n_holds && r->holds[r->n_holds - 1].frame >= frame) {
		const struct held_lock *h = &r->holds[--r->n_holds];

		locks_held(r->locks, h->number, place_of(r, n),
			h->in_turn ? LOCK_IN_ITS_TURN : LOCK_SINCE_THEN, h->since, t);
	}
	if (!r->n_holds)
		r->fast_from = r->fast_least;
}

uint32_t replay_lock_wanted(const struct replay *r, uint32_t *region)
{
	const struct construct_frame *c =
		r->n_constructs ? &r->constructs[r->n_constructs - 1] : NULL;

	if (!c || c->kind != OPEN_WAIT || c->frame != (size_t)(r->top - r->base))
		return 0;
	*region = c->region;
	return c->number;
}

bool replay_holds_lock(const struct replay *r, uint32_t number, size_t left)
{
	const size_t top = (size_t)(r->top - r->base);

	return ANY(i, r->n_holds,
		r->holds[i].number == number && left <= top && r->holds[i].frame <= top - left);
}

void replay_locks_got(const struct replay *r, replay_taken_lock *tell, void *ctx)
{
	EACH(const struct held_lock, l, r->taken, LOCKS_REMEMBERED)
		if (l->number)
			tell(ctx, l->number, l->since);
}

/* Time stamps are as untrusted as all: what lies outside of what was read is cut off. */
bool replay_take_unlock(struct replay *r, const struct ring_record *rec)
{
	const uint32_t number = (uint32_t)load_relaxed(&rec->word[1]) & OPENMP_LOCKS;
	const uint64_t ticks = rec->last & ~OPENMP_MARK;
	struct held_lock *taken;
	uint64_t since = 0;

	if (!r->locks || !number || ticks < r->start || ticks > r->not_after)
		return true;
	taken = find_taken(r, number);
	if (taken) {
		since = taken->since < ticks ? taken->since : 0;
		taken->number = 0;
	}
	locks_held(
		r->locks, number, place_of(r, replay_node(r->top)), LOCK_UNTIL_THEN, since, ticks);
	return true;
}
