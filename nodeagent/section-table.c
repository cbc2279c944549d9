/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the logs. Titles, column names and number formats are an
 * interface: scripts of Vftrace's users read them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NOTHING		 "----"
#define CALLPATH_COLUMNS 250

struct row {
	const struct report *r;
	const struct profile_stack *s;
	uint32_t stack;
};

void section_cell_function(struct table *t, const struct report *r, uint32_t stack)
{
	table_text(t, r->cell[r->p->stacks[stack].name]);
}

void section_cell_caller(struct table *t, const struct report *r, uint32_t stack)
{
	uint32_t parent = r->parent[stack];

	table_text(t, parent == PROFILE_NONE ? NOTHING : r->cell[r->p->stacks[parent].name]);
}

void section_cell_id(struct table *t, const struct report *r, uint32_t stack)
{
	if (r->id[stack] == REPORT_NO_ID)
		table_text(t, NOTHING);
	else
		table_uint(t, r->id[stack]);
}

void section_cell_path(struct table *t, const struct report *r, uint32_t stack)
{
	char *path = report_path(r, stack), *cell = text_short(path, CALLPATH_COLUMNS);

	table_text(t, cell);
	free(cell);
	free(path);
}

static void cell_calls(struct table *t, const struct row *row)
{
	table_uint(t, row->s->calls);
}

static void cell_lost(struct table *t, const struct row *row)
{
	table_uint(t, row->s->lost_calls);
}

static void cell_excl(struct table *t, const struct row *row)
{
	table_real(t, 0, 3, row->s->excl_ns * 1e-9);
}

static void cell_excl_percent(struct table *t, const struct row *row)
{
	double all = row->r->excl_s;

	table_real(t, 0, 1, all > 0.0 ? 100.0 * (row->s->excl_ns * 1e-9) / all : 0.0);
}

static void cell_incl(struct table *t, const struct row *row)
{
	table_real(t, 0, 3, row->s->incl_ns * 1e-9);
}

static void cell_overhead(struct table *t, const struct row *row)
{
	table_real(t, 0, 3, report_overhead_s(row->r, row->s->calls));
}

static void cell_imbalance(struct table *t, const struct row *row)
{
	uint32_t rank;

	table_real(t, 6, 2, report_imbalance(row->r, row->stack, &rank));
}

static void cell_imbalance_rank(struct table *t, const struct row *row)
{
	uint32_t rank;

	report_imbalance(row->r, row->stack, &rank);
	table_uint(t, rank);
}

static void cell_function(struct table *t, const struct row *row)
{
	section_cell_function(t, row->r, row->stack);
}

static void cell_caller(struct table *t, const struct row *row)
{
	section_cell_caller(t, row->r, row->stack);
}

static void cell_id(struct table *t, const struct row *row)
{
	section_cell_id(t, row->r, row->stack);
}

static void cell_path(struct table *t, const struct row *row)
{
	section_cell_path(t, row->r, row->stack);
}

static void cell_max(struct table *t, const struct row *row)
{
	table_real(t, 0, 3, row->s->excl_max_ns * 1e-9);
}

static void cell_max_rank(struct table *t, const struct row *row)
{
	table_uint(t, profile_rank_shown(row->r->p, row->s->rank_max));
}

static void cell_min(struct table *t, const struct row *row)
{
	table_real(t, 0, 3, row->s->excl_min_ns * 1e-9);
}

static void cell_min_rank(struct table *t, const struct row *row)
{
	table_uint(t, profile_rank_shown(row->r->p, row->s->rank_min));
}

static void cell_avg(struct table *t, const struct row *row)
{
	table_real(t, 0, 3, row->s->ranks ? row->s->excl_ns * 1e-9 / row->s->ranks : 0.0);
}

struct stack_column {
	const char *title;
	void (*cell)(struct table *t, const struct row *row);
	bool wanted;
};

static struct table *stack_table(const struct stack_column *columns, size_t n)
{
	struct table *t = table_new(TABLE_FRAMED);

	for (size_t i = 0; i < n; i++)
		if (columns[i].wanted)
			table_column(t, columns[i].title, TABLE_RIGHT);
	return t;
}

static void stack_row(struct table *t, const struct stack_column *columns, size_t n,
	const struct report *r, uint32_t stack)
{
	struct row row = {.r = r, .s = &r->p->stacks[stack], .stack = stack};

	for (size_t i = 0; i < n; i++)
		if (columns[i].wanted)
			columns[i].cell(t, &row);
}

void section_profile(FILE *f, const struct report *r, bool over_ranks)
{
	const struct conf *c = r->c;
	bool imbalances = over_ranks && c->profile_table_show_calltime_imbalances;
	const struct stack_column columns[] = {
		{"Calls", cell_calls, true},
		{"t_excl[s]", cell_excl, true},
		{"t_excl[%]", cell_excl_percent, true},
		{"t_incl[s]", cell_incl, true},
		{"overhead[s]", cell_overhead, c->profile_table_show_overhead},
		{"Imbalances[%]", cell_imbalance, imbalances},
		{"on rank", cell_imbalance_rank, imbalances},
		{"Function", cell_function, true},
		{"Caller", cell_caller, true},
		{"STID", cell_id, true},
		{"Callpath", cell_path, c->profile_table_show_callpath},
	};

	if (!c->profile_table_show_table)
		return;

	const char *by = c->profile_table_sort_table_column;
	bool none = !by || !strcmp(by, "none");
	uint32_t *order = sort_stacks(r, by, none || c->profile_table_sort_table_ascending);
	struct table *t = stack_table(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < r->p->n_stacks; i++)
		stack_row(t, columns, ARRAY_SIZE(columns), r, order[i]);
	fputs("\nRuntime profile\n", f);
	table_print(t, f);
	table_free(t);
	free(order);
}

void section_lost(FILE *f, const struct report *r)
{
	static const struct stack_column columns[] = {
		{"Lost calls", cell_lost, true},
		{"Below function", cell_function, true},
		{"Caller", cell_caller, true},
		{"STID", cell_id, true},
	};
	struct table *t = stack_table(columns, ARRAY_SIZE(columns));
	uint32_t *order = sort_stacks(r, "lost", false);

	for (size_t i = 0; i < r->p->n_stacks; i++)
		if (r->p->stacks[order[i]].lost_calls)
			stack_row(t, columns, ARRAY_SIZE(columns), r, order[i]);
	if (table_rows(t)) {
		fputs("\nCalls that were not recorded\n", f);
		table_print(t, f);
	}
	table_free(t);
	free(order);
}

void section_minmax(FILE *f, const struct report *r)
{
	static const struct stack_column columns[] = {
		{"STID", cell_id, true},
		{"Function", cell_function, true},
		{"t_max[s]", cell_max, true},
		{"rank", cell_max_rank, true},
		{"t_min[s]", cell_min, true},
		{"rank", cell_min_rank, true},
		{"t_avg[s]", cell_avg, true},
	};
	struct table *t = stack_table(columns, ARRAY_SIZE(columns));
	uint32_t *order = sort_stacks(r, "time_max", false);

	for (size_t i = 0; i < r->p->n_stacks; i++)
		stack_row(t, columns, ARRAY_SIZE(columns), r, order[i]);
	fputs("\n\n Summary: Min/Max runtime across all ranks\n", f);
	table_print(t, f);
	table_free(t);
	free(order);
}

/* "4,6,9,..." with at most max ids */
static void cell_ids(struct table *t, const struct report *r, const struct report_group *g,
	const uint32_t *members, size_t max)
{
	size_t n = g->n < max ? g->n : max, bytes = 0;
	char *list = xmalloc(n * 21 + 8);

	for (size_t i = 0; i < n; i++) {
		uint64_t id = r->id[members[g->first + i]];

		if (id == REPORT_NO_ID)
			bytes += sprintf(list + bytes, "%s" NOTHING, i ? "," : "");
		else
			bytes += sprintf(list + bytes, "%s%" PRIu64, i ? "," : "", id);
	}
	strcpy(list + bytes, g->n > n ? (n ? ",..." : "...") : "");
	table_text(t, list);
	free(list);
}

void section_grouped(FILE *f, const struct report *r)
{
	const struct conf *c = r->c;
	long long max = c->name_grouped_profile_table_max_stack_ids;
	const char *by = c->name_grouped_profile_table_sort_table_column;
	bool none = !by || !strcmp(by, "none");
	struct report_group *groups;
	uint32_t *members;
	size_t n = report_groups(r, &groups, &members);
	struct table *t = table_new(TABLE_FRAMED);

	sort_groups(groups, n, r, members, by,
		none || c->name_grouped_profile_table_sort_table_ascending);
	table_column(t, "Calls", TABLE_RIGHT);
	table_column(t, "t_excl[s]", TABLE_RIGHT);
	table_column(t, "t_excl[%]", TABLE_RIGHT);
	table_column(t, "t_incl[s]", TABLE_RIGHT);
	table_column(t, "Function", TABLE_RIGHT);
	table_column(t, "STIDs", TABLE_LEFT);
	for (size_t i = 0; i < n; i++) {
		const struct report_group *g = &groups[i];
		double excl = g->excl_ns * 1e-9;

		table_uint(t, g->calls);
		table_real(t, 0, 3, excl);
		table_real(t, 0, 1, r->excl_s > 0.0 ? 100.0 * excl / r->excl_s : 0.0);
		table_real(t, 0, 3, g->incl_ns * 1e-9);
		table_text(t, r->cell[g->name]);
		cell_ids(t, r, g, members, max > 0 ? (size_t)max : 0);
	}
	fputs("\nRuntime profile (Grouped by function name)\n", f);
	table_print(t, f);
	table_free(t);
	free(groups);
	free(members);
}

void section_stacks(FILE *f, const struct report *r)
{
	if (!r->c->stacklist_show_stacklist)
		return;

	struct table *t = table_new(TABLE_LIST);
	uint32_t *order = sort_stacks(r, "stack_id", true);

	table_column(t, "STID", TABLE_RIGHT);
	table_column(t, "Call stack", TABLE_LEFT);
	for (size_t i = 0; i < r->p->n_stacks; i++) {
		char id[32] = "STID" NOTHING, *path = report_path(r, order[i]);

		if (r->id[order[i]] != REPORT_NO_ID)
			snprintf(id, sizeof(id), "STID%" PRIu64, r->id[order[i]]);
		table_text(t, id);
		table_text(t, path);
		free(path);
	}
	fputs("\nGlobal call stacks:\n", f);
	table_print(t, f);
	table_free(t);
	free(order);
}
