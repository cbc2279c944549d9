/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines go forward: what is read waits in the line's queue until the calls before it are
 * resolved. A call is resolved when the time that is read is past its leave, by more than the
 * error of clocks, and what it needs of other lines was reached by them.
 */
#include <stdlib.h>

#include "nodeagent/causal/internal.h"
#include "nodeagent/base/util.h"

#ifndef ITEMS_MOST
#define ITEMS_MOST     (1u << 20) /* of a line; more, and it waits for nothing */
#define ITEMS_ALL_MOST (1u << 22) /* of all; more, and the one that is first waits for nothing */
#endif

/* ---- stretches ----------------------------------------------------------------------------- */

/* waited: so much of it */
static void keep_stretch(
	struct causal *c, uint32_t line, const struct stretch *s, int64_t end, int64_t waited)
{
	struct line *l = &c->lines[line];
	const int64_t ns = end - s->start - waited;

	if (s->start != INT64_MIN && ns > 0)
		results_row(&c->rows[CAUSAL_TIMES], 0, s->path, line, CAUSAL_NONE)->ns +=
			(double)ns;
	spool_list_add(&l->stretches, s);
}

/* Ends the stretch that is open; the next one begins at t. */
static void cut_stretch(struct causal *c, uint32_t line, int64_t t)
{
	struct line *l = &c->lines[line];
	const struct stretch s = {
		l->since, l->path, l->work == CAUSAL_IN_MPI ? CALL_MPI : CALL_USEFUL};

	/* with messages that take no time threads would wait for each other as long */
	if (l->work != CAUSAL_IN_MPI && l->since != INT64_MIN) {
		*(l->work == CAUSAL_USEFUL ? &l->sum_useful : &l->sum_lock_wait) += t - l->since;
		l->k += t - l->since;
	}
	if (l->in_call)
		*LIST_ADD(l, held) = s;
	else if (s.start != t)
		keep_stretch(c, line, &s, t, 0);
	l->since = t;
}

/* ---- a call is left ------------------------------------------------------------------------ */

static bool is_known(const struct line *l, int64_t until)
{
	EACH(const struct operation, o, l->done, l->n_done) {
		if (o->flight && !flight_is_known(o->flight, o->is_send, until))
			return false;
		if (o->instance && !instance_is_known(o->instance, until))
			return false;
	}
	return true;
}

static struct found look_at_done(struct causal *c, uint32_t line, int64_t until)
{
	const struct line *l = &c->lines[line];
	struct found best = {
		.t = l->call_enter, .k = l->k, .line = CAUSAL_NONE, .common = INT64_MIN};

	EACH(const struct operation, o, l->done, l->n_done) {
		if (o->flight)
			flight_look(c, o->flight, o->is_send, until, &best);
		else if (o->instance)
			instance_look(c, o->instance, o->arrival, until, &best);
	}
	return best;
}

static void end_operation(struct causal *c, const struct operation *o, int64_t leave)
{
	if (o->is_probe)
		probe_over(c, o->flight);
	else if (o->flight)
		flight_over(c, o->flight, o->is_send, leave);
	else if (o->instance)
		instance_over(c, o->instance, o->arrival, leave + c->tolerance, leave);
}

static void end_done(struct causal *c, uint32_t line, int64_t leave)
{
	struct line *l = &c->lines[line];

	EACH(const struct operation, o, l->done, l->n_done) {
		if (o->flight && !o->is_send && o->is_probe == o->flight->probed)
			ordered_received(c, line, o->flight);
		end_operation(c, o, leave);
	}
	l->n_done = 0;
	ordered_settle(l);
}

static void add_up_wait(struct causal *c, const struct wait *w)
{
	const int64_t ns = w->until - w->enter;

	if (w->kind & WAIT_UNRESOLVED) {
		c->totals.unresolved++;
		c->totals.unresolved_ns += (double)ns;
		return;
	}
	c->totals.waits += (double)ns;
	c->lines[w->line].waits += ns;
}

/* What the receive, or the probe before it, may take: nodeagent/base/wait-kinds.h. */
static uint32_t takes_of(const struct found *f)
{
	if (!f->flight)
		return 0;
	return f->flight->probed ? f->flight->probe_takes : f->flight->takes;
}

/* Sets *waited. The index of the wait + CALL_WAITED, or CALL_MPI. */
static uint32_t add_wait(
	struct causal *c, uint32_t line, const struct found *f, int64_t leave, int64_t *waited)
{
	const struct line *l = &c->lines[line];
	struct wait w = {.enter = l->call_enter,
		.until = MIN(f->t, leave),
		.line = line,
		.cause = f->line,
		.path = l->call_path,
		.kind = f->kind,
		.own = l->stretches.n,
		.theirs = f->stretches};

	if (f->line == CAUSAL_NONE || w.until <= w.enter || c->waits.n >= UINT32_MAX - CALL_WAITED)
		return CALL_MPI;
	w.since = MAX(f->common,
		MAX(common_in_groups(c, line, f->line), common_of(c, line, f->line, w.enter + 1)));
	w.since = w.since < w.enter ? w.since : w.enter;
	if (w.until - w.enter <= error_between(c, line, f->line))
		w.kind |= WAIT_UNRESOLVED;
	add_up_wait(c, &w);
	ordered_add(c, &w, leave, (uint32_t)c->waits.n, takes_of(f));
	*waited = w.until - w.enter;
	return (uint32_t)spool_list_add(&c->waits, &w) + CALL_WAITED;
}

/*
 * Until the wait is over the line is held up by its cause, also where MPI calls a function
 * meanwhile: that is one stretch, with the first one, and the next one begins then.
 */
static void hold_until(struct line *l, int64_t until)
{
	size_t n = 1; /* of them, that begin before */

	while (n < l->n_held && l->held[n].start < until)
		n++;
	if (n == 1)
		return;
	l->held[1] = l->held[n - 1];
	l->held[1].start = until;
	memmove(l->held + 2, l->held + n, (l->n_held - n) * sizeof(*l->held));
	l->n_held -= n - 2;
}

static void leave_call(struct causal *c, uint32_t line, const struct item *item)
{
	struct line *l = &c->lines[line];
	const struct found f = look_at_done(c, line, item->t + c->tolerance);

	int64_t waited = 0;

	if (!l->told && !l->n_done)
		c->totals.untold += (double)(item->t - l->call_enter);
	cut_stretch(c, line, item->t);
	l->held[0].call = add_wait(c, line, &f, item->t, &waited);
	hold_until(l, l->call_enter + waited);
	l->k = MAX(l->k, f.k);
	for (size_t i = 0; i < l->n_held; i++)
		keep_stretch(c, line, &l->held[i],
			i + 1 < l->n_held ? l->held[i + 1].start : item->t, i ? 0 : waited);
	l->n_held = 0;
	l->in_call = false;
	l->work = CAUSAL_USEFUL;
	l->path = item->path;
	end_done(c, line, item->t);
}

/* ---- the queue ----------------------------------------------------------------------------- */

static void begin_line(struct line *l, const struct item *item)
{
	l->begun = true;
	l->begin = l->since = item->t;
	l->work = CAUSAL_USEFUL;
	l->path = item->path;
	spool_list_add(&l->stretches, &(struct stretch){INT64_MIN, item->other, CALL_MPI});
}

static void end_line(struct causal *c, uint32_t line, const struct item *item)
{
	struct line *l = &c->lines[line];

	if (l->in_call) /* a killed one */
		leave_call(c, line, item);
	cut_stretch(c, line, item->t);
	l->end = item->t;
	l->ended = true;
	l->path = item->path;
	spool_list_add(&l->stretches, &(struct stretch){item->t, item->path, CALL_MPI});
}

static void enter_call(struct causal *c, uint32_t line, const struct item *item)
{
	struct line *l = &c->lines[line];

	cut_stretch(c, line, item->t);
	l->in_call = true;
	l->work = CAUSAL_IN_MPI;
	l->path = l->call_path = item->path;
	l->call_enter = item->t;
	l->told = false;
}

/* Frames that are none of their own, as MPI_Barrier_sync, change nothing. */
static void change_path(struct causal *c, uint32_t line, const struct item *item)
{
	struct line *l = &c->lines[line];

	if (item->path == l->path && item->work == l->work)
		return;
	cut_stretch(c, line, item->t);
	l->path = item->path;
	l->work = item->work;
}

static void reach_item(struct causal *c, uint32_t line, const struct item *item)
{
	struct line *l = &c->lines[line];

	switch ((enum item_kind)item->kind) {
	case ITEM_SEND:
	case ITEM_POST:
		l->told = true;
		flight_reached(c, item->flight, item->kind == ITEM_SEND);
		return;
	case ITEM_PROBE: /* over with the call that it is in */
		l->told = true;
		if (l->in_call)
			*LIST_ADD(l, done) =
				(struct operation){.flight = item->flight, .is_probe = true};
		else
			probe_over(c, item->flight);
		return;
	case ITEM_ARRIVE:
		l->told = true;
		if (item->with_call)
			*LIST_ADD(l, done) = (struct operation){
				.instance = item->instance, .arrival = item->other};
		instance_reached(c, item->instance, item->other);
		return;
	case ITEM_BEGIN:
		if (!l->begun)
			begin_line(l, item);
		return;
	default:
		break;
	}
	if (!l->begun || l->ended)
		return;
	if (item->kind == ITEM_END)
		end_line(c, line, item);
	else if (item->kind == ITEM_ENTER && !l->in_call)
		enter_call(c, line, item);
	else if (item->kind == ITEM_LEAVE && l->in_call)
		leave_call(c, line, item);
	else if (item->kind == ITEM_PATH)
		change_path(c, line, item);
}

/* ---- what a call completes: a heap by end --------------------------------------------------- */

static void sift_up(struct operation *heap, size_t i)
{
	for (; i && heap[i].end < heap[(i - 1) / 2].end; i = (i - 1) / 2) {
		struct operation o = heap[i];

		heap[i] = heap[(i - 1) / 2];
		heap[(i - 1) / 2] = o;
	}
}

static void sift_down(struct operation *heap, size_t n)
{
	for (size_t i = 0, least = 0;; i = least) {
		struct operation o;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < n; k++)
			if (heap[k].end < heap[least].end)
				least = k;
		if (least == i)
			return;
		o = heap[i];
		heap[i] = heap[least];
		heap[least] = o;
	}
}

void line_open(struct causal *c, uint32_t line, const struct operation *o)
{
	struct line *l = &c->lines[line];

	*LIST_ADD(l, open) = *o;
	sift_up(l->open, l->n_open - 1);
}

/* Those that ended with the call that is left at t. Others ended before, in no call of the line,
 * which did not wait for them. */
static void collect_done(struct causal *c, struct line *l, int64_t t)
{
	while (l->n_open && l->open[0].end <= t) {
		const struct operation o = l->open[0];

		l->open[0] = l->open[--l->n_open];
		sift_down(l->open, l->n_open);
		if (o.end == t) {
			*LIST_ADD(l, done) = o;
			continue;
		}
		c->totals.doubts[CAUSAL_STRAY]++;
		end_operation(c, &o, o.end);
	}
}

/* ---- lines by time --------------------------------------------------------------------------- */

static void heap_add(struct causal *c, uint32_t line, int64_t t)
{
	size_t i = c->n_heap;

	*LIST_ADD(c, heap) = (struct due){t, line};
	for (; i && t < c->heap[(i - 1) / 2].t; i = (i - 1) / 2) {
		c->heap[i] = c->heap[(i - 1) / 2];
		c->heap[(i - 1) / 2] = (struct due){t, line};
	}
	c->lines[line].in_heap = true;
}

static uint32_t heap_take(struct causal *c)
{
	const uint32_t line = c->heap[0].line;
	const struct due moved = c->heap[--c->n_heap];
	size_t i = 0, least;

	c->heap[0] = moved;
	for (;; i = least) {
		least = i;
		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < c->n_heap; k++)
			if (c->heap[k].t < c->heap[least].t)
				least = k;
		if (least == i)
			break;
		c->heap[i] = c->heap[least];
		c->heap[least] = moved;
	}
	c->lines[line].in_heap = false;
	return line;
}

/* True: it may go on behind the leave that is first in its queue. */
static bool may_leave(struct causal *c, uint32_t line, const struct item *item, bool force)
{
	struct line *l = &c->lines[line];

	if (c->now <= item->t + c->tolerance) {
		if (!l->in_heap)
			heap_add(c, line, item->t + c->tolerance);
		return false;
	}
	collect_done(c, l, item->t);
	if (force || l->n_items - l->first_item > ITEMS_MOST || is_known(l, item->t + c->tolerance))
		return true;
	if (!l->overdue)
		*LIST_ADD(c, overdue) = line;
	l->overdue = true;
	return false;
}

/* Returns true if it has reached anything. */
static bool go_on(struct causal *c, uint32_t line, bool force)
{
	struct line *l = &c->lines[line];
	bool moved = false;

	while (l->first_item < l->n_items) {
		const struct item item = l->items[l->first_item];

		if (item.kind == ITEM_LEAVE && l->in_call && !may_leave(c, line, &item, force))
			break;
		force = false;
		l->first_item++;
		c->n_items--;
		reach_item(c, line, &item);
		moved = true;
	}
	if (l->first_item == l->n_items)
		l->first_item = l->n_items = 0;
	return moved;
}

static void retry_overdue(struct causal *c)
{
	bool moved = true;

	while (moved) {
		const size_t n = c->n_overdue;

		moved = false;
		for (size_t i = 0; i < n; i++) {
			const uint32_t line = c->overdue[0];

			memmove(c->overdue, c->overdue + 1, --c->n_overdue * sizeof(*c->overdue));
			c->lines[line].overdue = false;
			moved |= go_on(c, line, false);
		}
	}
}

/* Lines that are overdue wait for each other: the earliest one goes on. */
static void force_first(struct causal *c)
{
	size_t first = 0;
	uint32_t line;

	for (size_t i = 1; i < c->n_overdue; i++) {
		const struct line *a = &c->lines[c->overdue[i]], *b = &c->lines[c->overdue[first]];

		if (a->items[a->first_item].t < b->items[b->first_item].t)
			first = i;
	}
	line = c->overdue[first];
	c->overdue[first] = c->overdue[--c->n_overdue];
	c->totals.doubts[CAUSAL_CYCLE]++;
	c->lines[line].overdue = false;
	go_on(c, line, true);
	retry_overdue(c);
}

void lines_advance(struct causal *c, int64_t now)
{
	c->now = MAX(c->now, now);
	while (c->n_heap && c->heap[0].t < c->now) {
		if (go_on(c, heap_take(c), false) && c->n_overdue)
			retry_overdue(c);
	}
}

static void make_room(struct line *l)
{
	if (l->first_item < 1024 || l->first_item * 2 < l->n_items)
		return;
	l->n_items -= l->first_item;
	memmove(l->items, l->items + l->first_item, l->n_items * sizeof(*l->items));
	l->first_item = 0;
}

void line_read(struct causal *c, uint32_t line, const struct item *item)
{
	struct line *l = &c->lines[line];
	struct item *to;

	lines_advance(c, item->t);
	make_room(l);
	to = LIST_ADD(l, items);
	c->n_items++;
	*to = *item;
	if (item->t < l->last_read) {
		c->totals.doubts[CAUSAL_ORDER]++;
		to->t = l->last_read;
	}
	l->last_read = to->t;
	if (!l->in_heap && !l->overdue && go_on(c, line, false) && c->n_overdue)
		retry_overdue(c);
	while (c->n_items > ITEMS_ALL_MOST && c->n_overdue)
		force_first(c);
}

void lines_finish(struct causal *c)
{
	lines_advance(c, INT64_MAX);
	while (c->n_overdue)
		force_first(c);
}

void line_free(struct line *l)
{
	spool_list_free(&l->stretches);
	free(l->held);
	free(l->items);
	free(l->open);
	free(l->done);
	free(l->groups);
	free(l->ordered);
}
