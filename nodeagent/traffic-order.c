/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/traffic-order.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/traffic-internal.h"

#define WINDOW_FIRST 64u /* calls that there is room for at first */
#define PLACES	     4u	 /* for channels of one hash */

/* The latest call of a lane on a channel. */
struct latest {
	uint64_t since, until;
	uint32_t lane;
	bool used;
};

/* What calls on one channel have left the window. */
struct channel {
	struct order_call what;
	uint64_t first_since, first_until, last_since; /* the least and the greatest */
	uint64_t uncounted;
	struct latest last[2]; /* of two lanes, the later one first */
	bool used;
};

struct order {
	struct order_call *calls;
	size_t n, room;
	uint32_t lane;		  /* of all calls, if not several */
	bool several, unsorted;	  /* lanes; the calls */
	struct channel *channels; /* by hash, or NULL as long as nothing has left */
	uint64_t left, forgotten; /* latest end of what has left, and of what has no sums */
	bool has_left, has_forgotten;
	bool incomplete;
};

struct order *order_new(void)
{
	return xcalloc(1, sizeof(struct order));
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

static bool later(uint64_t a, uint64_t b)
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

static void count(struct traffic *t, const struct order_call *c, uint64_t n)
{
	struct traffic_comm *on = &t->sums.comms[c->sums];

	if (c->kind == ORDER_SEND) {
		t->sums.ambiguous_sends += n;
		on->ambiguous_sends += n;
	} else {
		t->sums.ambiguous_receives += n;
		on->ambiguous_receives += n;
	}
}

static void count_once(struct traffic *t, struct order_call *c)
{
	if (c->counted)
		return;
	c->counted = true;
	count(t, c, 1);
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
		if (place->used && (!k->used || later(place->last[0].until, k->last[0].until)))
			place = k;
	}
	return place;
}

/* Its sums give way to those of another channel. */
static void forget(struct order *o, const struct channel *k)
{
	if (!o->has_forgotten || later(k->last[0].until, o->forgotten))
		o->forgotten = k->last[0].until;
	o->has_forgotten = true;
}

static void keep_latest(struct channel *k, const struct order_call *c)
{
	struct latest new = {c->since, c->until, c->lane, true};

	if (!k->last[0].used || k->last[0].lane == c->lane) {
		k->last[0] = new;
	} else {
		k->last[1] = k->last[0];
		k->last[0] = new;
	}
}

/* They leave in the order of their ends. */
static void leave(struct order *o, const struct order_call *c)
{
	struct channel *k = channel_at(o, c);

	if (!is_of(k, c)) {
		if (k->used)
			forget(o, k);
		*k = (struct channel){.what = *c,
			.first_since = c->since,
			.first_until = c->until,
			.last_since = c->since,
			.used = true};
	}
	if (later(k->first_since, c->since))
		k->first_since = c->since;
	if (later(k->first_until, c->until))
		k->first_until = c->until;
	if (later(c->since, k->last_since))
		k->last_since = c->since;
	k->uncounted += !c->counted;
	keep_latest(k, c);
}

static void compare_with_channel(
	struct order *o, struct traffic *t, struct order_call *c, struct channel *k)
{
	const struct latest *l = &k->last[k->last[0].lane == c->lane];

	if (!l->used || !later(l->until, c->since) || !later(c->until, k->first_since))
		return;
	if (!later(c->until, l->since)) { /* it comes late, and overlaps others or none */
		o->incomplete = true;
		return;
	}
	count_once(t, c);
	if (!k->uncounted)
		return;
	if (later(k->first_until, c->since) && later(c->until, k->last_since)) {
		count(t, &k->what, k->uncounted);
		k->uncounted = 0;
	} else {
		o->incomplete = true;
	}
}

/* Only what began before the last one of them had ended can overlap. */
static void compare_with_left(struct order *o, struct traffic *t, struct order_call *c)
{
	if (!o->has_left || !later(o->left, c->since))
		return;
	for (size_t i = 0; i < ORDER_CHANNELS; i++)
		if (o->channels[i].used && same_channel(&o->channels[i].what, c))
			compare_with_channel(o, t, c, &o->channels[i]);
	if (o->has_forgotten && later(o->forgotten, c->since))
		o->incomplete = true;
}

/* ---- the window ---------------------------------------------------------------------- */

static int by_end(const void *a, const void *b)
{
	const struct order_call *x = a, *y = b;

	if (x->until != y->until)
		return later(x->until, y->until) ? 1 : -1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static bool same_frame(const struct order_call *a, const struct order_call *b)
{
	return a->lane == b->lane && a->since == b->since && a->until == b->until;
}

/* With those before it that end later than it began, if they are of other lanes. */
static void compare_with_others(struct order *o, struct traffic *t, size_t i, size_t *steps)
{
	struct order_call *c = &o->calls[i], *d;

	for (size_t k = i - c->same; k-- > 0 && later((d = &o->calls[k])->until, c->since);) {
		if (!*steps) {
			o->incomplete = true;
			return;
		}
		--*steps;
		if (d->lane == c->lane) {
			k -= d->same;
		} else if (!(c->compared && d->compared) && later(c->until, d->since) &&
			   same_channel(c, d)) {
			count_once(t, c);
			count_once(t, d);
		}
	}
}

static void compare(struct order *o, struct traffic *t)
{
	size_t steps = o->n * ORDER_STEPS;

	for (size_t i = 0; i < o->n; i++) {
		struct order_call *c = &o->calls[i];

		c->same = i && same_frame(c, c - 1) ? c[-1].same + 1 : 0;
		if (!c->compared)
			compare_with_left(o, t, c);
		if (o->several)
			compare_with_others(o, t, i, &steps);
	}
	for (size_t i = 0; i < o->n; i++)
		o->calls[i].compared = true;
}

void order_settle(struct order *o, struct traffic *t)
{
	if (o->unsorted)
		qsort(o->calls, o->n, sizeof(*o->calls), by_end);
	o->unsorted = false;
	if (o->several || o->has_left)
		compare(o, t);
}

/* Whether all calls are of one lane, which then need not be compared. */
static void look_again(struct order *o)
{
	o->several = false;
	for (size_t i = 1; i < o->n && !o->several; i++)
		o->several = o->calls[i].lane != o->calls[0].lane;
	o->lane = o->calls[0].lane;
}

/* The half that ended first goes. */
static void make_room(struct order *o, struct traffic *t)
{
	size_t half = o->n / 2, most = o->several ? ORDER_WINDOW : ORDER_ALONE;

	if (o->n < most) {
		o->room = o->room ? 2 * o->room : WINDOW_FIRST;
		if (o->room > most)
			o->room = most;
		o->calls = xrealloc(o->calls, o->room * sizeof(*o->calls));
		return;
	}
	order_settle(o, t);
	if (!o->channels)
		o->channels = xcalloc(ORDER_CHANNELS, sizeof(*o->channels));
	for (size_t i = 0; i < half; i++)
		leave(o, &o->calls[i]);
	if (!o->has_left || later(o->calls[half - 1].until, o->left))
		o->left = o->calls[half - 1].until;
	o->has_left = true;
	o->n -= half;
	memmove(o->calls, o->calls + half, o->n * sizeof(*o->calls));
	look_again(o);
}

void traffic_order_add(struct order *o, struct traffic *t, const struct order_call *c)
{
	if (o->n == o->room)
		make_room(o, t);
	if (!o->n)
		o->lane = c->lane;
	o->several |= c->lane != o->lane;
	o->unsorted |= o->n && later(o->calls[o->n - 1].until, c->until);
	o->calls[o->n] = *c;
	o->calls[o->n].counted = o->calls[o->n].compared = false;
	o->n++;
}
