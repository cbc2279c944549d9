/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/causes.h"

#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/tree/activity.h"

/*
 * To look at one call is a step, of some 5 ns. The agent makes on average one in TICKS_OF_STEP
 * ticks, and at most STEPS_MOST in advance; a wait that took more is made up for by later ones.
 */
#define TICKS_OF_STEP 4096u
#define STEPS_MOST    ((int64_t)1 << 18)
#define STEPS_OF_WAIT 16

#define PARTS_MOST  32 /* while a wait is looked at */
#define ENDED_MOST  64 /* threads of a process that have ended, and of which calls are kept */
#define SMALLEST_OF 32 /* of the time of a wait: parts below 1 / so much go first */

struct causes {
	struct traffic **late; /* NULL: forgotten */
	size_t n, cap;
	int64_t steps;	/* that may be made now; below 0: were made in advance */
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
		c->steps = more < (uint64_t)(STEPS_MOST - c->steps) ? c->steps + (int64_t)more
								    : STEPS_MOST;
		c->until = now;
	}
	return c->steps > 0;
}

/* ---- what a thread did -------------------------------------------------------------------- */

struct thread_activity {
	struct traffic *traffic;
	struct traffic_track *track; /* NULL: it has ended ... */
	struct node *root;	     /* ... and this is the root of its tree */
	uint32_t thread;
	struct activity *calls; /* its last ones */
	traffic_activity *tell;
	void *ctx;
	size_t n_held;			      /* thread_activity_hold() */
	struct thread_activity *next, **link; /* what leads here */
};

bool traffic_asks_activity(const struct traffic_track *l)
{
	return l->traffic->all_causes && l->traffic->conf->mpi_waits;
}

struct activity *traffic_track_activity(
	struct traffic_track *l, traffic_activity *fn, void *ctx, uint64_t ticks)
{
	struct thread_activity *now = xmalloc(sizeof(*now));

	*now = (struct thread_activity){.traffic = l->traffic,
		.track = l,
		.thread = l->number,
		.calls = activity_new(ticks),
		.tell = fn,
		.ctx = ctx,
		.next = l->traffic->activities,
		.link = &l->traffic->activities};
	if (now->next)
		now->next->link = &now->next;
	l->activity = l->traffic->activities = now;
	return now->calls;
}

static void drop_activity(struct thread_activity *a)
{
	*a->link = a->next;
	if (a->next)
		a->next->link = a->link;
	free(a->calls);
	free(a);
}

struct thread_activity *thread_activity_hold(struct thread_activity *a)
{
	if (a)
		a->n_held++;
	return a;
}

void thread_activity_let_go(struct thread_activity *a)
{
	if (!a || --a->n_held || a->track || a->traffic->n_activities_ended <= ENDED_MOST)
		return;
	a->traffic->n_activities_ended--;
	drop_activity(a);
}

void thread_activity_end(struct thread_activity *a, struct calltree *past)
{
	if (a->traffic->n_activities_ended >= ENDED_MOST && !a->n_held) {
		drop_activity(a);
		return;
	}
	a->traffic->n_activities_ended++;
	a->root = calltree_root(past);
	a->calls = activity_end(a->calls, a->root);
	a->track = NULL;
}

static size_t tell_activity(const struct thread_activity *a, uint64_t from, uint64_t to,
	activity_stretch *stretch, void *arg)
{
	struct activity *calls = a->calls;
	const struct activity_open root = {a->root, 0};

	if (a->track)
		return a->tell(a->ctx, from, to, stretch, arg);
	return calls->n ? activity_walk(calls, &root, 1, calls->at[calls->n - 1].until, from, to,
				  stretch, arg)
			: 0;
}

static uint32_t path_of(const struct thread_activity *a, struct node *n)
{
	return a->track ? path_number(a->track, n) : path_number_past(a->traffic, n);
}

void causes_of_process_free(struct traffic *t)
{
	for (struct thread_activity *a = t->activities, *next; a; a = next) {
		next = a->next;
		free(a->calls);
		free(a);
	}
	free(t->causes.at);
	match_table_free(&t->causes.by_key);
}

/* ---- one wait ------------------------------------------------------------------------------ */

struct parts {
	struct part {
		struct node *node;
		uint64_t ticks;
		uint32_t depth;
		bool stays;
	} at[PARTS_MOST];
	unsigned n;
	uint64_t ticks; /* of all */
	int64_t steps;	/* made to put them together */
};

static struct part *part_of(struct parts *p, const struct node *n)
{
	for (unsigned i = p->n; i--;)
		if (p->at[i].node == n)
			return &p->at[i];
	return NULL;
}

static struct part *deepest_of(struct parts *p)
{
	struct part *deepest = NULL;

	for (unsigned i = 0; i < p->n; i++)
		if (!p->at[i].stays && (!deepest || p->at[i].depth > deepest->depth))
			deepest = &p->at[i];
	return deepest;
}

/*
 * What is below `least` counts for its caller, and with others there for the caller of that, until
 * it is enough or at the root.
 */
static void count_small_above(struct parts *p, uint64_t least)
{
	struct part *small, *above;

	for (unsigned i = 0; i < p->n; i++)
		p->at[i].stays = false;
	for (; (small = deepest_of(p)); p->steps++) {
		if (small->ticks >= least || !small->node->parent) {
			small->stays = true;
		} else if ((above = part_of(p, small->node->parent))) {
			above->ticks += small->ticks;
			*small = p->at[--p->n];
		} else {
			small->node = small->node->parent;
			small->depth--;
		}
	}
}

static uint32_t depth_of(const struct node *n)
{
	uint32_t depth = 0;

	while ((n = n->parent))
		depth++;
	return depth;
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
	if (p->n == PARTS_MOST) /* then fewer than 16 are that large, and there is the root */
		count_small_above(p, p->ticks / (PARTS_MOST / 2) + 1);
	p->at[p->n++] = (struct part){.node = n, .ticks = ticks, .depth = depth_of(n)};
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
	const struct thread_activity *late, struct cause_parts *counted)
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
	struct thread_activity *late, uint64_t from, uint64_t to, struct cause_parts *counted)
{
	struct parts p = {.n = 0};

	if (counted)
		counted->n = 0;
	if (!path || !late || ticks_between(from, to) < CAUSE_TICKS_LEAST || !may_look(c, to))
		return;
	c->steps -= (int64_t)tell_activity(late, from, to, add_part, &p) + STEPS_OF_WAIT;
	/* below a quarter: fewer than 4 stay, and the root */
	for (uint64_t of = SMALLEST_OF; p.n > CAUSE_PARTS; of /= 2)
		count_small_above(&p, p.ticks / of + 1);
	c->steps -= p.steps;
	count_parts(&t->causes, &p,
		(struct cause_row){
			.kind = kind, .path = path, .late = late_number(c, late->traffic)},
		late, counted);
}

/* ---- for others -------------------------------------------------------------------------- */

void traffic_cause(struct traffic *t, uint32_t path, enum wait_kind kind, struct traffic *late,
	uint32_t thread, uint64_t from, uint64_t to, struct cause_parts *counted)
{
	struct thread_activity *a = late->activities;

	counted->n = 0;
	while (a && a->thread != thread)
		a = a->next;
	if (t->all_causes)
		causes_add(t->all_causes, t, path, kind, a, from, to, counted);
}

void traffic_cause_back(struct traffic *t, const struct cause_parts *counted)
{
	/* another process may have been where t is now, if that lied */
	for (uint32_t i = 0; i < counted->n && counted->at[i].row < t->causes.n; i++)
		t->causes.at[counted->at[i].row].ticks -= counted->at[i].ticks;
}

void traffic_cause_is(struct traffic *t, struct cause_parts *counted, enum wait_kind kind)
{
	for (uint32_t i = 0; i < counted->n && counted->at[i].row < t->causes.n; i++) {
		struct cause_row *row = &t->causes.at[counted->at[i].row], like = *row;
		const uint64_t ticks = counted->at[i].ticks;
		uint32_t to;

		row->ticks -= ticks;
		like.kind = kind;
		like.ticks = 0;
		to = row_of(&t->causes, &like);
		if (!to) {
			counted->at[i].ticks = 0;
			continue;
		}
		t->causes.at[to - 1].ticks += ticks;
		counted->at[i].row = to - 1;
	}
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
