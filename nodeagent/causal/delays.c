/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each wait costs goes back to what the late line did more than the one that waited, since
 * the last time that both had in common; that part which it waited itself goes back to its own
 * waits, as their debt. Backward, so that all later waits are in a debt when its turn comes.
 */
#include <stdlib.h>

#include "nodeagent/causal/internal.h"
#include "nodeagent/base/util.h"

struct activity {
	uint32_t path;
	double ns; /* of the late line, minus that of the one that waited */
};

struct owed { /* a wait of the late line */
	struct wait *wait;
	double ns;
};

struct delays {
	struct causal *c;
	struct map32 at; /* path + 1 -> index into ... */
	struct activity *activities;
	size_t n_activities, cap_activities;
	struct owed *owed;
	size_t n_owed, cap_owed;
	double waited; /* of the late line, minus that of the one that waited */
};

static void add_activity(struct delays *d, uint32_t path, double ns)
{
	const uint32_t *at = map32_find(&d->at, path + 1);

	if (!at) {
		map32_add(&d->at, path + 1, (uint32_t)d->n_activities);
		*LIST_ADD(d, activities) = (struct activity){path, ns};
		return;
	}
	d->activities[*at].ns += ns;
}

/* What it did from `from` to `to`, in its stretches before `before`. late: else it counts
 * against. */
static void add_line(
	struct delays *d, uint32_t line, uint64_t before, int64_t from, int64_t to, bool late)
{
	const struct line *l = &d->c->lines[line];
	const double sign = late ? 1.0 : -1.0;

	while (before && to > from) {
		const struct stretch *s = spool_list_at(&l->stretches, --before);
		const int64_t start = s->start > from ? s->start : from;
		int64_t waited = 0;

		if (start >= to)
			continue;
		if (s->call >= CALL_WAITED) {
			struct wait *w = spool_list_at(&d->c->waits, s->call - CALL_WAITED);

			waited = MIN(w->until, to) - start;
			waited = waited > 0 ? waited : 0;
			if (late && waited)
				*LIST_ADD(d, owed) = (struct owed){w, (double)waited};
		}
		d->waited += sign * (double)waited;
		if (to - start > waited)
			add_activity(d, s->path, sign * (double)(to - start - waited));
		to = start;
	}
}

static void charge_wait(struct delays *d, const struct wait *w, double direct, double debt)
{
	double all = d->waited > 0 ? d->waited : 0, owed = 0;

	for (size_t i = 0; i < d->n_activities; i++)
		all += d->activities[i].ns > 0 ? d->activities[i].ns : 0;
	for (size_t i = 0; i < d->n_owed; i++)
		owed += d->owed[i].ns;
	EACH(const struct activity, a, d->activities, d->n_activities) {
		const double share = all > 0 ? a->ns / all : 0;
		struct causal_row *row;

		if (share <= 0)
			continue;
		row = results_row(&d->c->rows[CAUSAL_COSTS], 0, a->path, w->cause, CAUSAL_NONE);
		row->ns += share * (direct + debt);
		row->direct += share * direct;
		if (direct > 0)
			results_row(&d->c->rows[CAUSAL_CAUSES], w->kind, w->path, w->cause, a->path)
				->ns += share * direct;
	}
	for (size_t i = 0; i < d->n_owed && d->waited > 0; i++) {
		const double share = d->waited / all * d->owed[i].ns / owed;
		struct wait *v = d->owed[i].wait;

		v->debt += share * (direct + debt);
		if (direct > 0)
			results_row(&d->c->rows[CAUSAL_CAUSES], w->kind, w->path, w->cause, v->path)
				->ns += share * direct;
	}
	if (all > 0)
		return;
	/* nothing in which they differ: it is in the call that it was waited for in */
	results_row(&d->c->rows[CAUSAL_COSTS], 0, w->path, w->cause, CAUSAL_NONE)->ns +=
		direct + debt;
}

static void count_delay(struct delays *d, const struct wait *w)
{
	const struct causal *c = d->c;
	const int64_t since = w->since > c->totals.begin ? w->since : c->totals.begin;
	const double direct = w->kind & WAIT_UNRESOLVED ? 0 : (double)(w->until - w->enter);

	if (direct + w->debt <= 0)
		return;
	d->n_activities = d->n_owed = 0;
	d->waited = 0;
	map32_free(&d->at);
	add_line(d, w->line, w->own, since, w->enter, false);
	add_line(d, w->cause, w->theirs, since, w->until, true);
	charge_wait(d, w, direct, w->debt);
}

void count_delays(struct causal *c)
{
	struct delays d = {.c = c};

	for (uint64_t i = c->waits.n; i-- > 0;)
		count_delay(&d, spool_list_at(&c->waits, i));
	map32_free(&d.at);
	free(d.activities);
	free(d.owed);
}
