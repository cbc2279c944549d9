/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cycles of ranks each of which waits for the next one. At first all that wait for others count
 * as stuck; those for which somebody is left who may end their wait are taken away, until nobody
 * is. Who remains waits for somebody who remains, so a way from one to the next comes back.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/trace/collective.h"

/* Lists of others may name any number of ranks. */
#define LOOKS_MOST 65536u

/* Ranks that wait for the same. */
struct waiter {
	struct where_ranks ranks, awaited;
	bool each; /* for each of the awaited; else one of them may be enough */
	bool stuck;
};

struct waiters {
	size_t n;
	uint32_t looks; /* that are left */
	struct waiter at[WHERE_WAITS_MAX + WHERE_PLACES_MAX];
};

static bool have_common(const struct where_ranks *a, const struct where_ranks *b, uint32_t *first)
{
	for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
		*first = a->run[i].first > b->run[k].first ? a->run[i].first : b->run[k].first;
		if (*first <= a->run[i].last && *first <= b->run[k].last)
			return true;
		if (a->run[i].last < b->run[k].last)
			i++;
		else
			k++;
	}
	return false;
}

/* ---- who waits for whom ---------------------------------------------------------------- */

/* The other ranks that may end a wait; false: they are not known. */
static bool add_awaited(
	const struct where *w, const struct where_wait *s, struct where_ranks *awaited)
{
	struct where_ranks self = {0}, others;

	where_add_ranks(&self, s->rank, s->rank);
	if (s->peer != WHERE_ANY) {
		where_add_ranks(awaited, s->peer, s->peer);
		return true;
	}
	for (size_t i = 0; i < w->n_comms; i++)
		if (w->comms[i].id == s->comm_id && w->comms[i].members.n) {
			where_subtract_ranks(&others, &w->comms[i].members, &self);
			where_merge_ranks(awaited, &others);
			return !others.cut && !w->comms[i].members.cut;
		}
	return false;
}

/* A rank with what is in its rows, from this one on: all that it may wait for, or nothing. */
static void add_rank(struct waiters *all, const struct where *w, size_t row)
{
	struct waiter *to = &all->at[all->n];
	const uint32_t rank = w->waits[row].rank;
	uint64_t n = 0;

	for (size_t i = 0; i < row; i++)
		if (w->waits[i].rank == rank)
			return;
	*to = (struct waiter){.stuck = true};
	for (size_t i = row; i < w->n_waits; i++) {
		const struct where_wait *s = &w->waits[i];

		if (s->rank != rank)
			continue;
		if (!s->alone || s->of != w->waits[row].of || !add_awaited(w, s, &to->awaited))
			return;
		n += s->n ? s->n : 1;
	}
	if (n != w->waits[row].of || to->awaited.cut)
		return;
	where_add_ranks(&to->ranks, rank, rank);
	all->n++;
}

static void add_waiter(
	struct waiters *all, const struct where_ranks *ranks, const struct where_ranks *awaited)
{
	if (ranks->n && awaited->n)
		all->at[all->n++] = (struct waiter){
			.ranks = *ranks, .awaited = *awaited, .each = true, .stuck = true};
}

/*
 * Those who wait for members that have not come: from a root the others for the root, to a root
 * the root for all, and where each gets something of each other one, all for all. Of a chain
 * nothing is known, as the order of the members is not.
 */
static void add_place(struct waiters *all, const struct where *w, const struct where_place *p)
{
	struct where_ranks missing, root = {0}, others;

	if (!p->alone || p->state != WHERE_RUNS || !where_missing(w, p, &missing))
		return;
	if (p->kind == COLLECTIVE_BETWEEN_ALL || p->kind == COLLECTIVE_REDUCE_SCATTER)
		add_waiter(all, &p->ranks, &missing);
	if (p->root == WHERE_ANY)
		return;
	where_add_ranks(&root, p->root, p->root);
	where_subtract_ranks(&others, &p->ranks, &root);
	if (p->kind == COLLECTIVE_FROM_ROOT && where_has_rank(&missing, p->root))
		add_waiter(all, &others, &root);
	if (p->kind == COLLECTIVE_TO_ROOT && where_has_rank(&p->ranks, p->root))
		add_waiter(all, &root, &missing);
}

static struct waiters *find_waiters(const struct where *w, uint64_t least)
{
	struct waiters *all = xmalloc(sizeof(*all));

	all->n = 0;
	all->looks = LOOKS_MOST;
	for (size_t i = 0; i < w->n_waits; i++)
		if (w->waits[i].since >= least)
			add_rank(all, w, i);
	for (size_t i = 0; i < w->n_places; i++)
		if (w->places[i].since_least >= least)
			add_place(all, w, &w->places[i]);
	return all;
}

/* ---- who is stuck ------------------------------------------------------------------------ */

static bool is_stuck(const struct waiters *all, const struct waiter *me)
{
	struct where_ranks left = me->awaited, rest;
	uint32_t common;

	for (size_t i = 0; i < all->n && left.n; i++) {
		const struct waiter *other = &all->at[i];

		if (!other->stuck || !have_common(&left, &other->ranks, &common))
			continue;
		if (me->each)
			return true;
		where_subtract_ranks(&rest, &left, &other->ranks);
		left = rest;
	}
	return !me->each && !left.n && !left.cut;
}

/* False: it took too many looks. */
static bool find_stuck(struct waiters *all)
{
	bool changed = true;

	while (changed) {
		changed = false;
		EACH(struct waiter, me, all->at, all->n) {
			if (!me->stuck)
				continue;
			if (!all->looks--)
				return false;
			me->stuck = is_stuck(all, me);
			changed |= !me->stuck;
		}
	}
	return true;
}

/* The lowest of those that are awaited and stuck. */
static const struct waiter *next_one(
	const struct waiters *all, const struct waiter *me, uint32_t *rank)
{
	const struct waiter *next = NULL;
	uint32_t common;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].stuck && have_common(&me->awaited, &all->at[i].ranks, &common) &&
			(!next || common < *rank)) {
			next = &all->at[i];
			*rank = common;
		}
	return next;
}

/* Moves the lowest one of a cycle to its begin. */
static void turn_cycle(uint32_t *ranks, size_t n)
{
	size_t lowest = 0;

	for (size_t i = 1; i < n; i++)
		lowest = ranks[i] < ranks[lowest] ? i : lowest;
	while (lowest--) {
		const uint32_t first = ranks[0];

		memmove(ranks, ranks + 1, (n - 1) * sizeof(*ranks));
		ranks[n - 1] = first;
	}
}

/* A way from one that is stuck to the next, until it comes to where it has been. */
static size_t follow_waits(
	const struct waiters *all, const struct waiter *at, uint32_t *ranks, size_t max)
{
	uint32_t rank = at->ranks.run[0].first;

	for (size_t n = 0; at; n++) {
		for (size_t i = 0; i < n; i++)
			if (ranks[i] == rank) {
				memmove(ranks, ranks + i, (n - i) * sizeof(*ranks));
				turn_cycle(ranks, n - i);
				return n - i;
			}
		if (n == max)
			return 0;
		ranks[n] = rank;
		at = next_one(all, at, &rank);
	}
	return 0;
}

size_t where_cycle(const struct where *w, uint64_t least, uint32_t *ranks, size_t max)
{
	struct waiters *all = find_waiters(w, least);
	size_t n = 0;

	if (find_stuck(all))
		for (size_t i = 0; i < all->n && !n; i++)
			if (all->at[i].stuck)
				n = follow_waits(all, &all->at[i], ranks, max);
	free(all);
	return n;
}

char *where_cycle_text(const struct where *w)
{
	uint32_t ranks[WHERE_CYCLE_MOST];
	const size_t n = where_cycle(w, WHERE_HANGS_LEAST, ranks, WHERE_CYCLE_MOST);
	char *text = n ? xasprintf("rank %" PRIu32, ranks[0]) : NULL;

	for (size_t i = 1; i <= n; i++)
		text = xappend(text, " waits for rank %" PRIu32 "%s", ranks[i % n],
			i < n ? ", which" : "");
	return text;
}
