/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/waits.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"

static int by_place(const void *a, const void *b)
{
	const struct profile_wait *x = *(const struct profile_wait *const *)a,
				  *y = *(const struct profile_wait *const *)b;

	return RISING(stack) ?: RISING(kind) ?: FALLING(ns) ?: RISING(late);
}

static int by_rank(const void *a, const void *b)
{
	const struct profile_wait *x = *(const struct profile_wait *const *)a,
				  *y = *(const struct profile_wait *const *)b;

	return RISING(late) ?: FALLING(ns) ?: RISING(stack) ?: RISING(kind);
}

ORDER_BY(place_by_time, struct wait_place, FALLING(ns) ?: RISING(stack) ?: RISING(kind))
ORDER_BY(cause_by_time, struct wait_cause, FALLING(ns) ?: RISING(rank))

static void find_causes(struct waits *w, size_t n)
{
	qsort(w->rows, n, sizeof(*w->rows), by_rank);
	for (size_t i = 0; i < n; i++) {
		const struct profile_wait *q = w->rows[i];
		struct wait_cause *c = w->n_causes ? &w->causes[w->n_causes - 1] : NULL;

		if (!c || c->rank != q->late) {
			c = &w->causes[w->n_causes++];
			*c = (struct wait_cause){.rank = q->late,
				.kind = q->kind,
				.stack = q->stack,
				.most_ns = q->ns};
		}
		c->calls += q->calls;
		c->ns += q->ns;
		w->ns += q->ns;
	}
	qsort(w->causes, w->n_causes, sizeof(*w->causes), cause_by_time);
}

static void find_places(struct waits *w, size_t n)
{
	qsort(w->rows, n, sizeof(*w->rows), by_place);
	for (size_t i = 0; i < n; i++) {
		const struct profile_wait *q = w->rows[i];
		struct wait_place *at = w->n_places ? &w->places[w->n_places - 1] : NULL;

		if (!at || at->stack != q->stack || at->kind != q->kind) {
			at = &w->places[w->n_places++];
			*at = (struct wait_place){
				.kind = q->kind, .stack = q->stack, .late = &w->rows[i]};
		}
		at->calls += q->calls;
		at->ns += q->ns;
		at->n_late++;
	}
	qsort(w->places, w->n_places, sizeof(*w->places), place_by_time);
}

void waits_of(const struct profile *p, uint32_t late, struct waits *w)
{
	const size_t most = p->n_waits;
	size_t n = 0;

	*w = (struct waits){.rows = xcalloc(most + 1, sizeof(*w->rows)),
		.places = xcalloc(most + 1, sizeof(*w->places)),
		.causes = xcalloc(most + 1, sizeof(*w->causes))};
	for (size_t i = 0; i < most; i++)
		if (late == WAITS_ALL || p->waits[i].late == late)
			w->rows[n++] = &p->waits[i];
	find_causes(w, n);
	find_places(w, n);
	for (size_t i = 0; i < p->n_rank_times; i++)
		w->mpi_ns += p->rank_times[i].all_mpi_ns;
}

void waits_done(struct waits *w)
{
	free(w->rows);
	free(w->places);
	free(w->causes);
	*w = (struct waits){0};
}
