/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/show/rows.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

/* ---- one row -------------------------------------------------------------------------- */

static uint64_t above_mean(const struct profile_stack *s)
{
	const uint64_t mean = s->ranks ? s->excl_ns / s->ranks : 0;

	return s->excl_max_ns > mean ? s->excl_max_ns - mean : 0;
}

static void finish_row(const struct show_rows *rows, struct show_row *row)
{
	row->call_ns = row->calls ? row->excl_ns / row->calls : ROW_UNKNOWN;
	if (rows->all_excl_ns)
		row->percent = 100.0 * (double)row->excl_ns / (double)rows->all_excl_ns;
}

static void path_row(const struct show_rows *rows, uint32_t stack, struct show_row *to)
{
	const struct report *r = &rows->run->r;
	const struct profile_stack *s = &r->p->stacks[stack];
	uint32_t rank;

	*to = (struct show_row){
		.stack = stack,
		.id = r->id[stack],
		.paths = 1,
		.calls = s->calls,
		.lost = s->lost_calls,
		.excl_ns = s->excl_ns,
		.incl_ns = s->incl_ns,
		.ranks = s->ranks,
		.min_ns = s->excl_min_ns,
		.max_ns = s->excl_max_ns,
		.rank_min = profile_rank_shown(r->p, s->rank_min),
		.rank_max = profile_rank_shown(r->p, s->rank_max),
		.imbalance = report_imbalance(r, stack, &rank),
		.above_ns = above_mean(s),
		.estimated = s->estimated,
		.own_estimated = r->own_estimated[stack],
	};
	to->rank = rank;
	finish_row(rows, to);
}

/* Of one process all is known; of several only what can be added up. */
static void set_ranges(const struct show_rows *rows, struct show_row *to)
{
	const bool alone = rows->run->p->ranks == 1;

	to->id = ROW_UNKNOWN;
	to->ranks = alone ? 1 : ROW_UNKNOWN;
	to->min_ns = to->max_ns = alone ? to->excl_ns : ROW_UNKNOWN;
	if (!alone)
		to->rank_min = to->rank_max = ROW_UNKNOWN;
}

static void function_row(const struct show_rows *rows, const struct report_group *g,
	const uint32_t *members, struct show_row *to)
{
	uint64_t most = 0, calls = 0, lost = 0, above = 0;
	double weighted = 0.0;
	bool estimated = false, own_estimated = false;

	path_row(rows, members[0], to);
	for (size_t i = 0; i < g->n; i++) {
		struct show_row one;

		path_row(rows, members[i], &one);
		calls += one.calls;
		lost += one.lost;
		estimated |= one.estimated;
		own_estimated |= one.own_estimated;
		above += one.above_ns;
		weighted += one.imbalance * (double)one.excl_ns;
		if (one.above_ns > most) {
			most = one.above_ns;
			to->rank = one.rank;
		}
	}
	to->paths = g->n;
	to->calls = calls;
	to->lost = lost;
	to->estimated = estimated;
	to->own_estimated = own_estimated;
	to->above_ns = above;
	to->excl_ns = g->excl_ns;
	to->incl_ns = g->incl_ns;
	if (g->n > 1) {
		set_ranges(rows, to);
		to->imbalance = g->excl_ns ? weighted / (double)g->excl_ns : to->imbalance;
	} else {
		to->id = ROW_UNKNOWN;
	}
	finish_row(rows, to);
}

/* ---- all rows ------------------------------------------------------------------------- */

static void all_paths(struct show_rows *rows)
{
	rows->n = rows->run->p->n_stacks;
	rows->rows = xcalloc(rows->n + 1, sizeof(*rows->rows));
	for (uint32_t i = 0; i < rows->n; i++)
		path_row(rows, i, &rows->rows[i]);
}

static void all_functions(struct show_rows *rows)
{
	struct report_group *groups;
	const uint32_t *members;

	rows->n = report_groups(&rows->run->r, &groups, &members);
	rows->rows = xcalloc(rows->n + 1, sizeof(*rows->rows));
	for (size_t i = 0; i < rows->n; i++)
		function_row(rows, &groups[i], &members[groups[i].first], &rows->rows[i]);
	free(groups);
}

/* Of a call path, all of it is searched. */
static bool row_matches(
	const struct show_rows *rows, const struct show_row *row, const regex_t *wanted)
{
	const struct report *r = &rows->run->r;
	char *path;
	bool yes;

	if (!rows->by_path)
		return !regexec(wanted, r->shown[r->p->stacks[row->stack].name], 0, NULL, 0);
	path = report_path(r, row->stack);
	yes = !regexec(wanted, path, 0, NULL, 0);
	free(path);
	return yes;
}

static bool keep_matching(struct show_rows *rows, const char *filter)
{
	regex_t wanted;
	char why[100];
	size_t n = 0;
	int error;

	if (!filter)
		return true;
	error = regcomp(&wanted, filter, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &wanted, why, sizeof(why));
		complain("--filter %s: %s", filter, why);
		return false;
	}
	for (size_t i = 0; i < rows->n; i++)
		if (row_matches(rows, &rows->rows[i], &wanted))
			rows->rows[n++] = rows->rows[i];
	rows->n = n;
	regfree(&wanted);
	return true;
}

/* ---- their order ---------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t offset;
} orders[] = {
	{"excl", offsetof(struct show_row, excl_ns)},
	{"incl", offsetof(struct show_row, incl_ns)},
	{"calls", offsetof(struct show_row, calls)},
	{"imbalance", offsetof(struct show_row, above_ns)},
};

static bool find_order(const char *name, size_t *offset)
{
	*offset = orders[0].offset;
	if (!name)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		if (!strcmp(orders[i].name, name)) {
			*offset = orders[i].offset;
			return true;
		}
	complain("--sort %s: it is excl, incl, calls or imbalance", name);
	return false;
}

static void sort_rows(struct show_rows *rows, size_t offset)
{
	struct sort_key *keys = xcalloc(rows->n + 1, sizeof(*keys));
	struct show_row *sorted = xcalloc(rows->n + 1, sizeof(*sorted));
	uint32_t *order;

	for (uint32_t i = 0; i < rows->n; i++) {
		const char *row = (const char *)&rows->rows[i];

		keys[i] = (struct sort_key){
			.id = rows->run->r.id[rows->rows[i].stack],
			.i = i,
		};
		memcpy(&keys[i].key, row + offset, sizeof(keys[i].key));
	}
	order = sort_by_key(keys, rows->n, false);
	for (size_t i = 0; i < rows->n; i++)
		sorted[i] = rows->rows[order[i]];
	free(order);
	free(rows->rows);
	rows->rows = sorted;
}

bool rows_make(struct show_rows *rows, const struct run *run, const struct show_request *request)
{
	size_t offset;

	*rows = (struct show_rows){
		.run = run, .by_path = request->by_path, .whole = request->csv || request->json};
	if (!find_order(request->sort, &offset))
		return false;
	for (size_t i = 0; i < run->p->n_stacks; i++)
		rows->all_excl_ns += run->p->stacks[i].excl_ns;
	if (rows->by_path)
		all_paths(rows);
	else
		all_functions(rows);
	rows->all = rows->n;
	if (!keep_matching(rows, request->filter)) {
		rows_free(rows);
		return false;
	}
	for (size_t i = 0; i < rows->n; i++)
		rows->excl_ns += rows->rows[i].excl_ns;
	sort_rows(rows, offset);
	return true;
}

void rows_free(struct show_rows *rows)
{
	free(rows->rows);
	rows->rows = NULL;
}
