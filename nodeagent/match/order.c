/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of one sequence into the order of their tickets, and which of them
 * overlap in time. With several threads inside of MPI, the order of the tickets
 * of two calls that overlap need not be MPI's. A ticket is taken before MPI is
 * called: when a call has entered after another one had left, all calls with
 * later tickets came after that one, too, and it is settled.
 */
#include <stdlib.h>
#include "nodeagent/match/internal.h"

#define STEPS		   64 /* comparisons per call; beyond, all are ambiguous */
#define WAITING_AFTER_LOSS (MATCH_WAITING_MAX / 16)

static uint64_t key_of_sequence(const struct sequence *q)
{
	return (uint64_t)(uintptr_t)q;
}

/* ---- overlaps --------------------------------------------------------------- */

static bool may_compete(const struct sequence *q, const struct call *a, const struct call *b)
{
	if (q->of_sends)
		return a->tag == b->tag;
	return (a->peer == b->peer || a->peer == MATCH_ANYWHERE || b->peer == MATCH_ANYWHERE) &&
	       (a->tag == b->tag || a->tag == MATCH_ANY_TAG || b->tag == MATCH_ANY_TAG);
}

static struct call *other_before(const struct sequence *q, const struct call *c)
{
	return c->other && c->other_at >= q->unsettled.first->position ? c->other : NULL;
}

static void compare_call(struct sequence *q, struct call *c)
{
	struct call *y = q->unsettled.last;
	unsigned steps = 0;

	while (y && is_later(y->reach, c->enter)) {
		if (++steps > STEPS) {
			c->ambiguous = true;
			q->ambiguous_to = y->position + 1;
			return;
		}
		if (y->thread == c->thread) {
			y = other_before(q, y);
			continue;
		}
		if (is_later(y->leave, c->enter) && may_compete(q, y, c) &&
			!((y->flags | c->flags) & MATCH_VOID))
			y->ambiguous = c->ambiguous = true;
		y = y->before;
	}
}

static void settle_sequence(struct match *m, struct sequence *q)
{
	struct call *c = q->unsettled.first;

	call_unlink(&q->unsettled, c);
	c->ambiguous |= c->position < q->ambiguous_to;
	call_ready(m, q, c);
}

/* The next one in order. */
static void arrive(struct match *m, struct sequence *q, struct call *c)
{
	const struct call *last;

	while (q->unsettled.first && !is_later(q->unsettled.first->leave, c->enter))
		settle_sequence(m, q);
	last = q->unsettled.last;
	if (!last && !(c->flags & MATCH_CONCURRENT)) {
		call_ready(m, q, c);
		return;
	}
	c->reach = last && is_later(last->reach, c->leave) ? last->reach : c->leave;
	if (last) {
		compare_call(q, c);
		c->other = last->thread != c->thread ? q->unsettled.last : last->other;
		c->other_at = last->thread != c->thread ? last->position : last->other_at;
	}
	call_append(&q->unsettled, c);
}

/* ---- gaps ---------------------------------------------------------------------- */

/* Lost ones may have overlapped those before them. */
static void lose(struct match *m, struct sequence *q, uint64_t n)
{
	while (q->unsettled.first) {
		q->unsettled.first->ambiguous = true;
		settle_sequence(m, q);
	}
	q->next += n;
	calls_lost(m, q, n);
}

static struct call *take_waiting(struct match *m, struct sequence *q, uint64_t position)
{
	struct call *c = q->waiting.n
				 ? match_table_find(&m->waiting_at, key_of_sequence(q), position)
				 : NULL;

	if (!c)
		return NULL;
	match_table_remove(&m->waiting_at, key_of_sequence(q), position);
	call_unlink(&q->waiting, c);
	return c;
}

static void go_on(struct match *m, struct sequence *q)
{
	struct call *c;

	while ((c = take_waiting(m, q, q->next))) {
		q->next++;
		arrive(m, q, c);
	}
}

ORDER_BY(by_position, uint64_t, ORDER(*x, *y))

/*
 * True for the first sends that are seen on a communicator that a member has freed, to a process
 * that has posted nothing: what was sent to it before went with its space (gone.c), and is not
 * lost.
 */
static bool begins_late(const struct match *m, const struct sequence *q)
{
	const struct channel *c = (const void *)((const char *)q - offsetof(struct channel, order));

	return q->of_sends && !q->next && !c->space->order.next && !c->space->order.waiting.n &&
	       !c->space->open.n && match_was_forgotten(m, c->space->comm);
}

void match_order_jump(struct match *m, struct sequence *q)
{
	size_t n = 0;
	uint64_t *at = xmalloc((q->waiting.n + 1) * sizeof(*at));

	for (const struct call *c = q->waiting.first; c; c = c->after)
		at[n++] = c->position;
	qsort(at, n, sizeof(*at), by_position);
	if (n && begins_late(m, q))
		q->next = at[0];
	for (size_t i = 0; i < n; i++) {
		if (at[i] > q->next)
			lose(m, q, at[i] - q->next);
		go_on(m, q);
	}
	free(at);
}

/* Position of a ticket that is not further from the next one than half the range. */
static bool find_position(const struct sequence *q, uint32_t ticket, uint64_t *position)
{
	int32_t ahead = (int32_t)(ticket - (uint32_t)q->next);

	*position = q->next + (uint32_t)ahead;
	return ahead >= 0;
}

void match_order_drop(struct match *m, struct sequence *q, uint32_t ticket)
{
	uint64_t position;

	if (!find_position(q, ticket, &position) || position != q->next)
		return;
	lose(m, q, 1);
	go_on(m, q);
}

void match_order_add(struct match *m, struct sequence *q, struct call *c)
{
	if (!find_position(q, (uint32_t)c->position, &c->position) ||
		(q->waiting.n &&
			match_table_find(&m->waiting_at, key_of_sequence(q), c->position))) {
		m->counts.late++;
		call_discard(m, q, c);
		return;
	}
	if (c->position == q->next) {
		q->next++;
		arrive(m, q, c);
		if (q->waiting.n)
			go_on(m, q);
		return;
	}
	match_table_add(&m->waiting_at, key_of_sequence(q), c->position, c);
	call_append(&q->waiting, c);
	if (q->waiting.n > WAITING_AFTER_LOSS &&
		(q->waiting.n > MATCH_WAITING_MAX || match_order_is_damaged(m, q)))
		match_order_jump(m, q);
}

void match_order_finish(struct match *m, struct sequence *q)
{
	match_order_jump(m, q);
	if (q->unsettled.first && match_order_is_damaged(m, q))
		q->ambiguous_to = q->next; /* later ones may be lost */
	while (q->unsettled.first)
		settle_sequence(m, q);
}
