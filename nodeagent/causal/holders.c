/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads of one process have waited for each other: the agent has found out who had what they
 * wanted (replay/openmp/locks.h), and has written it behind the calls. Read before them, it is told
 * in between.
 */
#include <stdlib.h>

#include "nodeagent/causal/read.h"

/* A part of a wait. */
struct held {
	int64_t start, end, so_far; /* so_far: as of causal_thread_wait */
	uint32_t line, track, holder;
	uint32_t number, kind; /* of the other thread */
	bool goes_on;
};

struct reader_holders {
	struct held *all; /* by start */
	size_t n, cap;
	uint32_t *by_end; /* of all */
	size_t started, ended;
};

static void add_file(struct reader *r, struct reader_holders *h, uint32_t file)
{
	size_t n, n_threads;
	struct vfd_lock_wait *waits = vfd_lock_waits(r->files[file], &n);
	const struct vfd_thread *threads = vfd_threads(r->files[file], &n_threads);

	for (size_t i = 0; i < n && h->n < UINT32_MAX; i++) {
		const struct vfd_lock_wait *w = &waits[i];
		const uint32_t line = reader_line_of(r, file, w->track);

		if (line == CAUSAL_NONE || w->kind >= WAIT_KINDS_END ||
			!wait_is_of_threads(w->kind) || w->start < -CAUSAL_TIME_MOST ||
			w->end > CAUSAL_TIME_MOST || w->end <= w->start)
			continue;
		*APPEND(h->all, h->n, h->cap) = (struct held){.start = w->start,
			.end = w->end,
			.line = line,
			.track = w->track,
			.holder = w->holder,
			.number = threads[w->holder].number,
			.kind = w->kind,
			.goes_on = w->goes_on};
	}
	free(waits);
}

ORDER_BY(by_start, struct held, RISING(start) ?: RISING(line) ?: RISING(track))

static int by_end(const void *a_, const void *b_, void *all_)
{
	const struct held *all = all_, *a = &all[*(const uint32_t *)a_],
			  *b = &all[*(const uint32_t *)b_];

	return ORDER(a->end, b->end) ?: ORDER(a, b);
}

static void sum_up(struct reader_holders *h)
{
	struct match_table last = {0}; /* by line and track: the part before, + 1 */

	for (size_t i = 0; i < h->n; i++) {
		struct held *x = &h->all[i];
		const uintptr_t before =
			(uintptr_t)match_table_find(&last, x->line, (uint64_t)x->track + 1);

		x->so_far = x->end - x->start;
		if (x->goes_on && before &&
			__builtin_add_overflow(x->so_far, h->all[before - 1].so_far, &x->so_far))
			x->so_far = INT64_MAX;
		match_table_add(&last, x->line, (uint64_t)x->track + 1, (void *)(uintptr_t)(i + 1));
	}
	match_table_free(&last);
}

struct reader_holders *reader_holders_new(struct reader *r)
{
	struct reader_holders *h = xcalloc(1, sizeof(*h));

	for (size_t i = 0; i < r->n_files; i++)
		add_file(r, h, (uint32_t)i);
	h->by_end = xcalloc(h->n + 1, sizeof(*h->by_end));
	if (!h->n)
		return h;
	qsort(h->all, h->n, sizeof(*h->all), by_start);
	sum_up(h);
	for (size_t i = 0; i < h->n; i++)
		h->by_end[i] = (uint32_t)i;
	qsort_r(h->by_end, h->n, sizeof(*h->by_end), by_end, h->all);
	return h;
}

void reader_holders_free(struct reader_holders *h)
{
	if (!h)
		return;
	free(h->all);
	free(h->by_end);
	free(h);
}

static void end_part(struct reader *r, const struct held *x)
{
	causal_thread_wait(r->run->c, x->line,
		&(struct causal_thread_wait){.kind = x->kind,
			.path = reader_team_path(r, x->line, x->track),
			.holder = x->number,
			.there = x->kind == WAIT_THREAD_END
					 ? CAUSAL_NONE
					 : reader_team_path(r, x->line, x->holder),
			.ns = x->end - x->start,
			.so_far = x->so_far});
	reader_team_held(r, x->line, x->track, CAUSAL_NONE, x->end);
}

/* One part of a wait may begin where the one before it ends. */
void reader_holders_until(struct reader *r, int64_t t)
{
	struct reader_holders *h = r->holders;

	while (h->ended < h->n) {
		const struct held *ends = &h->all[h->by_end[h->ended]];
		const struct held *starts = h->started < h->n ? &h->all[h->started] : NULL;

		if (starts && starts->start < ends->end) {
			if (starts->start > t)
				return;
			h->started++;
			reader_team_held(
				r, starts->line, starts->track, starts->holder, starts->start);
			continue;
		}
		if (ends->end > t)
			return;
		h->ended++;
		end_part(r, ends);
	}
}
