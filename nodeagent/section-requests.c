/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that were never seen to complete: a sentence, a table, and the same in JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/calltree.h"
#include "nodeagent/json.h"
#include "nodeagent/profile.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define ROWS 10

static const struct {
	const char *name, *one, *many;
	const char *counted; /* of traffic.h: what is counted of one that stays open */
} kinds[OPEN_KINDS] = {
	[OPEN_SEND] = {"send", "send", "sends", "counted as sent, but not the time taken"},
	[OPEN_RECEIVE] = {"receive", "receive", "receives", "not counted as received"},
	[OPEN_OTHER] = {"other", "other", "others", "of which only what was sent is counted"},
};

void section_open_sentence(FILE *f, const struct profile *p)
{
	uint64_t of[OPEN_KINDS] = {0}, known = 0, all;
	const char *before = ": ";

	for (size_t i = 0; i < p->n_open; i++) {
		of[p->open[i].kind] += p->open[i].requests;
		known += p->open[i].requests;
	}
	all = known > p->open_requests ? known : p->open_requests;
	if (!all)
		return;
	fprintf(f, "%" PRIu64 " %s posted and never seen to complete", all,
		one_or_many(all, "request was", "requests were"));
	for (int k = 0; k < OPEN_KINDS; k++) {
		if (!of[k])
			continue;
		fprintf(f, "%s%" PRIu64 " %s (%s)", before, of[k],
			one_or_many(of[k], kinds[k].one, kinds[k].many), kinds[k].counted);
		before = ", ";
	}
	if (all > known)
		fprintf(f, "%s%" PRIu64 " of which it is not known where %s posted", before,
			all - known, one_or_many(all - known, "it was", "they were"));
	fputs(".\n", f);
}

static uint64_t requests_of(const struct profile *p, uint32_t i)
{
	return p->open[i].requests;
}

void section_open_requests(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	struct table *t;
	uint32_t *order;

	if (!p->n_open)
		return;
	t = table_new(TABLE_FRAMED);
	order = sort_falling(p, p->n_open, requests_of);
	table_column(t, "Requests", TABLE_RIGHT);
	table_column(t, "Kind", TABLE_LEFT);
	table_column(t, "Ranks", TABLE_RIGHT);
	table_column(t, "Lowest", TABLE_RIGHT);
	table_column(t, "Highest", TABLE_RIGHT);
	table_column(t, "Function", TABLE_LEFT);
	table_column(t, "STID", TABLE_RIGHT);
	table_column(t, "Callpath", TABLE_LEFT);
	for (size_t i = 0; i < p->n_open && i < ROWS; i++) {
		const struct profile_open *o = &p->open[order[i]];

		table_uint(t, o->requests);
		table_text(t, kinds[o->kind].name);
		table_uint(t, o->ranks);
		table_uint(t, profile_rank_shown(p, o->rank_min));
		table_uint(t, profile_rank_shown(p, o->rank_max));
		section_cell_function(t, r, o->stack);
		section_cell_id(t, r, o->stack);
		section_cell_path(t, r, o->stack);
	}
	fputs("\nRequests that were never seen to complete, by what has posted them\n", f);
	table_print(t, f);
	if (p->n_open > ROWS)
		fprintf(f, "... and %zu %s more, see open_request_paths in BASE_all.json.\n",
			p->n_open - ROWS, one_or_many(p->n_open - ROWS, "row", "rows"));
	table_free(t);
	free(order);
}

void json_open_requests(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	uint32_t *order = sort_falling(p, p->n_open, requests_of);

	json_uint(j, "open_requests", p->open_requests);
	json_array(j, "open_request_paths");
	for (size_t i = 0; i < p->n_open; i++) {
		const struct profile_open *o = &p->open[order[i]];
		char *path = report_path(r, o->stack);

		json_object(j, NULL);
		json_uint(j, "id", r->id[o->stack]);
		json_string(j, "path", path);
		json_string(j, "function", r->shown[p->stacks[o->stack].name]);
		json_string(j, "kind", kinds[o->kind].name);
		json_uint(j, "requests", o->requests);
		json_uint(j, "ranks", o->ranks);
		json_uint(j, "rank_min", profile_rank_shown(p, o->rank_min));
		json_uint(j, "rank_max", profile_rank_shown(p, o->rank_max));
		json_close(j);
		free(path);
	}
	json_close(j);
	free(order);
}
