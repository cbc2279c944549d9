/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/activity.h"

#include <stdbool.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"

#define CALLS_AT_END (ACTIVITY_CALLS / 4)

static size_t bytes_of(uint64_t n)
{
	return sizeof(struct activity) + (size_t)n * sizeof(struct activity_call);
}

struct activity *activity_new(uint64_t ticks)
{
	struct activity *a = xcalloc(1, bytes_of(ACTIVITY_CALLS));

	activity_begin(a, ticks);
	return a;
}

struct activity *activity_end(struct activity *a, struct node *root)
{
	const uint64_t n = a->n < CALLS_AT_END ? a->n : CALLS_AT_END;
	struct activity *end = xmalloc(bytes_of(n));

	end->n = n;
	end->begun = a->begun;
	end->n_groups = 0;
	for (uint64_t i = 0; i < n; i++) {
		struct activity_call *c = &end->at[i];

		*c = a->at[(a->n - n + i) % ACTIVITY_CALLS];
		c->node = c->node->counterpart ? c->node->counterpart : root;
	}
	if (n < a->n)
		end->begun = end->at[0].until;
	free(a);
	return end;
}

void activity_moved(struct activity *a, const struct node *from)
{
	for (uint64_t i = 0; i < a->n && i < ACTIVITY_CALLS; i++)
		if (calltree_is_below(a->at[i].node, from))
			a->at[i].node = a->at[i].node->counterpart;
}

/*
 * Time runs backward: until `now` everything was told. The calls around that time are open[] from
 * 0 to n_open, and those of inner[], which were left later.
 */
struct walk {
	const struct activity_open *open;
	size_t n_open;
	struct activity_open *inner; /* room for DEPTH_MAX */
	unsigned n_inner;
	uint64_t now, from, to;
	activity_stretch *fn;
	void *arg;
};

static const struct activity_open *innermost(const struct walk *w)
{
	return w->n_inner ? &w->inner[w->n_inner - 1] : &w->open[w->n_open - 1];
}

/* The innermost call ran from t until now. */
static void tell_stretch(struct walk *w, uint64_t t)
{
	const uint64_t begin = (int64_t)(t - w->from) > 0 ? t : w->from;
	const uint64_t end = (int64_t)(w->now - w->to) > 0 ? w->to : w->now;

	if ((int64_t)(end - begin) > 0)
		w->fn(w->arg, innermost(w)->node, end - begin);
	if ((int64_t)(w->now - t) > 0)
		w->now = t;
}

/* Calls that were entered at t or later are over, seen from before. */
static void leave_later(struct walk *w, uint64_t t)
{
	while (w->n_inner || w->n_open > 1) {
		const struct activity_open *top = innermost(w);

		if ((int64_t)(top->since - t) < 0)
			return;
		tell_stretch(w, top->since);
		if (w->n_inner)
			w->n_inner--;
		else
			w->n_open--;
	}
}

/* Not as they are added: only of threads that others have waited for. */
static void find_groups(struct activity *a)
{
	const uint64_t n = a->n / ACTIVITY_GROUP, most = ACTIVITY_CALLS / ACTIVITY_GROUP;

	if (n > most && a->n_groups < n - most)
		a->n_groups = n - most;
	for (; a->n_groups < n; a->n_groups++) {
		const struct activity_call *c =
			&a->at[a->n_groups * ACTIVITY_GROUP % ACTIVITY_CALLS];
		uint64_t first = c->since;

		for (unsigned i = 1; i < ACTIVITY_GROUP; i++)
			if ((int64_t)(c[i].since - first) < 0)
				first = c[i].since;
		a->entered[a->n_groups % most] = first;
	}
}

/* Whether the last n calls are those after a group of which all were entered at t or later. */
static bool is_later_group(const struct activity *a, uint64_t n, uint64_t t)
{
	const uint64_t end = a->n - n, groups = ACTIVITY_CALLS / ACTIVITY_GROUP;

	return !(end % ACTIVITY_GROUP) &&
	       (int64_t)(a->entered[(end / ACTIVITY_GROUP - 1) % groups] - t) >= 0;
}

size_t activity_walk(struct activity *a, const struct activity_open *open, size_t n_open,
	uint64_t now, uint64_t from, uint64_t to, activity_stretch *fn, void *arg)
{
	const uint64_t kept = a->n < ACTIVITY_CALLS ? a->n : ACTIVITY_CALLS;
	struct activity_open inner[DEPTH_MAX];
	struct walk w = {.open = open,
		.inner = inner,
		.n_open = n_open,
		.now = now,
		.from = from,
		.to = to,
		.fn = fn,
		.arg = arg};
	size_t looks = 0;

	if (a->n > ACTIVITY_CALLS && (int64_t)(a->at[a->n % ACTIVITY_CALLS].until - to) >= 0)
		return 1; /* all that are kept were left later */
	find_groups(a);
	for (uint64_t i = 0; i < kept && (int64_t)(w.now - from) > 0; looks++) {
		const struct activity_call *c = &a->at[(a->n - 1 - i) % ACTIVITY_CALLS];

		if (kept - i >= ACTIVITY_GROUP && is_later_group(a, i, to)) {
			i += ACTIVITY_GROUP; /* whoever was in these was not in them at `to` */
			continue;
		}
		leave_later(&w, c->until);
		tell_stretch(&w, c->until);
		if ((int64_t)(w.now - from) <= 0)
			return looks + 1;
		if (w.n_inner < DEPTH_MAX)
			w.inner[w.n_inner++] = (struct activity_open){c->node, c->since};
		i++;
	}
	if (a->n <= ACTIVITY_CALLS) { /* none is forgotten: what is left are calls around */
		const uint64_t least = (int64_t)(a->begun - from) > 0 ? a->begun : from;

		leave_later(&w, least);
		tell_stretch(&w, least);
	}
	return looks;
}
