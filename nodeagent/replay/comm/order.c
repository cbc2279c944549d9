/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/order.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"

#define WINDOW_FIRST 64u /* calls that there is room for at first */
#define PLACES	     4u	 /* for channels of one hash */

/* The latest call of a track on a channel. */
struct latest {
	uint64_t since, until;
	uint32_t track;
	bool used;
};

/* Sums of the calls on one channel that have left the window. */
struct channel {
	struct order_call what;
	uint64_t first_since, first_until, last_since; /* the least and the greatest */
	uint64_t uncounted;
	struct latest last[2]; /* of two tracks, the later one first */
	bool used;
};

struct order {
	order_found *found;
	void *ctx;
	struct order_call *calls;
	size_t n, room;
	uint32_t track;		  /* of all calls, if not several */
	bool several, unsorted;	  /* tracks; the calls */
	struct channel *channels; /* by hash, or NULL as long as nothing has left */
	struct channel *recent;	  /* of the call that left last */
	uint64_t left, forgotten; /* latest end of what has left, and of what has no sums */
	bool has_left, has_forgotten;
	bool incomplete;
};

struct order *order_new(order_found *found, void *ctx)
{
	struct order *o = xcalloc(1, sizeof(*o));

	o->found = found;
	o->ctx = ctx;
	return o;
}

void order_free(struct order *o)
{
	free(o->channels);
	free(o->calls);
	free(o);
}

bool order_incomplete(const struct order *o)
{
	return o->incomplete;
}

static bool is_later(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0;
}

/* Could the order of these two matter? */
static bool same_channel(const struct order_call *a, const struct order_call *b)
{
	return a->comm == b->comm && a->kind == b->kind &&
	       (a->peer == b->peer || a->any_source || b->any_source) &&
	       (a->tag == b->tag || a->any_tag || b->any_tag);
}

static void count_once(const struct order *o, struct order_call *c)
{
	if (c->counted)
		return;
	c->counted = true;
	o->found(o->ctx, c, 1);
}

/* ---- what has left the window ------------------------------------------------------ */

static bool is_of(const struct channel *k, const struct order_call *c)
{
	return k->used && k->what.comm == c->comm && k->what.kind == c->kind &&
	       k->what.peer == c->peer && k->what.tag == c->tag &&
	       k->what.any_source == c->any_source && k->what.any_tag == c->any_tag;
}

/* The channel's place: its own, a free one, or that of the one used longest ago. */
static struct channel *channel_at(struct order *o, const struct order_call *c)
{
	uint64_t h = ((uint64_t)c->comm << 32 | c->peer) * 0x9e3779b97f4a7c15u;
	struct channel *set, *place;

	h ^= ((uint64_t)c->tag << 3 | c->kind << 2 | c->any_source << 1 | c->any_tag) *
	     0xd6e8feb86659fd93u;
	place = set = &o->channels[(h ^ h >> 32) % (ORDER_CHANNELS / PLACES) * PLACES];
	for (struct channel *k = set; k < set + PLACES; k++) {
		if (is_of(k, c))
			return k;
		if (place->used && (!k->used || is_later(place->last[0].until, k->last[0].until)))
			place = k;
	}
	return place;
}

/* Removes the sums of a channel, to make room for another one. */
static void forget_channel(struct order *o, const struct channel *k)
{
	if (!o->has_forgotten || is_later(k->last[0].until, o->forgotten))
		o->forgotten = k->last[0].until;
	o->has_forgotten = true;
}

static void keep_latest(struct channel *k, const struct order_call *c)
{
	struct latest new = {c->since, c->until, c->track, true};

	if (!k->last[0].used || k->last[0].track == c->track) {
		k->last[0] = new;
	} else {
		k->last[1] = k->last[0];
		k->last[0] = new;
	}
}

/* Takes a call out of the window; calls leave in the order of their ends. */
static void leave_window(struct order *o, const struct order_call *c)
{
	struct channel *k = o->recent && is_of(o->recent, c) ? o->recent : channel_at(o, c);

	o->recent = k;
	if (!is_of(k, c)) {
		if (k->used)
			forget_channel(o, k);
		*k = (struct channel){.what = *c,
			.first_since = c->since,
			.first_until = c->until,
			.last_since = c->since,
			.used = true};
	}
	if (is_later(k->first_since, c->since))
		k->first_since = c->since;
	if (is_later(k->first_until, c->until))
		k->first_until = c->until;
	if (is_later(c->since, k->last_since))
		k->last_since = c->since;
	k->uncounted += !c->counted;
	keep_latest(k, c);
}

static void compare_with_channel(struct order *o, struct order_call *c, struct channel *k)
{
	const struct latest *l = &k->last[k->last[0].track == c->track];

	if (!l->used || !is_later(l->until, c->since) || !is_later(c->until, k->first_since))
		return;
	if (!is_later(c->until, l->since)) { /* it comes late, and overlaps others or none */
		o->incomplete = true;
		return;
	}
	count_once(o, c);
	if (!k->uncounted)
		return;
	if (is_later(k->first_until, c->since) && is_later(c->until, k->last_since)) {
		o->found(o->ctx, &k->what, k->uncounted);
		k->uncounted = 0;
	} else {
		o->incomplete = true;
	}
}

/* Compares with calls that have left; only a call that began before the last end can overlap. */
static void compare_with_left(struct order *o, struct order_call *c)
{
	if (!o->has_left || !is_later(o->left, c->since))
		return;
	for (size_t i = 0; i < ORDER_CHANNELS; i++)
		if (o->channels[i].used && same_channel(&o->channels[i].what, c))
			compare_with_channel(o, c, &o->channels[i]);
	if (o->has_forgotten && is_later(o->forgotten, c->since))
		o->incomplete = true;
}

/* ---- the window ---------------------------------------------------------------------- */

ORDER_BY(by_end, struct order_call, ORDER((int64_t)(x->until - y->until), 0) ?: RISING(track))

static bool same_frame(const struct order_call *a, const struct order_call *b)
{
	return a->track == b->track && a->since == b->since && a->until == b->until;
}

/* Compares call i with earlier ones of other tracks that end after it began. */
static void compare_with_others(struct order *o, size_t i, size_t *steps)
{
	struct order_call *c = &o->calls[i], *d;

	for (size_t k = i - c->same; k-- > 0 && is_later((d = &o->calls[k])->until, c->since);) {
		if (!*steps) {
			o->incomplete = true;
			return;
		}
		--*steps;
		if (d->track == c->track) {
			k -= d->same;
		} else if (!(c->compared && d->compared) && is_later(c->until, d->since) &&
			   same_channel(c, d)) {
			count_once(o, c);
			count_once(o, d);
		}
	}
}

static void compare_window(struct order *o)
{
	size_t steps = o->n * ORDER_STEPS;

	for (size_t i = 0; i < o->n; i++) {
		struct order_call *c = &o->calls[i];

		if (!c->compared)
			compare_with_left(o, c);
		if (!o->several)
			continue;
		c->same = i && same_frame(c, c - 1) ? c[-1].same + 1 : 0;
		compare_with_others(o, i, &steps);
	}
	for (size_t i = 0; i < o->n; i++)
		o->calls[i].compared = true;
}

void order_settle(struct order *o)
{
	if (o->unsorted)
		qsort(o->calls, o->n, sizeof(*o->calls), by_end);
	o->unsorted = false;
	if (o->several || o->has_left)
		compare_window(o);
}

/* Finds out if all calls are of one track: then they need not be compared. */
static void look_again(struct order *o)
{
	o->several = false;
	for (size_t i = 1; i < o->n && !o->several; i++)
		o->several = o->calls[i].track != o->calls[0].track;
	o->track = o->calls[0].track;
}

/* The half that ended first goes. */
static __attribute__((noinline)) void make_room(struct order *o)
{
	size_t half = o->n / 2, most = o->several ? ORDER_WINDOW : ORDER_ALONE;

	if (o->n < most) {
		o->room = o->room ? 2 * o->room : WINDOW_FIRST;
		if (o->room > most)
			o->room = most;
		o->calls = xrealloc(o->calls, o->room * sizeof(*o->calls));
		return;
	}
	order_settle(o);
	if (!o->channels)
		o->channels = xcalloc(ORDER_CHANNELS, sizeof(*o->channels));
	for (size_t i = 0; i < half; i++)
		leave_window(o, &o->calls[i]);
	if (!o->has_left || is_later(o->calls[half - 1].until, o->left))
		o->left = o->calls[half - 1].until;
	o->has_left = true;
	o->n -= half;
	memmove(o->calls, o->calls + half, o->n * sizeof(*o->calls));
	look_again(o);
}

void order_add(struct order *o, const struct order_call *c)
{
	if (o->n == o->room)
		make_room(o);
	if (!o->n)
		o->track = c->track;
	o->several |= c->track != o->track;
	o->unsorted |= o->n && is_later(o->calls[o->n - 1].until, c->until);
	o->calls[o->n] = *c;
	o->calls[o->n].counted = o->calls[o->n].compared = false;
	o->n++;
}
