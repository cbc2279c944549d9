/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/history.h"

#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/cause-parts.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/parts.h"

#define TICKS_LEAST ((uint64_t)CAUSE_TICKS_LEAST) /* of a window, but for a long stretch */
#define TICKS_MOST  ((uint64_t)1 << 38)		  /* before a send, about 100 s */
#define FINE_PARTS  (HISTORY_PARTS * 5 / 8)	  /* from here on windows are longer */
#define FINE	    4 /* a window, or a stretch of its own, is 1 / FINE of all after it */

struct histories {
	/* by number less 1, shifted by log2: those of which one in 2^log2 is kept */
	struct kept {
		const struct traffic *whose; /* NULL: forgotten */
		size_t first, n;	     /* of parts[] */
	} * kept;
	size_t n_kept, cap_kept;
	struct history_part *parts;
	size_t n_parts, cap_parts;
	uint32_t ever, log2;
	struct look_budget budget;
};

struct histories *histories_new(void)
{
	struct histories *h = xcalloc(1, sizeof(*h));

	h->budget = look_budget_full();
	return h;
}

void histories_free(struct histories *h)
{
	if (!h)
		return;
	free(h->kept);
	free(h->parts);
	free(h);
}

void histories_forget(struct histories *h, const struct traffic *t)
{
	for (size_t i = 0; h && i < h->n_kept; i++)
		if (h->kept[i].whose == t)
			h->kept[i].whose = NULL;
}

/* ---- one of them --------------------------------------------------------------------------- */

struct noting {
	struct thread_activity *of;
	struct history_part at[HISTORY_PARTS];
	size_t n;
	struct parts parts; /* of the window at hand */
	uint64_t age, ends; /* ticks before the send; of the window */
	uint64_t steps;
};

static bool is_alone(const struct noting *g)
{
	return g->n == 1 || (g->n > 1 && g->at[g->n - 2].ends);
}

static void end_window(struct noting *g)
{
	struct parts *p = &g->parts;
	uint64_t more;

	parts_few(p, CAUSE_PARTS);
	if (g->n + p->n > HISTORY_PARTS)
		p->n = 0;
	for (unsigned i = 0; i < p->n; i++) {
		const uint32_t path = thread_activity_path(g->of, p->at[i].node);

		if (p->n == 1 && is_alone(g) && g->at[g->n - 1].path == path)
			g->at[g->n - 1].ticks += p->at[i].ticks;
		else
			g->at[g->n++] = (struct history_part){p->at[i].ticks, path, i + 1 == p->n};
	}
	g->steps += p->steps;
	*p = (struct parts){.n = 0};
	more = g->n < FINE_PARTS ? g->age / FINE : g->age;
	g->ends = g->age + (more > TICKS_LEAST ? more : TICKS_LEAST);
}

static bool is_long(const struct noting *g, uint64_t ticks)
{
	return g->n < FINE_PARTS && ticks > g->age / FINE && ticks > TICKS_LEAST / FINE;
}

/* An activity_stretch: from the last one to the first. */
static void note_stretch(void *arg, struct node *n, uint64_t ticks)
{
	struct noting *g = arg;

	if (is_long(g, ticks)) {
		if (g->parts.n)
			end_window(g);
		g->ends = g->age + ticks;
	}
	while (ticks) {
		const uint64_t left = g->ends - g->age, here = ticks < left ? ticks : left;

		parts_add(&g->parts, n, here);
		g->age += here;
		ticks -= here;
		if (g->age == g->ends)
			end_window(g);
	}
}

/* ---- all ------------------------------------------------------------------------------------ */

static void thin_out(struct histories *h)
{
	size_t to = 0, n_parts = 0;

	h->log2++;
	for (size_t i = 0; i < h->n_kept; i += 2) {
		const struct kept from = h->kept[i];

		memmove(&h->parts[n_parts], &h->parts[from.first], from.n * sizeof(*h->parts));
		h->kept[to++] = (struct kept){from.whose, n_parts, from.n};
		n_parts += from.n;
	}
	h->n_kept = to;
	h->n_parts = n_parts;
}

static bool is_kept(const struct histories *h, uint32_t index)
{
	return !(index & (((uint32_t)1 << h->log2) - 1));
}

static uint32_t keep_noted(struct histories *h, const struct traffic *whose, const struct noting *g)
{
	const uint32_t index = h->ever++;

	if (h->n_parts + g->n > HISTORIES_PARTS_MAX)
		thin_out(h);
	if (!is_kept(h, index))
		return 0;
	*LIST_ADD(h, kept) = (struct kept){whose, h->n_parts, g->n};
	for (size_t i = 0; i < g->n; i++)
		*LIST_ADD(h, parts) = g->at[i];
	return index + 1;
}

uint32_t history_note(struct histories *h, struct traffic_track *l, uint64_t to)
{
	struct noting g = {.of = l->activity, .ends = TICKS_LEAST};

	if (!l->activity || h->log2 >= 31 || h->ever >= UINT32_MAX - 1)
		return 0;
	if (l->history && ticks_between(l->history_at, to) < CAUSE_TICKS_LEAST)
		return l->history;
	l->history = 0;
	if (!look_budget_allows(&h->budget, to))
		return 0;
	g.steps = thread_activity_tell(
		l->activity, to > TICKS_MOST ? to - TICKS_MOST : 0, to, note_stretch, &g);
	if (g.parts.n)
		end_window(&g);
	look_budget_take(&h->budget, g.steps);
	l->history_at = to;
	l->history = g.n ? keep_noted(h, l->traffic, &g) : 0;
	return l->history;
}

const struct history_part *history_parts(
	const struct histories *h, uint32_t number, size_t *n, const struct traffic **whose)
{
	const uint32_t index = number - 1;
	const struct kept *k;

	if (!number || !is_kept(h, index) || index >> h->log2 >= h->n_kept)
		return NULL;
	k = &h->kept[index >> h->log2];
	*n = k->n;
	*whose = k->whose;
	return k->whose ? &h->parts[k->first] : NULL;
}

void history_share(const struct history_part *at, size_t n, uint64_t ticks,
	void (*part)(void *arg, uint32_t path, uint64_t ticks), void *arg)
{
	for (size_t i = 0, end; i < n && ticks; i = end) {
		uint64_t window = 0, here;

		for (end = i; end < n && (end == i || !at[end - 1].ends); end++)
			window += at[end].ticks;
		here = ticks < window ? ticks : window;
		for (size_t k = i; k < end && window; k++)
			part(arg, at[k].path,
				(uint64_t)((double)at[k].ticks / (double)window * (double)here));
		ticks -= here;
	}
}
