/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/window/far-locks.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

struct far_group {
	uint64_t id, job;
	uint32_t *ranks; /* in the job, ascending */
	size_t n;
};

struct far_locks {
	struct far_lock *locks;
	size_t n_locks, cap_locks;
	struct far_group *groups;
	size_t n_groups, cap_groups;
	size_t n_ranks;	       /* of all groups */
	struct match_table at; /* by id and job -> index of a group, and 1 */
	size_t n_sorted;       /* all, or 0: they are in no order */
	uint64_t longest;      /* ticks of an epoch; when sorted */
	uint64_t looks;	       /* of far_locks_compare() */
};

struct far_locks *far_locks_new(void)
{
	return xcalloc(1, sizeof(struct far_locks));
}

void far_locks_free(struct far_locks *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_groups; i++)
		free(f->groups[i].ranks);
	free(f->groups);
	free(f->locks);
	match_table_free(&f->at);
	free(f);
}

/* ---- groups ------------------------------------------------------------------------------ */

ORDER_BY(by_number, uint32_t, ORDER(*x, *y))

/* 1 + its index; 0: there is no room. */
static size_t group_of(struct far_locks *f, const struct far_lock_comm *c)
{
	const size_t known = (size_t)(uintptr_t)match_table_find(&f->at, c->id, c->job);
	struct far_group *g;

	if (known || f->n_groups >= FAR_LOCK_GROUPS_MAX ||
		c->size > FAR_LOCK_RANKS_MAX - f->n_ranks)
		return known;
	g = LIST_ADD(f, groups);
	*g = (struct far_group){
		.id = c->id, .job = c->job, .ranks = xcalloc(c->size + 1u, sizeof(*g->ranks))};
	for (uint32_t r = 0; r < c->size; r++)
		g->ranks[g->n++] = c->world(c->comm, r);
	qsort(g->ranks, g->n, sizeof(*g->ranks), by_number);
	f->n_ranks += g->n;
	match_table_add(&f->at, c->id, c->job, (void *)(uintptr_t)f->n_groups);
	return f->n_groups;
}

void far_locks_members(
	const struct far_locks *f, void (*tell)(void *arg, uint64_t job, uint32_t world), void *arg)
{
	for (size_t i = 0; i < f->n_groups; i++)
		for (size_t k = 0; k < f->groups[i].n; k++)
			tell(arg, f->groups[i].job, f->groups[i].ranks[k]);
}

bool far_locks_has(const struct far_locks *f, uint32_t group, uint64_t job, uint32_t world)
{
	const struct far_group *g = &f->groups[group];

	return g->job == job && bsearch(&world, g->ranks, g->n, sizeof(world), by_number) != NULL;
}

uint64_t far_locks_job(const struct far_locks *f, uint32_t group)
{
	return f->groups[group].job;
}

/* ---- epochs -------------------------------------------------------------------------------- */

/* Windows of two jobs may have one identity. */
static uint64_t window_identity(uint64_t window, uint64_t job)
{
	const uint64_t h = (window ^ job << 1) * 0x9e3779b97f4a7c15u;

	return (h ^ h >> 32) * 0xd6e8feb86659fd93u;
}

void far_locks_add(struct far_locks *f, const struct far_lock *like, const struct far_lock_comm *of)
{
	const size_t group = f->n_locks < FAR_LOCKS_MAX ? group_of(f, of) : 0;
	struct far_lock *l;

	if (!group)
		return;
	l = LIST_ADD(f, locks);
	*l = *like;
	l->is.window = window_identity(like->is.window, of->job);
	l->group = (uint32_t)group - 1;
	f->n_sorted = 0;
}

void far_locks_forget(struct far_locks *f, const struct traffic *t)
{
	for (size_t i = 0; f && i < f->n_locks; i++)
		if (f->locks[i].whose == t)
			f->locks[i].whose = NULL;
}

const struct far_lock *far_locks_all(const struct far_locks *f, size_t *n)
{
	*n = f->n_locks;
	return f->locks;
}

/* ---- who has waited ------------------------------------------------------------------------ */

ORDER_BY(by_window_and_end, struct far_lock,
	RISING(is.window) ?: ORDER((int64_t)(x->is.last.leave - y->is.last.leave), 0))

static void sort_locks(struct far_locks *f)
{
	if (f->n_sorted == f->n_locks)
		return;
	qsort(f->locks, f->n_locks, sizeof(*f->locks), by_window_and_end);
	f->n_sorted = f->n_locks;
	for (size_t i = 0; i < f->n_locks; i++) {
		const struct lock_epoch *e = &f->locks[i].is;
		const int64_t ticks = (int64_t)(e->last.leave - e->began);

		f->longest = ticks > (int64_t)f->longest ? (uint64_t)ticks : f->longest;
	}
}

/* The first one of a window that ended at `from` or later. */
static size_t first_after(const struct far_locks *f, uint64_t window, uint64_t from)
{
	const struct far_lock *l = f->locks;

	return LOWER_BOUND(i, 0, f->n_locks,
		l[i].is.window < window ||
			(l[i].is.window == window && (int64_t)(l[i].is.last.leave - from) < 0));
}

void far_locks_compare(struct far_locks *f, const struct lock_epoch *other, uint64_t error,
	void (*waited)(void *arg, const struct lock_epoch *a, const struct lock_call *call,
		const struct lock_epoch *b),
	void *arg)
{
	struct lock_epoch b = *other;

	sort_locks(f);
	b.had_at += error; /* within that nobody knows who was the first */
	for (size_t i = first_after(f, b.window, b.began); i < f->n_locks; i++) {
		const struct far_lock *a = &f->locks[i];

		if (a->is.window != b.window || f->looks >= FAR_LOCK_LOOKS_MAX ||
			(int64_t)(a->is.last.leave - f->longest - b.last.leave) > 0)
			return;
		f->looks++;
		if (a->whose)
			lock_epoch_compare(&a->is, &b, waited, arg);
	}
}
