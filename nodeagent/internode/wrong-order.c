/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/wrong-order.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/longest.h"

#define FROM_ALL    UINT64_MAX
#define QUEUES_SEEN 64u /* messages that are looked at for one that could have been chosen */

/* A message that lay there until a call that began at `enter`. */
struct lying {
	uint64_t enter, sent;
	uint32_t path, queue;
};

/* A wait; of struct longest_wait what counts if it was in the wrong order. */
struct kept {
	uint64_t ticks, error;
	struct cause_parts *causes; /* or NULL; it has none */
	uint32_t path, late, takes;
	uint8_t kind, lists; /* lists: that it is in */
	bool over;	     /* it has been found, or does not count any more */
};

struct waiting {
	uint64_t enter, leave; /* of its call */
	uint64_t until;
	struct kept *of;
};

/* The messages to one thread, from one process or from all. Both arrays are rings: entry i is at
 * first + i, modulo their size, which is a power of 2. */
struct list {
	struct lying *lying; /* by enter, and by sent: received no sooner is sent later */
	size_t first_lying, n_lying, cap_lying;
	struct waiting *waiting; /* by enter */
	size_t first_waiting, n_waiting, cap_waiting;
	uint64_t destination, source; /* key ... */
	uint32_t thread;
	/* The same of those messages for which there is a better one here, of another queue: that
	 * one can't be chosen by a receive that takes its queue. What has a better one in both is
	 * not needed, as these are of two queues. NULL: none; it has no waits, and none itself. */
	struct list *second;
	bool is_second;
	struct list *next; /* ... of several with one hash */
	struct list *newer;
};

struct wrong_order {
	wrong_order_found *found;
	void *arg;
	struct match_table lists; /* by destination and hash_of() */
	struct list *newest, *recent;
	struct match_pool kept, causes;
	size_t n_lying; /* of all lists */
};

struct wrong_order *wrong_order_new(wrong_order_found *found, void *arg)
{
	struct wrong_order *o = xcalloc(1, sizeof(*o));

	o->found = found;
	o->arg = arg;
	o->kept.bytes = sizeof(struct kept);
	o->causes.bytes = sizeof(struct cause_parts);
	return o;
}

void wrong_order_free(struct wrong_order *o)
{
	if (!o)
		return;
	for (struct list *l = o->newest, *newer; l; l = newer) {
		newer = l->newer;
		if (l->second)
			free(l->second->lying);
		free(l->second);
		free(l->lying);
		free(l->waiting);
		free(l);
	}
	match_table_free(&o->lists);
	match_pool_free(&o->kept);
	match_pool_free(&o->causes);
	free(o);
}

static uint64_t hash_of(uint32_t thread, uint64_t source)
{
	return source * 0x9e3779b97f4a7c15u ^ thread;
}

static __attribute__((noinline)) struct list *find_list(
	struct wrong_order *o, uint64_t destination, uint32_t thread, uint64_t source, bool make)
{
	const uint64_t hash = hash_of(thread, source);
	struct list *first, *l;

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

static inline struct list *list_of(
	struct wrong_order *o, uint64_t destination, uint32_t thread, uint64_t source, bool make)
{
	struct list *l = o->recent;

	if (l && l->destination == destination && l->thread == thread && l->source == source)
		return l;
	return find_list(o, destination, thread, source, make);
}

static bool is_before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* ---- rings --------------------------------------------------------------------------------- */

static inline struct lying *lying_at(const struct list *l, size_t i)
{
	return &l->lying[(l->first_lying + i) & (l->cap_lying - 1)];
}

static inline struct waiting *waiting_at(const struct list *l, size_t i)
{
	return &l->waiting[(l->first_waiting + i) & (l->cap_waiting - 1)];
}

#define ENTRIES_FIRST 16u /* a power of 2 */

/* Room for one more entry. */
static void *wider(void *ring, size_t first, size_t *cap, size_t bytes)
{
	const size_t had = *cap;
	char *wide;

	*cap = had ? 2 * had : ENTRIES_FIRST;
	wide = xrealloc(ring, *cap * bytes);
	memcpy(wide + had * bytes, wide, first * bytes); /* those that had come round */
	return wide;
}

/* A place for one more lying or waiting, before the one that is the i-th now. */
#define RING_INSERT(l, list, i)                                                                    \
	do {                                                                                       \
		if ((l)->n_##list == (l)->cap_##list)                                              \
			(l)->list = wider((l)->list, (l)->first_##list, &(l)->cap_##list,          \
				sizeof(*(l)->list));                                               \
		for (size_t k_ = (l)->n_##list; k_ > (i); k_--)                                    \
			*list##_at(l, k_) = *list##_at(l, k_ - 1);                                 \
		(l)->n_##list++;                                                                   \
	} while (0)

/* Entries from..to-1 go. */
#define RING_REMOVE(l, list, from, to)                                                             \
	do {                                                                                       \
		const size_t gone_ = (to) - (from);                                                \
                                                                                                   \
		if (!(from))                                                                       \
			(l)->first_##list = ((l)->first_##list + gone_) & ((l)->cap_##list - 1);   \
		for (size_t k_ = (to); (from) && k_ < (l)->n_##list; k_++)                         \
			*list##_at(l, k_ - gone_) = *list##_at(l, k_);                             \
		(l)->n_##list -= gone_;                                                            \
	} while (0)

/* ---- waits --------------------------------------------------------------------------------- */

static void let_go(struct wrong_order *o, struct kept *k)
{
	if (--k->lists)
		return;
	if (k->causes)
		match_pool_give(&o->causes, k->causes);
	match_pool_give(&o->kept, k);
}

static __attribute__((noinline)) void tell_found(
	struct wrong_order *o, const struct list *l, struct kept *k, uint64_t enter, uint32_t path)
{
	struct longest_wait w = {.enter = enter,
		.path = k->path,
		.late = k->late,
		.kind = k->kind,
		.ticks = k->ticks,
		.error = k->error,
		.about = {.to = l->destination}};

	if (k->over)
		return;
	k->over = true;
	if (k->causes)
		w.causes = *k->causes;
	o->found(o->arg, &w, path);
}

/* The first whose call begins at `enter` or later. */
static inline size_t first_waiting(const struct list *l, uint64_t enter)
{
	const size_t high = l->n_waiting;

	/* mostly it is the last one */
	if (!high || is_before(waiting_at(l, high - 1)->enter, enter))
		return high;
	return LOWER_BOUND(i, 0, high, is_before(waiting_at(l, i)->enter, enter));
}

/* Those that were over before the message's call began, and had lasted beyond its begin. */
static inline void find_waiting(struct wrong_order *o, struct list *l, const struct lying *m)
{
	const size_t end = first_waiting(l, m->enter);
	size_t from = end, stay;

	while (from && is_before(m->sent, waiting_at(l, from - 1)->leave))
		from--;
	if (from == end)
		return;
	stay = from;
	for (size_t i = from; i < end; i++) {
		const struct waiting w = *waiting_at(l, i);

		if (is_before(m->enter, w.leave) || !is_before(m->sent, w.until) ||
			!choice_is_free(w.of->takes, m->queue)) {
			*waiting_at(l, stay++) = w;
			continue;
		}
		tell_found(o, l, w.of, w.enter, m->path);
		let_go(o, w.of);
	}
	RING_REMOVE(l, waiting, stay, end);
}

static __attribute__((noinline)) void forget_waiting(
	struct wrong_order *o, struct list *l, size_t n)
{
	for (size_t i = 0; i < n; i++)
		let_go(o, waiting_at(l, i)->of);
	RING_REMOVE(l, waiting, 0, n);
}

static void copy_causes(struct wrong_order *o, struct kept *k, const struct cause_parts *from)
{
	k->causes = match_pool_take_any(&o->causes);
	k->causes->n = from->n;
	for (uint32_t i = 0; i < from->n; i++)
		k->causes->at[i] = from->at[i];
}

static inline struct kept *new_kept(
	struct wrong_order *o, const struct longest_wait *w, uint32_t takes)
{
	struct kept *k = match_pool_take_any(&o->kept);

	k->lists = 1;
	k->over = false;
	k->ticks = w->ticks;
	k->error = w->error;
	k->path = w->path;
	k->late = w->late;
	k->takes = takes;
	k->kind = (uint8_t)w->kind;
	k->causes = NULL;
	if (w->causes.n)
		copy_causes(o, k, &w->causes);
	return k;
}

/* The list's oldest waits go, if there is no room. NULL: and it has none. It is in a list until it
 * has been compared. */
static struct kept *keep(
	struct wrong_order *o, struct list *l, const struct longest_wait *w, uint32_t takes)
{
	if (o->kept.used >= WRONG_ORDER_KEPT)
		forget_waiting(o, l, (l->n_waiting + 3) / 4);
	return o->kept.used < WRONG_ORDER_KEPT ? new_kept(o, w, takes) : NULL;
}

static inline void keep_waiting(struct wrong_order *o, struct list *l, struct kept *k,
	const struct wrong_order_message *m, uint64_t until)
{
	size_t at;

	if (l->n_waiting >= WRONG_ORDER_WAITS)
		forget_waiting(o, l, WRONG_ORDER_WAITS / 4);
	at = first_waiting(l, m->enter);
	RING_INSERT(l, waiting, at);
	*waiting_at(l, at) = (struct waiting){m->enter, m->leave, until, k};
	k->lists++;
}

/* ---- messages ------------------------------------------------------------------------------ */

/* The first that was received in a call that begins at `enter` or later. */
static inline size_t first_lying(const struct list *l, uint64_t enter)
{
	const size_t high = l->n_lying;

	if (!high || is_before(lying_at(l, high - 1)->enter, enter))
		return high;
	return LOWER_BOUND(i, 0, high, is_before(lying_at(l, i)->enter, enter));
}

/* One that was sent before `until`, received after `leave`, and could have been chosen, among the
 * first of these in each list; or NULL. */
static inline const struct lying *one_of_list(
	const struct list *l, uint64_t leave, uint64_t until, uint32_t takes)
{
	const size_t at = first_lying(l, leave);

	for (size_t i = at; i < l->n_lying && i < at + QUEUES_SEEN; i++) {
		const struct lying *m = lying_at(l, i);

		if (!is_before(m->sent, until))
			return NULL;
		if (choice_is_free(takes, m->queue))
			return m;
	}
	return NULL;
}

static inline const struct lying *one_lying(
	const struct list *l, uint64_t leave, uint64_t until, uint32_t takes)
{
	const struct lying *m = one_of_list(l, leave, until, takes);

	return m || !l->second ? m : one_of_list(l->second, leave, until, takes);
}

/* Of the older half every second one goes: most say no more than that which stays after it. */
static __attribute__((noinline)) void thin_out(struct wrong_order *o, struct list *l)
{
	const size_t half = l->n_lying / 2, stay = half / 2, gone = half - stay;

	if (!half)
		return;
	for (size_t i = stay; i-- > 0;)
		*lying_at(l, gone + i) = *lying_at(l, 2 * i + 1);
	RING_REMOVE(l, lying, 0, gone);
	o->n_lying -= gone;
}

static void keep_lying(struct wrong_order *o, struct list *l, const struct lying *m);

/* Keeps m, for which there is a better one in l, of this queue. */
static __attribute__((noinline)) void keep_second(
	struct wrong_order *o, struct list *l, const struct lying *m, uint32_t queue)
{
	if (l->is_second || m->queue == queue)
		return;
	if (!l->second) {
		l->second = xcalloc(1, sizeof(*l->second));
		l->second->is_second = true;
	}
	keep_lying(o, l->second, m);
}

/* Not in this list if one that was received no sooner was sent no later; such ones go that say
 * less. */
static void keep_lying(struct wrong_order *o, struct list *l, const struct lying *m)
{
	size_t from, to;

	if (l->n_lying >= WRONG_ORDER_MESSAGES || o->n_lying >= WRONG_ORDER_ALL)
		thin_out(o, l);
	from = to = first_lying(l, m->enter);
	if (to < l->n_lying && !is_before(m->sent, lying_at(l, to)->sent)) {
		keep_second(o, l, m, lying_at(l, to)->queue);
		return;
	}
	if (to < l->n_lying && lying_at(l, to)->enter == m->enter)
		to++;
	while (from && !is_before(lying_at(l, from - 1)->sent, m->sent))
		from--;
	if (from == to && o->n_lying >= WRONG_ORDER_ALL)
		return;
	for (size_t i = from; i < to; i++)
		keep_second(o, l, lying_at(l, i), m->queue);
	if (from == to) {
		RING_INSERT(l, lying, from);
		o->n_lying++;
	} else if (to - from > 1) {
		o->n_lying -= to - from - 1;
		RING_REMOVE(l, lying, from + 1, to);
	}
	*lying_at(l, from) = *m;
}

/* ---- both ---------------------------------------------------------------------------------- */

/* k: the wait of m's call, or NULL. Nothing if k is over then. */
static inline void compare_with(struct wrong_order *o, struct list *l,
	const struct wrong_order_message *m, uint64_t error, struct kept *k)
{
	const struct lying own = {m->enter, m->sent + error, m->path, m->queue};

	find_waiting(o, l, &own);
	if (k && !k->over) {
		const uint64_t until = m->enter + k->ticks - error;
		const struct lying *other = one_lying(l, m->leave, until, k->takes);

		if (other)
			tell_found(o, l, k, m->enter, other->path);
		else
			keep_waiting(o, l, k, m, until);
	}
	keep_lying(o, l, &own);
}

/* Mostly a message is the last one, both sent and received, and was not there for one that waited:
 * then it is behind all others. False: it is not, or there is no room. */
static inline bool add_last(struct wrong_order *o, struct list *l,
	const struct wrong_order_message *m, const struct longest_wait *wait)
{
	const struct lying *last = l->n_lying ? lying_at(l, l->n_lying - 1) : NULL;
	const struct waiting *w = l->n_waiting ? waiting_at(l, l->n_waiting - 1) : NULL;

	if (m->error || !last || l->n_lying == l->cap_lying || l->n_lying >= WRONG_ORDER_MESSAGES ||
		o->n_lying >= WRONG_ORDER_ALL || !is_before(last->enter, m->enter) ||
		!is_before(last->sent, m->sent))
		return false;
	if (w && (!is_before(w->enter, m->enter) || is_before(m->sent, w->leave)))
		return false;
	if (wait) {
		if (l->n_waiting == l->cap_waiting || l->n_waiting >= WRONG_ORDER_WAITS ||
			o->kept.used >= WRONG_ORDER_KEPT || !is_before(last->enter, m->leave))
			return false;
		*waiting_at(l, l->n_waiting++) = (struct waiting){
			m->enter, m->leave, m->enter + wait->ticks, new_kept(o, wait, m->takes)};
	}
	*lying_at(l, l->n_lying++) = (struct lying){m->enter, m->sent, m->path, m->queue};
	o->n_lying++;
	return true;
}

/* Messages of one process are in the order of one clock; those of others, if errors are known. */
static __attribute__((noinline)) void add_anywhere(struct wrong_order *o, struct list *all,
	const struct wrong_order_message *m, const struct longest_wait *wait)
{
	struct kept *k = wait ? keep(o, all, wait, m->takes) : NULL;

	if (m->error)
		compare_with(o, list_of(o, m->destination, m->thread, m->source, true), m, 0, k);
	if (m->error < UINT64_MAX)
		compare_with(o, all, m, m->error, k);
	if (k)
		let_go(o, k);
}

void wrong_order_add(
	struct wrong_order *o, const struct wrong_order_message *m, const struct longest_wait *wait)
{
	struct list *all = list_of(o, m->destination, m->thread, FROM_ALL, true);

	if (m->takes == CHOICE_ALL)
		wait = NULL;
	if (!add_last(o, all, m, wait))
		add_anywhere(o, all, m, wait);
}

void wrong_order_take_back(
	struct wrong_order *o, uint64_t destination, uint32_t thread, uint64_t enter)
{
	/* in the list of one process it is looked over from now on */
	struct list *l = list_of(o, destination, thread, FROM_ALL, false);
	size_t at = l ? first_waiting(l, enter) : 0;

	if (!l || at >= l->n_waiting || waiting_at(l, at)->enter != enter)
		return;
	waiting_at(l, at)->of->over = true;
	let_go(o, waiting_at(l, at)->of);
	RING_REMOVE(l, waiting, at, at + 1);
}
