/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/openmp/locks.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

struct interval {
	uint64_t from, to;
	struct lock_place at;
};

struct intervals {
	struct interval *at;
	size_t n, cap;
};

struct lock {
	uint32_t number; /* 0: unused */
	uint32_t next_free;
	enum lock_hold how;
	bool idle;     /* nothing came since it was settled last */
	bool unsorted; /* holds */
	struct intervals waits, holds;
};

#define GROW_MORE   1024u /* lists of so many grow by a 16th, shorter ones by half */
#define SHRINK_MORE 16u	  /* lists with room for so many stay as they are, unless they are empty */

#define HOLDERS	     64u /* of one wait that are summed up, a power of two */
#define PROBES	     8u
#define SETTLE_PART  8u	   /* so much of what is kept is new, if it is to be settled ... */
#define SETTLE_FEW   1024u /* ... and more than this */
#define SETTLE_TICKS ((uint64_t)1 << 30)

/* Steps over times in which a lock was held, for each wait or such a time that was told: threads
 * that may want a lock at once. */
#define STEPS_EACH 256u
#define STEPS_MAX  (1u << 22)

struct locks {
	locks_found *found;
	locks_lay *lay; /* or NULL */
	void *ctx;
	struct map32 at; /* number -> all[] */
	struct lock *all;
	size_t n_all, cap_all, n_used;
	uint32_t free;	  /* 1 + index of one that is unused, or 0 */
	size_t room;	  /* intervals for which there is memory, of all locks */
	size_t n_new;	  /* told since it was settled last */
	uint64_t settled; /* until then */
	size_t steps;	  /* that may be made */
	uint32_t threads; /* 1 + the highest number, at most LOCKS_THREADS */
	/* by number: the last end that it told of, or 0; whether that was since there was no room
	 */
	uint64_t told[LOCKS_THREADS];
	bool lately[LOCKS_THREADS];
	bool cut;
	/* of one wait, while it is looked at: slots in use, and these */
	uint32_t number; /* of the lock */
	size_t n_holders;
	uint8_t used[HOLDERS];
	struct holder {
		struct lock_place at;
		uint64_t ticks; /* 0: unused */
	} holders[HOLDERS];
};

struct locks *locks_new(locks_found *fn, void *ctx)
{
	struct locks *l = xcalloc(1, sizeof(*l));

	l->found = fn;
	l->ctx = ctx;
	l->threads = 1;
	return l;
}

void locks_tell_parts(struct locks *l, locks_lay *fn)
{
	l->lay = fn;
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_all; i++) {
		free(l->all[i].waits.at);
		free(l->all[i].holds.at);
	}
	free(l->all);
	map32_free(&l->at);
	free(l);
}

bool locks_pending(const struct locks *l)
{
	return l->n_used;
}

bool locks_cut(const struct locks *l)
{
	return l->cut;
}

/* ---- what is kept ----------------------------------------------------------------- */

static void set_room(struct locks *l, struct intervals *list, size_t cap)
{
	l->room += cap - list->cap;
	list->cap = cap;
	if (cap) {
		list->at = xrealloc(list->at, cap * sizeof(*list->at));
		return;
	}
	free(list->at);
	list->at = NULL;
}

static void add_interval(struct locks *l, struct intervals *list, struct interval i)
{
	if (list->n == list->cap)
		set_room(l, list, list->cap + list->cap / (list->cap < GROW_MORE ? 2 : 16) + 4);
	list->at[list->n++] = i;
}

static struct lock *new_lock(struct locks *l, uint32_t number)
{
	uint32_t i = l->free;
	struct lock *lock;

	if (i) {
		lock = &l->all[i - 1];
		l->free = lock->next_free;
	} else {
		lock = LIST_ADD(l, all);
		i = (uint32_t)l->n_all;
	}
	*lock = (struct lock){.number = number};
	map32_add(&l->at, number, i - 1);
	l->n_used++;
	return lock;
}

/* NULL: there are too many. */
static struct lock *lock_at(struct locks *l, uint32_t number)
{
	const uint32_t *known = map32_find(&l->at, number);

	if (known)
		return &l->all[*known];
	return l->n_used < LOCKS_MAX ? new_lock(l, number) : NULL;
}

static void drop_lock(struct locks *l, struct lock *lock)
{
	map32_remove(&l->at, lock->number);
	set_room(l, &lock->waits, 0);
	set_room(l, &lock->holds, 0);
	*lock = (struct lock){.next_free = l->free};
	l->free = (uint32_t)(lock - l->all) + 1;
	l->n_used--;
}

static void settle_all(struct locks *l, uint64_t ticks);

static bool is_full(const struct locks *l)
{
	return l->room >= (size_t)l->threads * LOCKS_PER_THREAD;
}

/* The thread whose last end is the earliest, or LOCKS_THREADS: none has told of one. */
static uint32_t earliest(const struct locks *l)
{
	uint32_t at = LOCKS_THREADS;

	for (uint32_t i = 0; i < l->threads; i++)
		if (l->told[i] && (at == LOCKS_THREADS || l->told[i] < l->told[at]))
			at = i;
	return at;
}

/*
 * Some thread tells of nothing, and all would wait for it. Those that tell of locks were read as
 * far as they have told; if that is not enough, those that have told of none for longest are taken
 * to have none. If they have told of one lately, that may be wrong.
 */
static void make_room(struct locks *l)
{
	const size_t most = (size_t)l->threads * LOCKS_PER_THREAD / 4 * 3;
	uint32_t i;

	while ((i = earliest(l)) < LOCKS_THREADS) {
		settle_all(l, l->told[i]);
		if (l->room < most)
			break;
		l->cut |= l->lately[i];
		l->told[i] = 0;
	}
	memset(l->lately, 0, sizeof(l->lately));
	if (is_full(l)) {
		l->cut = true;
		settle_all(l, UINT64_MAX);
	}
}

/* Room for one more interval of this lock, until then, or NULL. */
static struct lock *room_for(struct locks *l, uint32_t number, uint32_t thread, uint64_t to)
{
	struct lock *lock;

	if (thread >= l->threads)
		l->threads = thread < LOCKS_THREADS ? thread + 1 : LOCKS_THREADS;
	if (is_full(l))
		make_room(l);
	if (thread < LOCKS_THREADS) {
		l->told[thread] = to;
		l->lately[thread] = true;
	}
	lock = number ? lock_at(l, number) : NULL;
	if (!lock) {
		l->cut |= number != 0;
		return NULL;
	}
	lock->idle = false;
	l->n_new++;
	if (l->steps < STEPS_MAX)
		l->steps += STEPS_EACH;
	return lock;
}

void locks_waited(
	struct locks *l, uint32_t number, struct lock_place at, uint64_t from, uint64_t to)
{
	struct lock *lock;

	if (to <= from || to - from < LOCKS_LEAST_TICKS)
		return;
	lock = room_for(l, number, at.thread, to);
	if (lock)
		add_interval(l, &lock->waits, (struct interval){from, to, at});
}

void locks_held(struct locks *l, uint32_t number, struct lock_place at, enum lock_hold how,
	uint64_t from, uint64_t to)
{
	struct lock *lock = to > from ? room_for(l, number, at.thread, to) : NULL;

	if (!lock)
		return;
	lock->how = how;
	lock->unsorted = true;
	add_interval(l, &lock->holds, (struct interval){from, to, at});
}

/* ---- who had it ------------------------------------------------------------------- */

ORDER_BY(by_begin, struct interval, RISING(from) ?: RISING(to))
ORDER_BY(by_end, struct interval, RISING(to) ?: RISING(from))

static uint64_t end_of(const struct lock *k, size_t i)
{
	const uint64_t to = k->holds.at[i].to;

	if (k->how == LOCK_UNTIL_THEN || i + 1 == k->holds.n || k->holds.at[i + 1].from > to)
		return to;
	return k->holds.at[i + 1].from;
}

static uint64_t begin_of(const struct lock *k, size_t i)
{
	const uint64_t from = k->holds.at[i].from, before = i ? end_of(k, i - 1) : 0;

	if (k->how == LOCK_IN_ITS_TURN)
		return before; /* all waits that are left began after those that are gone */
	return from < before ? before : from;
}

/* The first hold that ends after these ticks. */
static size_t first_after(const struct lock *k, uint64_t ticks)
{
	return LOWER_BOUND(i, 0, k->holds.n, end_of(k, i) <= ticks);
}

/* What of wait w lies in hold i; false: nothing. */
static bool overlap(
	const struct lock *k, size_t i, const struct interval *w, struct lock_part *part)
{
	const uint64_t begin = begin_of(k, i), end = end_of(k, i);

	part->holder = k->holds.at[i].at;
	part->from = begin > w->from ? begin : w->from;
	part->to = end < w->to ? end : w->to;
	return part->to > part->from && part->holder.thread != w->at.thread;
}

/* Sums up what one thread had the lock at one place; if there are many, not all of it. */
static void add_holder(
	struct locks *l, const struct interval *w, struct lock_place at, uint64_t ticks)
{
	const uint64_t hash = ((uint64_t)at.thread << 32 | at.path) * 0x9e3779b97f4a7c15u;

	for (unsigned k = 0; k < PROBES; k++) {
		const unsigned slot = (unsigned)((hash >> 58) + k) % HOLDERS;
		struct holder *h = &l->holders[slot];

		if (!h->ticks) {
			*h = (struct holder){.at = at};
			l->used[l->n_holders++] = (uint8_t)slot;
		}
		if (h->at.thread == at.thread && h->at.path == at.path) {
			h->ticks += ticks;
			return;
		}
	}
	l->found(l->ctx,
		&(struct lock_blame){
			.number = l->number, .waiter = w->at, .holder = at, .ticks = ticks});
}

_Static_assert(HOLDERS == 1u << (64 - 58), "add_holder() takes the upper bits");

static void tell_holders(struct locks *l, const struct interval *w)
{
	const struct holder *longest = &l->holders[l->n_holders ? l->used[0] : 0];

	for (size_t i = 0; i < l->n_holders; i++)
		if (l->holders[l->used[i]].ticks > longest->ticks)
			longest = &l->holders[l->used[i]];
	for (size_t i = 0; i < l->n_holders; i++) {
		const struct holder *h = &l->holders[l->used[i]];

		l->found(l->ctx, &(struct lock_blame){.number = l->number,
					 .waiter = w->at,
					 .holder = h->at,
					 .calls = h == longest,
					 .ticks = h->ticks});
	}
	for (; l->n_holders; l->n_holders--)
		l->holders[l->used[l->n_holders - 1]].ticks = 0;
}

static void blame(struct locks *l, const struct lock *k, const struct interval *w)
{
	struct lock_part part = {.number = k->number, .waiter = w->at};

	l->number = k->number;
	for (size_t i = first_after(k, w->from); i < k->holds.n && begin_of(k, i) < w->to; i++) {
		if (!l->steps) {
			l->cut = true;
			break;
		}
		l->steps--;
		if (!overlap(k, i, w, &part))
			continue;
		add_holder(l, w, part.holder, part.to - part.from);
		if (l->lay)
			l->lay(l->ctx, &part);
		part.goes_on = true;
	}
	tell_holders(l, w);
}

/* The intervals of a list that end after these ticks stay. */
static void keep_after(struct locks *l, struct intervals *list, uint64_t ticks)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (list->at[i].to > ticks)
			list->at[kept++] = list->at[i];
	list->n = kept;
	if (!kept || (list->cap > SHRINK_MORE && kept < list->cap / 4))
		set_room(l, list, kept);
}

static void sort_holds(struct lock *k)
{
	if (k->unsorted)
		qsort(k->holds.at, k->holds.n, sizeof(*k->holds.at),
			k->how == LOCK_UNTIL_THEN ? by_end : by_begin);
	k->unsorted = false;
}

/* Waits that ended until then are over. */
static void settle_lock(struct locks *l, struct lock *k, uint64_t ticks)
{
	uint64_t needed = ticks;

	for (size_t i = 0; i < k->waits.n; i++) {
		if (k->waits.at[i].to > ticks)
			continue;
		sort_holds(k);
		blame(l, k, &k->waits.at[i]);
	}
	keep_after(l, &k->waits, ticks);
	for (size_t i = 0; i < k->waits.n; i++)
		if (k->waits.at[i].from < needed)
			needed = k->waits.at[i].from;
	keep_after(l, &k->holds, needed);
}

/* What ended until then is over. */
static void settle_all(struct locks *l, uint64_t ticks)
{
	size_t left = l->n_used;

	l->n_new = 0;
	for (size_t i = 0; left; i++) {
		struct lock *k = &l->all[i];

		if (!k->number)
			continue;
		left--;
		if (k->idle && !k->waits.n && !k->holds.n) {
			drop_lock(l, k);
			continue;
		}
		settle_lock(l, k, ticks);
		k->idle = true;
	}
}

/* All that is kept is looked at: not each time that a little is new. */
static bool is_worth_it(const struct locks *l, uint64_t ticks)
{
	const size_t all = l->room + l->n_all;

	return all <= SETTLE_FEW || l->n_new >= all / SETTLE_PART ||
	       (ticks > l->settled && ticks - l->settled >= SETTLE_TICKS);
}

void locks_settle(struct locks *l, uint64_t ticks)
{
	const uint64_t late = ticks < LOCKS_LATE_TICKS ? 0 : ticks - LOCKS_LATE_TICKS;

	if (ticks == UINT64_MAX) {
		settle_all(l, ticks);
	} else if (is_worth_it(l, late)) {
		settle_all(l, late);
		l->settled = late;
	}
}
