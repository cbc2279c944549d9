/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The critical path, backward from the line that ends last: where that line waited, the path goes
 * on at the same time in the line that it waited for. So its length is that of the window.
 */
#include <stdlib.h>

#include "nodeagent/causal/internal.h"

struct walk {
	struct causal *c;
	uint64_t *at; /* by line: stretches that begin before t, or more */
	uint32_t line;
	int64_t t;
	uint32_t jumps; /* since t has changed */
};

static const struct stretch *stretch_before(struct walk *w)
{
	const struct line *l = &w->c->lines[w->line];
	uint64_t *at = &w->at[w->line];
	const struct stretch *s;

	do
		s = spool_list_at(&l->stretches, --*at);
	while (s->start >= w->t && *at);
	++*at; /* it may be needed again */
	return s;
}

static void add_piece(struct walk *w, const struct stretch *s, int64_t from)
{
	const int64_t begin = w->c->totals.begin, start = from > begin ? from : begin;

	if (w->t > start)
		results_row(&w->c->rows[CAUSAL_PATH], 0, s->path, w->line, CAUSAL_NONE)->ns +=
			(double)(w->t - start);
	if (start < w->t)
		w->jumps = 0;
	w->t = start;
}

static uint32_t last_line(const struct causal *c)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->lines[i].begun &&
			(!c->lines[last].begun || c->lines[i].end > c->lines[last].end))
			last = i;
	return last;
}

static void step_back(struct walk *w)
{
	const struct stretch *s = stretch_before(w);
	const struct wait *wait;

	if (s->call < CALL_WAITED) {
		add_piece(w, s, s->start);
		return;
	}
	wait = spool_list_at(&w->c->waits, s->call - CALL_WAITED);
	if (w->t > wait->until)
		add_piece(w, s, wait->until);
	/* round and round between clocks that are wrong: it stays */
	if (w->jumps++ > w->c->n || !w->c->lines[wait->cause].begun)
		add_piece(w, s, s->start);
	else
		w->line = wait->cause;
}

void walk_critical_path(struct causal *c)
{
	struct walk w = {.c = c, .line = last_line(c), .t = c->totals.end};

	w.at = xmalloc(c->n * sizeof(*w.at));
	for (uint32_t i = 0; i < c->n; i++)
		w.at[i] = c->lines[i].stretches.n;
	while (w.t > c->totals.begin)
		step_back(&w);
	free(w.at);
}
