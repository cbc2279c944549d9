/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame-head.h"
#include "nodeagent/tool/top/print.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/viewer.h"

#define PATHS_SHOWN  15
#define RANKS_SHOWN  5
#define PATH_COLUMNS 70

static void print_head(FILE *f, const struct viewer *w, const struct live_view *v)
{
	const struct head_wish wish = {.ascii = true};

	for (enum head_line i = 0; i < HEAD_MOST; i++) {
		char *text = frame_head_text(i, w, v, &wish);

		if (text)
			fprintf(f, "%s\n", text);
		free(text);
	}
	if (w->agents > v->n_all + (uint64_t)v->n_absent)
		fprintf(f, "awaited: %" PRIu64 " %s\n",
			w->agents - v->n_all - (uint64_t)v->n_absent,
			one_or_many(w->agents - v->n_all - v->n_absent, "node", "nodes"));
	for (size_t i = 0; i < v->n_missing; i++)
		fprintf(f, "missing: agent %" PRIu32 " %s: %s\n", v->missing[i].agent,
			v->missing[i].host, v->missing[i].why == LIVE_GONE ? "ended" : "no answer");
}

static void print_ranks(FILE *f, const struct live_view *v)
{
	const bool locks = v->classes[LIVE_LOCK_WAIT];
	struct table *t = table_new(TABLE_LIST);

	table_column(t, "Rank", TABLE_RIGHT);
	table_column(t, "Node", TABLE_LEFT);
	table_column(t, "useful%", TABLE_RIGHT);
	table_column(t, "MPI%", TABLE_RIGHT);
	table_column(t, "MPI wait%", TABLE_RIGHT);
	if (locks)
		table_column(t, "locks%", TABLE_RIGHT);
	for (size_t i = 0; i < v->n_ranks && i < RANKS_SHOWN; i++) {
		const struct live_rank *r = &v->ranks[i];

		if (r->rank == LIVE_NO_RANK)
			table_text(t, "-");
		else
			table_uint(t, r->rank);
		table_text(t, host_of(v, r->agent) ?: "?");
		table_real(t, 6, 1, percent_of(r->first_useful, r->interval));
		table_real(t, 6, 1, percent_of(r->classes[LIVE_MPI], r->interval));
		table_real(t, 6, 1, percent_of(r->classes[LIVE_MPI_WAIT], r->interval));
		if (locks)
			table_real(t, 6, 1,
				percent_of(r->classes[LIVE_LOCK_WAIT], thread_time(r->classes)));
	}
	table_print(t, f);
	table_free(t);
}

static void print_paths(FILE *f, const struct live_view *v)
{
	const uint64_t all = thread_time(v->classes);
	struct table *t = table_new(TABLE_LIST);

	table_column(t, "time%", TABLE_RIGHT);
	table_column(t, "calls/s", TABLE_RIGHT);
	table_column(t, "calls", TABLE_RIGHT);
	table_column(t, "Path", TABLE_LEFT);
	for (size_t i = 0; i < v->n_paths && i < PATHS_SHOWN; i++) {
		const struct live_path *p = &v->paths[i];
		const double rate = rate_of(p->calls_now, v->interval);
		char *text = text_first(p->text[0] ? p->text : "?", PATH_COLUMNS);

		table_real(t, 6, 1, percent_of(p->ns_now, all));
		table_compact(t, 1000, rate > 0 ? (uint64_t)rate : 0);
		table_uint(t, p->calls);
		table_text(t, text);
		free(text);
	}
	table_print(t, f);
	table_free(t);
}

void view_text(FILE *f, const struct viewer *w, const struct live_view *v)
{
	print_head(f, w, v);
	if (v->n_ranks)
		print_ranks(f, v);
	if (v->n_paths)
		print_paths(f, v);
}
