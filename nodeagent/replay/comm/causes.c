/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/causes.h"

#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/tree/activity.h"

/* A call that is looked at is one step: at most one in so many ticks, some 5 ns in a microsecond
 * or two; after a rest, so many at once. */
#define TICKS_OF_STEP 4096u
#define STEPS_MOST    (1u << 18)
#define STEPS_OF_WAIT 16u

#define PARTS_MOST 32

struct causes {
	struct traffic **late; /* NULL: forgotten */
	size_t n, cap;
	uint64_t steps; /* that may be made now */
	uint64_t until; /* ticks up to which that was counted */
};

struct causes *causes_new(void)
{
	struct causes *c = xcalloc(1, sizeof(*c));

	c->steps = STEPS_MOST;
	return c;
}

void causes_free(struct causes *c)
{
	if (c)
		free(c->late);
	free(c);
}

void causes_forget(struct causes *c, struct traffic *t)
{
	if (t->late_number)
		c->late[t->late_number - 1] = NULL;
}

static const struct traffic *late_of(const struct causes *c, uint32_t number)
{
	return c->late[number - 1];
}

/* From 1. */
static uint32_t late_number(struct causes *c, struct traffic *t)
{
	if (!t->late_number) {
		*APPEND(c->late, c->n, c->cap) = t;
		t->late_number = (uint32_t)c->n;
	}
	return t->late_number;
}

static bool may_look(struct causes *c, uint64_t now)
{
	const uint64_t more = ticks_between(c->until, now) / TICKS_OF_STEP;

	if (more) {
		c->steps = more < STEPS_MOST - c->steps ? c->steps + more : STEPS_MOST;
		c->until = now;
	}
	return c->steps > STEPS_OF_WAIT;
}

/* ---- what a thread did -------------------------------------------------------------------- */

struct lately {
	struct traffic *traffic;
	struct traffic_track *track; /* NULL: it has ended ... */
	struct node *root;	     /* ... and this is the root of its tree */
	uint32_t thread;
	struct activity *activity;
	traffic_activity *tell;
	void *ctx;
	struct lately *next;
};

bool traffic_asks_activity(const struct traffic_track *l)
{
	return l->traffic->all_causes && l->traffic->conf->mpi_waits;
}

struct activity *traffic_track_activity(
	struct traffic_track *l, traffic_activity *fn, void *ctx, uint64_t ticks)
{
	struct lately *now = xmalloc(sizeof(*now));

	*now = (struct lately){.traffic = l->traffic,
		.track = l,
		.thread = l->number,
		.activity = activity_new(ticks),
		.tell = fn,
		.ctx = ctx,
		.next = l->traffic->lately};
	l->lately = l->traffic->lately = now;
	return now->activity;
}

void lately_end(struct lately *l, struct calltree *past)
{
	l->root = calltree_root(past);
	l->activity = activity_end(l->activity, l->root);
	l->track = NULL;
}

static size_t tell_lately(
	const struct lately *l, uint64_t from, uint64_t to, activity_stretch *stretch, void *arg)
{
	const struct activity *a = l->activity;
	const struct activity_open root = {l->root, 0};

	if (l->track)
		return l->tell(l->ctx, from, to, stretch, arg);
	return a->n ? activity_walk(a, &root, 1, a->at[a->n - 1].until, from, to, stretch, arg) : 0;
}

static uint32_t path_of(const struct lately *l, struct node *n)
{
	return l->track ? path_number(l->track, n) : path_number_past(l->traffic, n);
}

void causes_of_process_free(struct traffic *t)
{
	for (struct lately *l = t->lately, *next; l; l = next) {
		next = l->next;
		free(l->activity);
		free(l);
	}
	free(t->causes.at);
	match_table_free(&t->causes.by_key);
}

/* ---- one wait ------------------------------------------------------------------------------ */

struct parts {
	struct part {
		struct node *node;
		uint64_t ticks;
	} at[PARTS_MOST];
	unsigned n;
	uint64_t ticks;
};

static struct part *part_of(struct parts *p, const struct node *n)
{
	for (unsigned i = p->n; i--;)
		if (p->at[i].node == n)
			return &p->at[i];
	return NULL;
}

/* The least of those that no other one is below, or NULL: there is the root only. */
static struct part *least_of(struct parts *p)
{
	uint64_t above = 0; /* bit i: part i is above another one */
	struct part *least = NULL;

	for (unsigned i = 0; i < p->n; i++)
		for (const struct node *n = p->at[i].node->parent; n; n = n->parent) {
			const struct part *at = part_of(p, n);

			if (at)
				above |= (uint64_t)1 << (at - p->at);
		}
	for (unsigned i = 0; i < p->n; i++)
		if (!(above >> i & 1) && p->at[i].node->parent &&
			(!least || p->at[i].ticks < least->ticks))
			least = &p->at[i];
	return least;
}

/* The least ones count for their callers, until there are no more than these. */
static void count_least_above(struct parts *p, unsigned most)
{
	while (p->n > most) {
		struct part *least = least_of(p), *above;

		if (!least) /* nodes of several trees: not of a thread */
			p->n = 0;
		else if ((above = part_of(p, least->node->parent))) {
			above->ticks += least->ticks;
			*least = p->at[--p->n];
		} else {
			least->node = least->node->parent;
		}
	}
}

/* An activity_stretch. */
static void add_part(void *arg, struct node *n, uint64_t ticks)
{
	struct parts *p = arg;
	struct part *at = part_of(p, n);

	p->ticks += ticks;
	if (at) {
		at->ticks += ticks;
		return;
	}
	if (p->n == PARTS_MOST)
		count_least_above(p, PARTS_MOST / 2);
	p->at[p->n++] = (struct part){n, ticks};
}

/* 1 + its index; 0: there are too many. */
static uint32_t row_of(struct cause_rows *rows, const struct cause_row *like)
{
	const uint64_t a = (uint64_t)like->kind << 32 | like->path;
	const uint64_t b = (uint64_t)like->late << 32 | like->late_path;
	const uintptr_t known = (uintptr_t)match_table_find(&rows->by_key, a, b);

	if (known || rows->n >= CAUSES_MAX)
		return (uint32_t)known;
	*APPEND(rows->at, rows->n, rows->cap) = *like;
	match_table_add(&rows->by_key, a, b, (void *)(uintptr_t)rows->n);
	return (uint32_t)rows->n;
}

static void count_parts(struct cause_rows *rows, const struct parts *p, struct cause_row like,
	const struct lately *late, struct cause_parts *counted)
{
	for (unsigned i = 0; i < p->n; i++) {
		uint32_t row;

		like.late_path = path_of(late, p->at[i].node);
		row = like.late_path ? row_of(rows, &like) : 0;
		if (!row)
			continue;
		rows->at[row - 1].ticks += p->at[i].ticks;
		if (counted) {
			counted->at[counted->n].row = row - 1;
			counted->at[counted->n++].ticks = p->at[i].ticks;
		}
	}
}

void causes_add(struct causes *c, struct traffic *t, uint32_t path, enum wait_kind kind,
	struct lately *late, uint64_t from, uint64_t to, struct cause_parts *counted)
{
	struct parts p = {.n = 0};
	uint64_t steps;

	if (counted)
		counted->n = 0;
	if (!path || !late || ticks_between(from, to) < CAUSE_TICKS_LEAST || !may_look(c, to))
		return;
	steps = tell_lately(late, from, to, add_part, &p) + STEPS_OF_WAIT;
	c->steps -= steps < c->steps ? steps : c->steps;
	count_least_above(&p, CAUSE_PARTS);
	count_parts(&t->causes, &p,
		(struct cause_row){
			.kind = kind, .path = path, .late = late_number(c, late->traffic)},
		late, counted);
}

/* ---- for others -------------------------------------------------------------------------- */

void traffic_cause(struct traffic *t, uint32_t path, enum wait_kind kind, struct traffic *late,
	uint32_t thread, uint64_t from, uint64_t to, struct cause_parts *counted)
{
	struct lately *l = late->lately;

	counted->n = 0;
	while (l && l->thread != thread)
		l = l->next;
	if (t->all_causes)
		causes_add(t->all_causes, t, path, kind, l, from, to, counted);
}

void traffic_cause_back(struct traffic *t, const struct cause_parts *counted)
{
	for (uint32_t i = 0; i < counted->n; i++)
		t->causes.at[counted->at[i].row].ticks -= counted->at[i].ticks;
}

bool traffic_cause_row(const struct traffic *t, size_t i, struct traffic_cause_row *to)
{
	const struct cause_row *row = i < t->causes.n ? &t->causes.at[i] : NULL;
	const struct traffic *late;

	if (!row)
		return false;
	late = late_of(t->all_causes, row->late);
	*to = (struct traffic_cause_row){.kind = row->kind,
		.node = path_node(t, row->path),
		.late = late,
		.late_node = late ? path_node(late, row->late_path) : NULL,
		.ticks = row->ticks};
	return true;
}
