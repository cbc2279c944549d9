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

struct lock {
	uint32_t number; /* 0: unused */
	uint32_t next_free;
	enum lock_hold how;
	bool idle; /* nothing came since it was settled last */
	struct interval *waits, *holds;
	size_t n_waits, cap_waits, n_holds, cap_holds;
};

struct locks {
	locks_found *found;
	void *ctx;
	struct map32 at; /* number -> all[] */
	struct lock *all;
	size_t n_all, cap_all, n_used;
	uint32_t free; /* 1 + index of one that is unused, or 0 */
	size_t n_intervals;
	uint32_t threads; /* 1 + the highest number, at most LOCKS_THREADS */
	/* by number: the last end that it told of, or 0; whether that was since there was no room
	 */
	uint64_t told[LOCKS_THREADS];
	bool lately[LOCKS_THREADS];
	bool cut;
};

struct locks *locks_new(locks_found *fn, void *ctx)
{
	struct locks *l = xcalloc(1, sizeof(*l));

	l->found = fn;
	l->ctx = ctx;
	l->threads = 1;
	return l;
}

void locks_free(struct locks *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n_all; i++) {
		free(l->all[i].waits);
		free(l->all[i].holds);
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
	free(lock->waits);
	free(lock->holds);
	*lock = (struct lock){.next_free = l->free};
	l->free = (uint32_t)(lock - l->all) + 1;
	l->n_used--;
}

static void settle_all(struct locks *l, uint64_t ticks);

static bool is_full(const struct locks *l)
{
	return l->n_intervals >= (size_t)l->threads * LOCKS_PER_THREAD;
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
 * far as they have told; if that is not enough, the one that has told of none for longest is taken
 * to have none. If it has told of one lately, that may be wrong.
 */
static void make_room(struct locks *l)
{
	const size_t most = (size_t)l->threads * LOCKS_PER_THREAD / 4 * 3;
	uint32_t i;

	while ((i = earliest(l)) < LOCKS_THREADS) {
		settle_all(l, l->told[i]);
		if (l->n_intervals < most)
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
	l->n_intervals++;
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
		*LIST_ADD(lock, waits) = (struct interval){from, to, at};
}

void locks_held(struct locks *l, uint32_t number, struct lock_place at, enum lock_hold how,
	uint64_t from, uint64_t to)
{
	struct lock *lock = to > from ? room_for(l, number, at.thread, to) : NULL;

	if (!lock)
		return;
	lock->how = how;
	*LIST_ADD(lock, holds) = (struct interval){from, to, at};
}

/* ---- who had it ------------------------------------------------------------------- */

ORDER_BY(by_begin, struct interval, RISING(from) ?: RISING(to))
ORDER_BY(by_end, struct interval, RISING(to) ?: RISING(from))

static uint64_t end_of(const struct lock *k, size_t i)
{
	const uint64_t to = k->holds[i].to;

	if (k->how == LOCK_UNTIL_THEN || i + 1 == k->n_holds || k->holds[i + 1].from > to)
		return to;
	return k->holds[i + 1].from;
}

static uint64_t begin_of(const struct lock *k, size_t i)
{
	const uint64_t from = k->holds[i].from, before = i ? end_of(k, i - 1) : 0;

	if (k->how == LOCK_IN_ITS_TURN)
		return before; /* all waits that are left began after those that are gone */
	return from < before ? before : from;
}

/* The first hold that ends after these ticks. */
static size_t first_after(const struct lock *k, uint64_t ticks)
{
	size_t low = 0, high = k->n_holds;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (end_of(k, middle) > ticks)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* What of wait w lies in hold i. */
static uint64_t overlap(const struct lock *k, size_t i, const struct interval *w)
{
	const uint64_t begin = begin_of(k, i), end = end_of(k, i);
	const uint64_t from = begin > w->from ? begin : w->from, to = end < w->to ? end : w->to;

	return to > from && k->holds[i].at.thread != w->at.thread ? to - from : 0;
}

static void blame(const struct locks *l, const struct lock *k, const struct interval *w)
{
	const size_t first = first_after(k, w->from);
	size_t longest = first;
	uint64_t most = 0;

	for (size_t i = first; i < k->n_holds && begin_of(k, i) < w->to; i++) {
		const uint64_t ticks = overlap(k, i, w);

		if (ticks > most) {
			longest = i;
			most = ticks;
		}
	}
	for (size_t i = first; most && i < k->n_holds && begin_of(k, i) < w->to; i++) {
		const uint64_t ticks = overlap(k, i, w);

		if (ticks)
			l->found(l->ctx, &(struct lock_blame){.waiter = w->at,
						 .holder = k->holds[i].at,
						 .calls = i == longest,
						 .ticks = ticks});
	}
}

/* The intervals of a list that end after these ticks stay. */
static size_t keep_after(struct interval *list, size_t n, uint64_t ticks)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (list[i].to > ticks)
			list[kept++] = list[i];
	return kept;
}

/* Waits that ended until then are over. */
static void settle_waits(const struct locks *l, struct lock *k, uint64_t ticks)
{
	bool sorted = false;

	for (size_t i = 0; i < k->n_waits; i++) {
		if (k->waits[i].to > ticks)
			continue;
		if (!sorted)
			qsort(k->holds, k->n_holds, sizeof(*k->holds),
				k->how == LOCK_UNTIL_THEN ? by_end : by_begin);
		sorted = true;
		blame(l, k, &k->waits[i]);
	}
	k->n_waits = keep_after(k->waits, k->n_waits, ticks);
}

static void settle_lock(struct locks *l, struct lock *k, uint64_t ticks)
{
	uint64_t needed = ticks;

	l->n_intervals -= k->n_waits + k->n_holds;
	settle_waits(l, k, ticks);
	for (size_t i = 0; i < k->n_waits; i++)
		if (k->waits[i].from < needed)
			needed = k->waits[i].from;
	k->n_holds = keep_after(k->holds, k->n_holds, needed);
	l->n_intervals += k->n_waits + k->n_holds;
}

/* What ended until then is over. */
static void settle_all(struct locks *l, uint64_t ticks)
{
	size_t left = l->n_used;

	for (size_t i = 0; left; i++) {
		struct lock *k = &l->all[i];

		if (!k->number)
			continue;
		left--;
		if (k->idle && !k->n_waits && !k->n_holds) {
			drop_lock(l, k);
			continue;
		}
		settle_lock(l, k, ticks);
		k->idle = true;
	}
}

void locks_settle(struct locks *l, uint64_t ticks)
{
	const uint64_t late = ticks < LOCKS_LATE_TICKS ? 0 : ticks - LOCKS_LATE_TICKS;

	settle_all(l, ticks == UINT64_MAX ? ticks : late);
}
