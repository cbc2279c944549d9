/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that were never seen to complete: a sentence, a table, and the same in JSON. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/report/log/internal.h"

#define ROWS 10

static const struct {
	const char *name, *one, *many;
	const char *counted; /* of replay/comm/comm.h: what is counted of one that stays open */
} kinds[PROFILE_OPEN_KINDS] = {
	[PROFILE_OPEN_SEND] = {"send", "send", "sends", "counted as sent, but not the time taken"},
	[PROFILE_OPEN_RECEIVE] = {"receive", "receive", "receives", "not counted as received"},
	[PROFILE_OPEN_OTHER] = {"other", "other", "others",
		"of which only what was sent is counted"},
};

void section_open_sentence(FILE *f, const struct profile *p)
{
	uint64_t of[PROFILE_OPEN_KINDS] = {0}, known = 0, all;
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
	for (int k = 0; k < PROFILE_OPEN_KINDS; k++) {
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

ROW_VALUE(const char *, open_kind, profile_open, kinds[at->kind].name)

#define OPEN(title, json, type, member, ...)                                                       \
	COLUMN(title, json, type, struct profile_open, member, ##__VA_ARGS__)

static const struct column open_columns[] = {
	OPEN(NULL, "id", STACK_ID, stack),
	OPEN(NULL, "path", PATH, stack),
	OPEN(NULL, "function", FUNCTION, stack),
	OPEN("Requests", NULL, COUNT, requests),
	COLUMN_GET("Kind", "kind", TEXT, text, open_kind, .left = true),
	OPEN(NULL, "requests", COUNT, requests),
	OPEN("Ranks", "ranks", COUNT, ranks),
	OPEN("Lowest", "rank_min", RANK, rank_min),
	OPEN("Highest", "rank_max", RANK, rank_max),
	OPEN("Function", NULL, FUNCTION, stack, .left = true),
	OPEN("STID", NULL, STACK_ID, stack),
	OPEN("Callpath", NULL, PATH, stack, .left = true),
};

static uint32_t *most_requests(const struct report *r, size_t *n)
{
	*n = r->p->n_open < ROWS ? r->p->n_open : ROWS;
	return sort_falling(r->p, r->p->n_open, requests_of);
}

static const struct list open_list = LIST(open_columns, open,
	.title = "Requests that were never seen to complete, by what has posted them",
	.order = most_requests);

void section_open_requests(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;

	columns_print(f, r, &open_list, 0);
	if (p->n_open > ROWS)
		fprintf(f, "... and %zu %s more, see open_request_paths in BASE_all.json.\n",
			p->n_open - ROWS, one_or_many(p->n_open - ROWS, "row", "rows"));
}

void json_open_requests(struct json *j, const struct report *r)
{
	const struct profile *p = r->p;
	uint32_t *order = sort_falling(p, p->n_open, requests_of);

	json_uint(j, "open_requests", p->open_requests);
	json_array(j, "open_request_paths");
	for (size_t i = 0; i < p->n_open; i++)
		columns_object(j, &open_list, &(struct row){.r = r, .at = &p->open[order[i]]});
	json_close(j);
	free(order);
}
