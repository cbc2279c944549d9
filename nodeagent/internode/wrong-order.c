/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/wrong-order.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/replay/comm/longest.h"

#define FROM_ALL UINT64_MAX

/* A message that lay there until a call that began at `enter`. */
struct lying {
	uint64_t enter, sent;
	uint32_t path;
};

struct kept {
	uint32_t lists; /* that it is in */
	bool over;	/* it has been found, or does not count any more */
	struct longest_wait wait;
};

struct waiting {
	uint64_t enter, leave; /* of its call */
	uint64_t until;
	struct kept *of;
};

/* The messages to one thread, from one process or from all. */
struct list {
	struct lying *lying; /* by enter, and by sent */
	size_t n_lying, cap_lying;
	struct waiting *waiting; /* by enter */
	size_t n_waiting, cap_waiting;
	uint64_t destination, source; /* key ... */
	uint32_t thread;
	struct list *next; /* ... of several with one hash */
	struct list *newer;
};

struct wrong_order {
	wrong_order_found *found;
	void *arg;
	struct match_table lists; /* by destination and hash_of() */
	struct list *newest, *recent;
	struct match_pool kept;
	size_t n_lying; /* of all lists */
};

struct wrong_order *wrong_order_new(wrong_order_found *found, void *arg)
{
	struct wrong_order *o = xcalloc(1, sizeof(*o));

	o->found = found;
	o->arg = arg;
	o->kept.bytes = sizeof(struct kept);
	return o;
}

void wrong_order_free(struct wrong_order *o)
{
	if (!o)
		return;
	for (struct list *l = o->newest, *newer; l; l = newer) {
		newer = l->newer;
		free(l->lying);
		free(l->waiting);
		free(l);
	}
	match_table_free(&o->lists);
	match_pool_free(&o->kept);
	free(o);
}

static uint64_t hash_of(uint32_t thread, uint64_t source)
{
	return source * 0x9e3779b97f4a7c15u ^ thread;
}

static struct list *list_of(
	struct wrong_order *o, uint64_t destination, uint32_t thread, uint64_t source, bool make)
{
	const uint64_t hash = hash_of(thread, source);
	struct list *first, *l = o->recent;

	if (l && l->destination == destination && l->thread == thread && l->source == source)
		return l;
	first = l = match_table_find(&o->lists, destination, hash);
	while (l && (l->thread != thread || l->source != source))
		l = l->next;
	if (l)
		o->recent = l;
	if (l || !make)
		return l;
	l = xcalloc(1, sizeof(*l));
	l->destination = destination;
	l->thread = thread;
	l->source = source;
	l->next = first;
	l->newer = o->newest;
	o->newest = l;
	match_table_add(&o->lists, destination, hash, l);
	return l;
}

static bool is_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* ---- waits --------------------------------------------------------------------------------- */

static void let_go(struct wrong_order *o, struct kept *k)
{
	if (!--k->lists)
		match_pool_give(&o->kept, k);
}

static void tell_found(struct wrong_order *o, struct kept *k, uint32_t path)
{
	if (k->over)
		return;
	k->over = true;
	o->found(o->arg, &k->wait, path);
}

/* The first whose call begins at `enter` or later. */
static size_t first_waiting(const struct list *l, uint64_t enter)
{
	size_t low = 0, high = l->n_waiting;

	/* mostly it is the last one */
	if (high && is_before(l->waiting[high - 1].enter, enter))
		return high;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (is_before(l->waiting[middle].enter, enter))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Those that were over before the message's call began, and had lasted beyond its begin. */
static void find_waiting(struct wrong_order *o, struct list *l, const struct lying *m)
{
	const size_t end = first_waiting(l, m->enter);
	size_t from = end, stay;

	while (from && is_before(m->sent, l->waiting[from - 1].leave))
		from--;
	stay = from;
	for (size_t i = from; i < end; i++) {
		const struct waiting w = l->waiting[i];

		if (is_before(m->enter, w.leave) || !is_before(m->sent, w.until)) {
			l->waiting[stay++] = w;
			continue;
		}
		tell_found(o, w.of, m->path);
		let_go(o, w.of);
	}
	if (end < l->n_waiting)
		memmove(l->waiting + stay, l->waiting + end,
			(l->n_waiting - end) * sizeof(*l->waiting));
	l->n_waiting -= end - stay;
}

static void forget_waiting(struct wrong_order *o, struct list *l, size_t n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n; i++)
		let_go(o, l->waiting[i].of);
	l->n_waiting -= n;
	memmove(l->waiting, l->waiting + n, l->n_waiting * sizeof(*l->waiting));
}

/* The list's oldest waits go, if there is no room. NULL: and it has none. */
static struct kept *new_kept(struct wrong_order *o, struct list *l, const struct longest_wait *w)
{
	struct kept *k;

	if (o->kept.used >= WRONG_ORDER_KEPT)
		forget_waiting(o, l, (l->n_waiting + 3) / 4);
	if (o->kept.used >= WRONG_ORDER_KEPT)
		return NULL;
	k = match_pool_take_any(&o->kept);
	k->lists = 1; /* until it has been compared */
	k->over = false;
	longest_copy(&k->wait, w);
	return k;
}

static void keep_waiting(struct wrong_order *o, struct list *l, struct kept *k,
	const struct wrong_order_message *m, uint64_t until)
{
	size_t at;

	if (l->n_waiting >= WRONG_ORDER_WAITS)
		forget_waiting(o, l, WRONG_ORDER_WAITS / 4);
	at = first_waiting(l, m->enter);
	(void)APPEND(l->waiting, l->n_waiting, l->cap_waiting);
	if (at < l->n_waiting - 1)
		memmove(l->waiting + at + 1, l->waiting + at,
			(l->n_waiting - 1 - at) * sizeof(*l->waiting));
	l->waiting[at] = (struct waiting){m->enter, m->leave, until, k};
	k->lists++;
}

/* ---- messages ------------------------------------------------------------------------------ */

/* The first that was received in a call that begins at `enter` or later. */
static size_t first_lying(const struct list *l, uint64_t enter)
{
	size_t low = 0, high = l->n_lying;

	if (high && is_before(l->lying[high - 1].enter, enter))
		return high;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (is_before(l->lying[middle].enter, enter))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One that was sent before `until`, and received after `leave`; or NULL. */
static const struct lying *one_lying(const struct list *l, uint64_t leave, uint64_t until)
{
	const size_t at = first_lying(l, leave);

	return at < l->n_lying && is_before(l->lying[at].sent, until) ? &l->lying[at] : NULL;
}

/* Of the older half every second one goes: each says no more than that which stays after it. */
static void thin_out(struct wrong_order *o, struct list *l)
{
	const size_t half = l->n_lying / 2;
	size_t stay = 0;

	if (!half)
		return;
	for (size_t i = 1; i < half; i += 2)
		l->lying[stay++] = l->lying[i];
	memmove(l->lying + stay, l->lying + half, (l->n_lying - half) * sizeof(*l->lying));
	l->n_lying -= half - stay;
	o->n_lying -= half - stay;
}

/* Nothing if one that was received no sooner was sent no later; such ones go that say less. */
static void keep_lying(struct wrong_order *o, struct list *l, const struct lying *m)
{
	size_t from, to;

	if (l->n_lying >= WRONG_ORDER_MESSAGES || o->n_lying >= WRONG_ORDER_ALL)
		thin_out(o, l);
	from = to = first_lying(l, m->enter);
	if (to < l->n_lying && !is_before(m->sent, l->lying[to].sent))
		return;
	if (to < l->n_lying && l->lying[to].enter == m->enter)
		to++;
	while (from && !is_before(l->lying[from - 1].sent, m->sent))
		from--;
	if (from == to && o->n_lying >= WRONG_ORDER_ALL)
		return;
	if (from == to) {
		(void)APPEND(l->lying, l->n_lying, l->cap_lying);
		if (from < l->n_lying - 1)
			memmove(l->lying + from + 1, l->lying + from,
				(l->n_lying - 1 - from) * sizeof(*l->lying));
		o->n_lying++;
	} else {
		memmove(l->lying + from + 1, l->lying + to, (l->n_lying - to) * sizeof(*l->lying));
		l->n_lying -= to - from - 1;
		o->n_lying -= to - from - 1;
	}
	l->lying[from] = *m;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* k: the wait of m's call, or NULL. Nothing if k is over then. */
static void compare_with(struct wrong_order *o, struct list *l, const struct wrong_order_message *m,
	uint64_t error, struct kept *k)
{
	const struct lying own = {m->enter, m->sent + error, m->path};

	find_waiting(o, l, &own);
	if (k && !k->over) {
		const uint64_t until = m->enter + k->wait.ticks - error;
		const struct lying *other = one_lying(l, m->leave, until);

		if (other)
			tell_found(o, k, other->path);
		else
			keep_waiting(o, l, k, m, until);
	}
	keep_lying(o, l, &own);
}

/* Messages of one process are in the order of one clock; those of others, if errors are known. */
void wrong_order_add(
	struct wrong_order *o, const struct wrong_order_message *m, const struct longest_wait *wait)
{
	struct list *all = list_of(o, m->destination, m->thread, FROM_ALL, true);
	struct kept *k = wait ? new_kept(o, all, wait) : NULL;

	if (m->error)
		compare_with(o, list_of(o, m->destination, m->thread, m->source, true), m, 0, k);
	if (m->error < UINT64_MAX)
		compare_with(o, all, m, m->error, k);
	if (k)
		let_go(o, k);
}

void wrong_order_take_back(
	struct wrong_order *o, uint64_t destination, uint32_t thread, uint64_t enter)
{
	/* in the list of one process it is looked over from now on */
	struct list *l = list_of(o, destination, thread, FROM_ALL, false);
	size_t at = l ? first_waiting(l, enter) : 0;

	if (!l || at >= l->n_waiting || l->waiting[at].enter != enter)
		return;
	l->waiting[at].of->over = true;
	let_go(o, l->waiting[at].of);
	l->n_waiting--;
	memmove(l->waiting + at, l->waiting + at + 1, (l->n_waiting - at) * sizeof(*l->waiting));
}
