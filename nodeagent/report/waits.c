/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/waits.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/report.h"
#include "nodeagent/symbols/demangle.h"
#include "shm/construct.h"
#include "shm/locks.h"

ORDER_POINTERS_BY(by_place, struct profile_wait,
	RISING(stack) ?: RISING(kind) ?: FALLING(ns) ?: RISING(late) ?: RISING(late_thread) ?:
	RISING(late_stack))
ORDER_POINTERS_BY(by_rank, struct profile_wait,
	RISING(late) ?: ORDER(wait_is_of_threads(x->kind), wait_is_of_threads(y->kind)) ?:
	RISING(late_thread) ?: FALLING(ns) ?: RISING(stack) ?: RISING(kind) ?: RISING(late_stack))
ORDER_BY(place_by_time, struct wait_place, FALLING(ns) ?: RISING(stack) ?: RISING(kind))
ORDER_BY(cause_by_time, struct wait_cause, FALLING(ns) ?: RISING(rank) ?: RISING(thread))

static bool is_of(const struct wait_cause *c, const struct profile_wait *q)
{
	return c->rank == q->late && c->is_thread == wait_is_of_threads(q->kind) &&
	       c->thread == q->late_thread;
}

static void find_causes(struct waits *w, size_t n)
{
	qsort(w->rows, n, sizeof(*w->rows), by_rank);
	for (size_t i = 0; i < n; i++) {
		const struct profile_wait *q = w->rows[i];
		struct wait_cause *c = w->n_causes ? &w->causes[w->n_causes - 1] : NULL;

		if (!c || !is_of(c, q)) {
			c = &w->causes[w->n_causes++];
			*c = (struct wait_cause){.rank = q->late,
				.is_thread = wait_is_of_threads(q->kind),
				.thread = q->late_thread,
				.kind = q->kind,
				.stack = q->stack,
				.most_ns = q->ns};
		}
		c->calls += q->calls;
		c->ns += q->ns;
		w->ns += q->ns;
		w->rank_ns += c->is_thread ? 0 : q->ns;
	}
}

static void find_places(struct waits *w, size_t n)
{
	qsort(w->rows, n, sizeof(*w->rows), by_place);
	for (size_t i = 0; i < n; i++) {
		const struct profile_wait *q = w->rows[i];
		struct wait_place *at = w->n_places ? &w->places[w->n_places - 1] : NULL;

		if (!at || at->stack != q->stack || at->kind != q->kind) {
			at = &w->places[w->n_places++];
			*at = (struct wait_place){
				.kind = q->kind, .stack = q->stack, .late = &w->rows[i]};
		}
		at->calls += q->calls;
		at->ns += q->ns;
		at->error_ns += q->error_ns;
		w->error_ns += q->error_ns;
		at->n_late++;
	}
	qsort(w->places, w->n_places, sizeof(*w->places), place_by_time);
}

/* ---- what late ranks did ------------------------------------------------------------------ */

ORDER_BY(by_key, struct profile_wait, RISING(stack) ?: RISING(kind) ?: RISING(late))

/* The first row of causes[], which are sorted by them, that is not below this one. */
static size_t first_cause(const struct profile *p, const struct profile_wait *q)
{
	const struct profile_cause *c = p->causes;

	return LOWER_BOUND(i, 0, p->n_causes,
		by_key(
			&(struct profile_wait){
				.stack = c[i].stack, .kind = c[i].kind, .late = c[i].late},
			q) < 0);
}

static bool is_cause_of(const struct profile *p, size_t i, const struct profile_wait *q)
{
	const struct profile_cause *c = &p->causes[i];

	return i < p->n_causes && c->stack == q->stack && c->kind == q->kind && c->late == q->late;
}

ORDER_BY(activity_by_time, struct wait_activity, FALLING(ns) ?: RISING(late) ?: RISING(stack))

/* The time of the rows for one rank is shared out as that of the waits that were looked at. k: the
 * first row of it. */
static void share_out(
	struct waits *w, const struct profile *p, const struct wait_place *at, size_t k)
{
	const struct profile_wait *q = at->late[k];
	const size_t first = first_cause(p, q);
	double sum = 0.0, ns = 0.0;

	for (size_t i = k; i < at->n_late; i++)
		ns += at->late[i]->late == q->late ? (double)at->late[i]->ns : 0.0;

	for (size_t i = first; is_cause_of(p, i, q); i++)
		sum += (double)p->causes[i].ns;
	for (size_t i = first; is_cause_of(p, i, q) && sum > 0.0; i++)
		w->activities[w->n_activities++] = (struct wait_activity){.late = q->late,
			.stack = p->causes[i].activity,
			.ns = ns * (double)p->causes[i].ns / sum};
}

static bool is_first_of_rank(const struct wait_place *at, size_t k)
{
	return ALL(i, k, at->late[i]->late != at->late[k]->late);
}

ORDER_BY(activity_by_stack, struct wait_activity, RISING(stack))

/* Of all ranks together. It reorders them. */
static struct wait_activity greatest_of(struct wait_activity *all, size_t n)
{
	struct wait_activity most = {.late = PROFILE_ELSEWHERE};

	qsort(all, n, sizeof(*all), activity_by_stack);
	for (size_t i = 0; i < n;) {
		struct wait_activity sum = {.late = PROFILE_ELSEWHERE, .stack = all[i].stack};

		while (i < n && all[i].stack == sum.stack)
			sum.ns += all[i++].ns;
		if (sum.ns > most.ns)
			most = sum;
	}
	return most;
}

static void find_activities(struct waits *w, const struct profile *p)
{
	EACH(struct wait_place, at, w->places, w->n_places) {
		struct wait_activity *first = &w->activities[w->n_activities];

		for (size_t k = 0; k < at->n_late; k++)
			if (is_first_of_rank(at, k))
				share_out(w, p, at, k);
		at->activities = first;
		at->n_activities = (size_t)(&w->activities[w->n_activities] - first);
		at->most = greatest_of(first, at->n_activities);
		qsort(first, at->n_activities, sizeof(*first), activity_by_time);
	}
}

ORDER_BY(activity_by_rank, struct wait_activity, RISING(late) ?: RISING(stack))
ORDER_BY(cause_by_rank, struct wait_cause, RISING(rank) ?: RISING(is_thread))

/* The greatest activity of each late rank over all places. */
static void find_greatest(struct waits *w)
{
	const size_t n = w->n_activities;
	struct wait_activity *all = xmalloc((n + 1) * sizeof(*all));

	if (n)
		memcpy(all, w->activities, n * sizeof(*all));
	qsort(all, n, sizeof(*all), activity_by_rank);
	for (size_t i = 0; i < n;) {
		struct wait_activity sum = all[i++];
		const struct wait_cause like = {.rank = sum.late};
		struct wait_cause *c;

		while (i < n && !activity_by_rank(&all[i], &sum))
			sum.ns += all[i++].ns;
		c = bsearch(&like, w->causes, w->n_causes, sizeof(like), cause_by_rank);
		if (c && sum.ns > c->activity.ns)
			c->activity = sum;
	}
	free(all);
}

static bool is_wait_for_lock(const char *name)
{
	static const char *const names[] = {
#define NAME(kind, name, waits) [CONSTRUCT_##kind] = (name),
		CONSTRUCTS(NAME)
#undef NAME
	};
	static const enum construct kinds[] = {CONSTRUCT_CRITICAL_WAIT, CONSTRUCT_ORDERED_WAIT,
		CONSTRUCT_LOCK_WAIT, CONSTRUCT_ATOMIC_WAIT};
	const size_t bytes = strcspn(name, "@");

	return ANY(i, ARRAY_SIZE(kinds),
		strlen(names[kinds[i]]) == bytes && !strncmp(name, names[kinds[i]], bytes));
}

bool *waits_locks(const struct profile *p)
{
	bool *is_lock = xcalloc(p->n_names, sizeof(*is_lock));

	for (size_t i = 0; i < p->n_names; i++)
		is_lock[i] = is_wait_for_lock(p->names[i]);
	return is_lock;
}

static uint64_t lock_ns(const struct profile *p)
{
	bool *is_lock = waits_locks(p);
	uint64_t ns = 0;

	for (uint32_t i = 0; i < p->n_stacks; i++)
		if (is_lock[p->stacks[i].name])
			ns += p->stacks[i].excl_ns;
	free(is_lock);
	return ns;
}

static bool is_wanted(const struct profile_wait *q, enum waits_for which)
{
	return which & (wait_is_of_threads(q->kind) ? WAITS_FOR_THREADS : WAITS_FOR_RANKS);
}

bool waits_any(const struct profile *p, enum waits_for which)
{
	return ANY(i, p->n_waits, is_wanted(&p->waits[i], which));
}

void waits_of(const struct profile *p, enum waits_for which, uint32_t late, struct waits *w)
{
	const size_t most = p->n_waits;
	size_t n = 0;

	*w = (struct waits){.rows = xcalloc(most + 1, sizeof(*w->rows)),
		.places = xcalloc(most + 1, sizeof(*w->places)),
		.causes = xcalloc(most + 1, sizeof(*w->causes)),
		.activities = xcalloc(p->n_causes + 1, sizeof(*w->activities))};
	for (size_t i = 0; i < most; i++)
		if (is_wanted(&p->waits[i], which) &&
			(late == WAITS_ALL || p->waits[i].late == late))
			w->rows[n++] = &p->waits[i];
	find_causes(w, n);
	find_places(w, n);
	find_activities(w, p);
	find_greatest(w); /* causes are by rank still */
	qsort(w->causes, w->n_causes, sizeof(*w->causes), cause_by_time);
	for (size_t i = 0; i < p->n_rank_times; i++)
		w->mpi_ns += p->rank_times[i].all_mpi_ns;
	w->lock_ns = w->ns > w->rank_ns ? lock_ns(p) + locks_ns(p, false) : 0;
}

/* "omp_critical@heat.c:42" */
static bool is_construct(const char *name)
{
	return !strncmp(name, "omp_", 4) && strchr(name, '@');
}

const char *waits_function(const struct report *r, uint32_t late_stack)
{
	uint32_t at = late_stack ? late_stack - 1 : PROFILE_NONE;

	while (at != PROFILE_NONE && is_construct(r->p->names[r->p->stacks[at].name]))
		at = r->parent[at];
	return at == PROFILE_NONE ? NULL : r->cell[r->p->stacks[at].name];
}

void waits_done(struct waits *w)
{
	free(w->rows);
	free(w->places);
	free(w->causes);
	free(w->activities);
	*w = (struct waits){0};
}

/* ---- locks of the C library ---- */

const char *locks_kind_name(uint32_t kind)
{
	static const char *const names[] = {
#define NAME(kind, name) name,
		LOCK_KINDS(NAME)
#undef NAME
	};

	return names[kind];
}

char *locks_name(const struct report *r, const struct profile_lock *lock)
{
	const struct name_style style = name_style_of(r->c);
	const char *cxx = strstr(lock->name, ":_Z");
	char *raw, *shown, *name;
	size_t n;

	if (!cxx)
		return xstrdup(lock->name);
	n = strcspn(++cxx, "+");
	raw = xasprintf("%.*s", (int)n, cxx);
	shown = name_shown(raw, &style);
	name = xasprintf("%.*s%s%s", (int)(cxx - lock->name), lock->name, shown, cxx + n);
	free(shown);
	free(raw);
	return name;
}

bool locks_is_held(uint32_t kind)
{
	return kind == LOCK_MUTEX || kind == LOCK_RWLOCK || kind == LOCK_SPIN;
}

bool locks_is_holder_of(
	const struct profile *p, const struct profile_lock *h, const struct profile_lock *lock)
{
	return h < p->locks + p->n_locks && h->holder && h->kind == lock->kind &&
	       !strcmp(h->name, lock->name);
}

const struct profile_lock *locks_most_held(const struct profile *p, const struct profile_lock *lock)
{
	const struct profile_lock *most = NULL;

	for (const struct profile_lock *h = lock + 1; locks_is_holder_of(p, h, lock); h++)
		if (!most || h->ns > most->ns)
			most = h;
	return most;
}

uint64_t locks_ns(const struct profile *p, bool held)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->n_locks; i++)
		if (!p->locks[i].holder && (!held || locks_is_held(p->locks[i].kind)))
			ns += p->locks[i].ns;
	return ns;
}
