/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits in the wrong order: for a message that was sent later than another one, which the same line
 * receives only in a later call, though it could have chosen it before.
 */
#include <string.h>

#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/causal/internal.h"

#ifndef ORDERED_MOST
#define ORDERED_MOST ((size_t)1 << 16) /* waits of a line that are looked at */
#endif

void ordered_add(
	struct causal *c, const struct wait *w, int64_t leave, uint32_t index, uint32_t takes)
{
	struct line *l = &c->lines[w->line];

	if (w->kind != WAIT_LATE_SENDER || takes == CHOICE_ALL)
		return;
	if (l->n_ordered >= ORDERED_MOST) {
		l->n_ordered -= ORDERED_MOST / 4;
		memmove(l->ordered, l->ordered + ORDERED_MOST / 4,
			l->n_ordered * sizeof(*l->ordered));
	}
	*LIST_ADD(l, ordered) = (struct ordered){leave, w->until, w->cause, index, takes};
}

void ordered_received(struct causal *c, uint32_t line, const struct flight *f)
{
	struct line *l = &c->lines[line];
	const struct moment *send = &f->send;
	size_t from = l->n_ordered, stay;

	if (send->progress == NOT_READ)
		return;
	while (from && l->ordered[from - 1].leave > send->t)
		from--;
	stay = from;
	for (size_t i = from; i < l->n_ordered; i++) {
		const struct ordered o = l->ordered[i];

		if (o.leave <= l->call_enter &&
			o.until - error_between(c, o.cause, send->line) > send->t &&
			choice_is_free(o.takes, f->queue))
			spool_list_add(&c->wrong_order, &o.wait);
		else
			l->ordered[stay++] = o;
	}
	l->n_ordered = stay;
}

void ordered_settle(struct line *l)
{
	/* what is sent from now on is sent after all that was received */
	if (!l->in_flight)
		l->n_ordered = 0;
}

static void count_wait(struct causal *c, const struct wait *w)
{
	const int64_t ns = w->until - w->enter;
	const uint32_t of[] = {w->line, w->cause};

	for (unsigned i = 0; i < 2; i++) {
		struct causal_row *row = results_row(&c->rows[i ? CAUSAL_LATE : CAUSAL_WAITS],
			w->kind, w->path, of[i], CAUSAL_NONE);

		row->calls++;
		row->ns += (double)ns;
		row->longest = ns > row->longest ? ns : row->longest;
		row->error += (double)error_between(c, w->line, w->cause);
	}
}

void count_waits(struct causal *c)
{
	for (uint64_t i = 0; i < c->wrong_order.n; i++) {
		const uint32_t *at = spool_list_at(&c->wrong_order, i);
		struct wait *w = spool_list_at(&c->waits, *at);

		w->kind = WAIT_WRONG_ORDER;
	}
	for (uint64_t i = 0; i < c->waits.n; i++) {
		const struct wait *w = spool_list_at(&c->waits, i);

		if (!(w->kind & WAIT_UNRESOLVED))
			count_wait(c, w);
	}
}
