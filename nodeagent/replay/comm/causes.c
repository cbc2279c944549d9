/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/causes.h"

#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/replay/comm/far.h"
#include "nodeagent/replay/comm/history.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/parts.h"
#include "nodeagent/replay/tree/activity.h"

#define ENDED_MOST 64 /* threads of a process that have ended, and of which calls are kept */
#define FAR	   ((uint32_t)1 << 31)
#define OTHER_JOB  ((uint32_t)1 << 30) /* with FAR: a number of far_late, not a rank */

struct causes {
	struct traffic **late; /* NULL: forgotten */
	size_t n, cap;
	uint32_t *far_late; /* names of ranks of other jobs on other nodes */
	size_t n_far_late, cap_far_late;
	struct map32 far_late_at; /* by these -> index */
	struct look_budget budget;
	struct histories *histories; /* or NULL */
	struct far_paths *far;
};

struct causes *causes_new(void)
{
	struct causes *c = xcalloc(1, sizeof(*c));

	c->budget = look_budget_full();
	c->far = far_paths_new();
	return c;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	far_paths_free(c->far);
	histories_free(c->histories);
	free(c->late);
	free(c->far_late);
	map32_free(&c->far_late_at);
	free(c);
}

void causes_begin_elsewhere(struct causes *c)
{
	if (!c->histories)
		c->histories = histories_new();
}

struct histories *causes_histories(struct causes *c)
{
	return c->histories;
}

struct far_paths *causes_far(struct causes *c)
{
	return c->far;
}

void causes_forget(struct causes *c, struct traffic *t)
{
	if (t->late_number)
		c->late[t->late_number - 1] = NULL;
	histories_forget(c->histories, t);
}

static const struct traffic *late_of(const struct causes *c, uint32_t number)
{
	return number & FAR ? NULL : c->late[number - 1];
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

uint32_t traffic_late_job(struct traffic *t, struct traffic *late)
{
	return t->all_causes ? FAR | late_number(t->all_causes, late) : UINT32_MAX;
}

const struct traffic *traffic_late_process(const struct traffic *t, uint32_t late)
{
	const uint32_t number = late & ~FAR;

	return t->all_causes && late & FAR && number && number <= t->all_causes->n
		       ? t->all_causes->late[number - 1]
		       : NULL;
}

uint32_t traffic_late_far(struct traffic *t, uint32_t name)
{
	struct causes *c = t->all_causes;
	const uint32_t *known = c ? map32_find(&c->far_late_at, name) : NULL;

	if (!c || (!known && c->n_far_late >= FAR_LATE_MAX))
		return UINT32_MAX;
	if (known)
		return FAR | OTHER_JOB | *known;
	map32_add(&c->far_late_at, name, (uint32_t)c->n_far_late);
	*LIST_ADD(c, far_late) = name;
	return FAR | OTHER_JOB | (uint32_t)(c->n_far_late - 1);
}

bool traffic_late_is_far(const struct traffic *t, uint32_t late, uint32_t *name)
{
	const uint32_t number = late & ~(FAR | OTHER_JOB);

	if (!t->all_causes || !(late & FAR) || !(late & OTHER_JOB) ||
		number >= t->all_causes->n_far_late)
		return false;
	*name = t->all_causes->far_late[number];
	return true;
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
	if (a->traffic->n_activities_ended >= ENDED_MOST && !a->n_held && !a->track->n_arrived) {
		drop_activity(a);
		return;
	}
	a->traffic->n_activities_ended++;
	a->root = calltree_root(past);
	a->calls = activity_end(a->calls, a->root);
	a->track = NULL;
}

size_t thread_activity_tell(const struct thread_activity *a, uint64_t from, uint64_t to,
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

uint32_t thread_activity_path(const struct thread_activity *a, struct node *n)
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

static void count_row(struct cause_rows *rows, const struct cause_row *like, uint64_t ticks,
	struct cause_parts *counted)
{
	const uint32_t row = row_of(rows, like);

	if (!row)
		return;
	rows->at[row - 1].ticks += ticks;
	if (counted) {
		counted->at[counted->n].row = row - 1;
		counted->at[counted->n++].ticks = ticks;
	}
}

static void count_parts(struct cause_rows *rows, const struct parts *p, struct cause_row like,
	const struct thread_activity *late, struct cause_parts *counted)
{
	for (unsigned i = 0; i < p->n; i++) {
		like.late_path = thread_activity_path(late, p->at[i].node);
		if (like.late_path)
			count_row(rows, &like, p->at[i].ticks, counted);
	}
}

bool causes_may_look(struct causes *c, uint64_t to)
{
	return look_budget_allows(&c->budget, to);
}

void causes_add(struct causes *c, struct traffic *t, uint32_t path, enum wait_kind kind,
	struct thread_activity *late, uint64_t from, uint64_t to, struct cause_parts *counted)
{
	struct parts p = {.n = 0};
	size_t steps;

	if (counted)
		counted->n = 0;
	if (!path || !late || ticks_between(from, to) < CAUSE_TICKS_LEAST ||
		!look_budget_allows(&c->budget, to))
		return;
	steps = thread_activity_tell(late, from, to, parts_add, &p);
	parts_few(&p, CAUSE_PARTS);
	look_budget_take(&c->budget, steps + p.steps);
	count_parts(&t->causes, &p,
		(struct cause_row){
			.kind = kind, .path = path, .late = late_number(c, late->traffic)},
		late, counted);
}

/* ---- of other nodes ---------------------------------------------------------------------- */

struct far_parts {
	struct {
		uint32_t path;
		uint64_t ticks;
	} at[HISTORY_PARTS];
	size_t n;
};

static void add_far_part(void *arg, uint32_t path, uint64_t ticks)
{
	struct far_parts *p = arg;
	size_t i = 0;

	while (i < p->n && p->at[i].path != path)
		i++;
	if (i == p->n) {
		if (!path || i == HISTORY_PARTS)
			return;
		p->n++;
		p->at[i].path = path;
		p->at[i].ticks = 0;
	}
	p->at[i].ticks += ticks;
}

/* The shortest that has a caller counts for that. False: there is none. */
static bool count_shortest_above(struct far_parts *p, const struct far_paths *paths)
{
	size_t shortest = p->n;
	uint32_t parent, above = 0;
	uint64_t ticks;

	for (size_t i = 0; i < p->n; i++) {
		if (!far_path(paths, p->at[i].path, &parent) || !parent)
			continue;
		if (shortest < p->n && p->at[shortest].ticks <= p->at[i].ticks)
			continue;
		shortest = i;
		above = parent;
	}
	if (shortest == p->n)
		return false;
	ticks = p->at[shortest].ticks;
	p->at[shortest] = p->at[--p->n];
	add_far_part(p, above, ticks);
	return true;
}

void traffic_cause_far(struct traffic *t, uint32_t path, enum wait_kind kind, uint32_t rank,
	const struct history_part *history, size_t n, uint64_t ticks, struct cause_parts *counted)
{
	struct cause_row like = {.kind = kind, .path = path, .late = FAR | rank};
	uint32_t name;
	struct far_parts p = {.n = 0};

	counted->n = 0;
	if (!t->all_causes || !path || ticks < CAUSE_TICKS_LEAST ||
		(rank >= OTHER_JOB && !traffic_late_is_far(t, rank, &name)))
		return;
	history_share(history, n, ticks, add_far_part, &p);
	while (p.n > CAUSE_PARTS && count_shortest_above(&p, t->all_causes->far))
		;
	for (size_t i = 0; i < p.n && counted->n < CAUSE_PARTS; i++) {
		like.late_path = p.at[i].path;
		count_row(&t->causes, &like, p.at[i].ticks, counted);
	}
}

/* ---- for others -------------------------------------------------------------------------- */

void traffic_cause(struct traffic *t, uint32_t path, enum wait_kind kind, struct traffic *late,
	uint32_t thread, uint64_t from, uint64_t to, struct cause_parts *counted)
{
	struct thread_activity *a = late->activities;

	counted->n = 0;
	if (ticks_between(from, to) < CAUSE_TICKS_LEAST)
		return;
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
		.far_rank = !(row->late & FAR)	    ? 0
			    : row->late & OTHER_JOB ? row->late
						    : row->late & ~FAR,
		.far_path = row->late & FAR ? row->late_path : 0,
		.ticks = row->ticks};
	return true;
}
