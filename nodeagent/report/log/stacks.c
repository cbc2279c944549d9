/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths and functions in the logs and in BASE_all.json. Titles, column names and number
 * formats are an interface: scripts of Vftrace's users read them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/report/log/few-samples.h"
#include "nodeagent/report/log/internal.h"

/* Standard deviation of the exclusive time over the processes that have the stack. */
static double deviation_s(const struct profile_stack *s)
{
	double n = s->ranks ? s->ranks : 1, mean = (double)s->excl_ns / n;
	double variance = double_of(s->excl_sumsq_ns2) / n - mean * mean;

	return variance > 0.0 ? sqrt(variance) * 1e-9 : 0.0;
}

static double percent(const struct report *r, uint64_t ns)
{
	return r->excl_s > 0.0 ? 100.0 * (ns * 1e-9) / r->excl_s : 0.0;
}

static void write_threads(struct json *j, const char *key, const struct row *row)
{
	json_thread_range(j, row->r, row->index);
}

static void write_counters(struct json *j, const char *key, const struct row *row)
{
	json_hwprof_stack(j, row->r, row->index);
}

static const struct profile_stack_samples *samples_of(const struct row *row)
{
	return samples_of_stack(row->r->p, row->index);
}

/* What the runtime profile of a log shows for this stack, or NULL: what the stack itself has. */
static const struct few_samples_row *few_of(const struct row *row)
{
	const struct few_samples *few = row->more;

	return few ? &few->rows[row->index] : NULL;
}

static uint64_t stack_time(const struct row *row)
{
	const struct few_samples_row *few = few_of(row);

	return few ? few->excl_ns : ((const struct profile_stack *)row->at)->excl_ns;
}

static bool own_is_marked(const struct row *row)
{
	return report_own_is_counted(row->r, row->index);
}

ROW_VALUE(bool, stack_is_marked, profile_stack, at->estimated && at->calls)

static bool has_samples(const struct row *row)
{
	return samples_of(row);
}

static uint64_t samples_own(const struct row *row)
{
	const struct few_samples_row *few = few_of(row);

	return few ? few->samples : samples_of(row)->own;
}

static bool has_own_samples(const struct row *row)
{
	return samples_of(row) && ((const struct profile_stack *)row->at)->estimated &&
	       samples_own(row);
}

static uint64_t samples_all(const struct row *row)
{
	return samples_of(row)->all;
}

static double samples_error(const struct row *row)
{
	return samples_error_s(stack_time(row), samples_own(row));
}

static double stack_imbalance(const struct row *row)
{
	return report_imbalance(row->r, row->index, NULL);
}

static uint64_t stack_imbalance_rank(const struct row *row)
{
	return report_imbalance_rank(row->r, row->index);
}

static double stack_percent(const struct row *row)
{
	return percent(row->r, stack_time(row));
}

ROW_VALUE(double, stack_overhead, profile_stack, report_overhead_s(row->r, at->calls))
ROW_VALUE(double, stack_deviation, profile_stack, deviation_s(at))
ROW_VALUE(double, stack_mean, profile_stack, at->ranks ? at->excl_ns * 1e-9 / at->ranks : 0.0)
ROW_VALUE(bool, has_lost, profile_stack, at->lost_calls)
ROW_VALUE(bool, stack_has_calls, profile_stack, calls_are_known(row->r->p, at->calls))

static uint32_t *by_configuration(const struct report *r, size_t *n)
{
	const char *by = r->c->profile_table_sort_table_column;
	bool none = !by || !strcmp(by, "none");

	*n = r->p->n_stacks;
	return sort_stacks(r, by, none || r->c->profile_table_sort_table_ascending);
}

/* The id of a stack is its place in the array. */
static uint32_t *by_id(const struct report *r)
{
	return sort_stacks(r, "stack_id", true);
}

static void stack_ahead(const struct report *r, uint32_t stack)
{
	const char *s = (const char *)&r->p->stacks[stack];

	for (size_t i = 0; i < sizeof(struct profile_stack); i += 64)
		__builtin_prefetch(s + i);
	columns_ahead(r, stack);
}

/* Those that have any: most often there are none. */
static uint32_t *by_lost_calls(const struct report *r, size_t *n)
{
	size_t with = 0;

	for (size_t i = 0; i < r->p->n_stacks; i++)
		with += r->p->stacks[i].lost_calls > 0;
	*n = with;
	return with ? sort_stacks(r, "lost", false) : NULL;
}

static uint32_t *by_greatest_time(const struct report *r, size_t *n)
{
	*n = r->p->n_stacks;
	return sort_stacks(r, "time_max", false);
}

#define GROUPS_ALWAYS 20u /* functions that are shown, be their samples few or not */
#define AHEAD	      16u /* ids that are asked for before they are needed */

enum { WITH_OVERHEAD = 1, WITH_IMBALANCES = 2, WITH_PATHS = 4, WITH_SAMPLES = 8 };

#define STACK(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct profile_stack, member, ##__VA_ARGS__)
/* The value of the stack itself, not of a member. */
#define STACK_ITSELF(log_, json_, type_, ...)                                                      \
	{                                                                                          \
		.title = (log_), .json = (json_), .type = COLUMN_##type_, ##__VA_ARGS__            \
	}

static const struct column profile_columns[] = {
	STACK_ITSELF(NULL, "id", STACK_ID),
	STACK(NULL, "hash", HEX, hash),
	STACK_ITSELF(NULL, "path", PATH),
	STACK_ITSELF(NULL, "function", FUNCTION),
	STACK_ITSELF(NULL, "caller", CALLER),
	STACK_ITSELF(NULL, "parent", PARENT_ID),
	STACK("Calls", "calls", COUNT, calls, .log_where = stack_has_calls),
	COLUMN_GET("t_excl[s]", NULL, SECONDS, count, stack_time, .mark = own_is_marked),
	COLUMN_GET("~[s]", "t_excl_error_s", REAL, real, samples_error, .where = has_own_samples,
		.only = WITH_SAMPLES),
	COLUMN_GET("t_excl[%]", NULL, REAL, real, stack_percent, .decimals = 1),
	STACK("t_incl[s]", "t_incl_s", SECONDS, incl_ns, .mark = stack_is_marked),
	STACK(NULL, "t_excl_s", SECONDS, excl_ns),
	STACK(NULL, "ranks", COUNT, ranks),
	STACK(NULL, "t_excl_min_s", SECONDS, excl_min_ns),
	STACK(NULL, "t_excl_max_s", SECONDS, excl_max_ns),
	COLUMN_GET(NULL, "t_excl_deviation_s", REAL, real, stack_deviation),
	STACK(NULL, "rank_min", RANK, rank_min),
	STACK(NULL, "rank_max", RANK, rank_max),
	COLUMN_GET("overhead[s]", NULL, REAL, real, stack_overhead, .only = WITH_OVERHEAD),
	COLUMN_GET("Imbalances[%]", "imbalance_percent", REAL, real, stack_imbalance, .width = 6,
		.decimals = 2, .only = WITH_IMBALANCES, .run = "Imbalance[%]"),
	COLUMN_GET("on rank", "imbalance_rank", COUNT, count, stack_imbalance_rank,
		.only = WITH_IMBALANCES),
	COLUMN_GET(NULL, "overhead_s", REAL, real, stack_overhead),
	STACK(NULL, "lost", COUNT, lost_calls),
	STACK(NULL, "estimated", BOOL, estimated),
	COLUMN_GET(NULL, "samples", COUNT, count, samples_own, .where = has_samples),
	COLUMN_GET(NULL, "samples_incl", COUNT, count, samples_all, .where = has_samples),
	COLUMN_GET(NULL, "threads", WRITTEN, write, write_threads),
	COLUMN_GET(NULL, "counters", WRITTEN, write, write_counters),
	STACK_ITSELF("Function", NULL, FUNCTION),
	STACK_ITSELF("Caller", NULL, CALLER),
	STACK_ITSELF("STID", NULL, STACK_ID),
	STACK_ITSELF("Callpath", NULL, PATH, .only = WITH_PATHS),
};

static const struct list profile_list = LIST(profile_columns, stacks, .json = "stacks",
	.order = by_configuration, .json_order = by_id, .limited = true, .time = stack_time,
	.ahead = stack_ahead, .late = true);

/* By the time that they are shown with, if the table is to be in the order of that. */
static uint32_t *order_with(const struct report *r, const struct few_samples *few, size_t *n)
{
	const char *by = r->c->profile_table_sort_table_column;
	struct sort_key *keys;

	if (!by || strcmp(by, "time_excl"))
		return by_configuration(r, n);
	*n = r->p->n_stacks;
	keys = xcalloc(*n, sizeof(*keys));
	for (uint32_t i = 0; i < *n; i++)
		keys[i] = (struct sort_key){few->rows[i].excl_ns, r->id[i], i};
	return sort_by_key(keys, *n, r->c->profile_table_sort_table_ascending);
}

static struct table *fill_with(const struct report *r, const struct few_samples *few,
	unsigned asked, struct columns_rows *rows)
{
	struct table *t = columns_table(r, &profile_list, asked);
	size_t n;
	uint32_t *order = order_with(r, few, &n);

	for (size_t i = 0; i < n; i++) {
		const struct row row = {
			.r = r, .at = &r->p->stacks[order[i]], .index = order[i], .more = few};

		if (few->rows[order[i]].is_folded)
			continue;
		if (!columns_leave(r, rows, stack_time(&row)))
			columns_row(t, &profile_list, asked, &row);
		rows->n++;
	}
	free(order);
	return t;
}

/* Those of functions are over all ranks, and differ where some ranks do not have a path. */
static void say_ranks_of_imbalance(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;

	if (r->run && ANY(i, p->n_stacks, p->stacks[i].excl_ns && p->stacks[i].ranks < p->ranks))
		fputs("Imbalance[%] is over the ranks that have the call path; in Functions and "
		      "MPI functions over all.\n",
			f);
}

void section_profile(FILE *f, const struct report *r)
{
	const struct conf *c = r->c;
	bool imbalances = r->log != REPORT_RANK && c->profile_table_show_calltime_imbalances;
	unsigned asked = (c->profile_table_show_overhead ? WITH_OVERHEAD : 0) |
			 (imbalances ? WITH_IMBALANCES : 0) |
			 (c->profile_table_show_callpath ? WITH_PATHS : 0) |
			 (r->p->n_stack_samples ? WITH_SAMPLES : 0);
	struct columns_rows rows = {.n = 0};
	struct few_samples *few;

	if (!c->profile_table_show_table || (r->run && r->is_all))
		return;
	few = few_samples_new(r);
	columns_end(f, r,
		few ? fill_with(r, few, asked, &rows)
		    : columns_fill(r, &profile_list, asked, &rows),
		"Runtime profile", true);
	columns_left(f, r, &rows);
	if (imbalances)
		say_ranks_of_imbalance(f, r);
	few_samples_say(f, r, few);
	free(few);
}

static const struct column lost_columns[] = {
	STACK("Lost calls", NULL, COUNT, lost_calls),
	STACK_ITSELF("Below function", NULL, FUNCTION),
	STACK_ITSELF("Caller", NULL, CALLER),
	STACK_ITSELF("STID", NULL, STACK_ID),
};

static const struct list lost_list =
	LIST(lost_columns, stacks, .title = "Calls that were not recorded", .order = by_lost_calls,
		.shown = has_lost, .limited = true);

void section_lost(FILE *f, const struct report *r)
{
	columns_print(f, r, &lost_list, 0);
}

static const struct column minmax_columns[] = {
	STACK_ITSELF("STID", NULL, STACK_ID),
	STACK_ITSELF("Function", NULL, FUNCTION),
	STACK("t_max[s]", NULL, SECONDS, excl_max_ns, .mark = own_is_marked),
	STACK("rank", NULL, RANK, rank_max),
	STACK("t_min[s]", NULL, SECONDS, excl_min_ns, .mark = own_is_marked),
	STACK("rank", NULL, RANK, rank_min),
	COLUMN_GET("t_avg[s]", NULL, REAL, real, stack_mean, .mark = own_is_marked),
};

static const struct list minmax_list = LIST(
	minmax_columns, stacks, .order = by_greatest_time, .limited = true, .time = stack_time);

bool report_has_minmax(const struct profile *p, const struct conf *c)
{
	return c->profile_table_show_minmax_summary;
}

void section_minmax(FILE *f, const struct report *r)
{
	struct columns_rows rows;

	if (!report_has_minmax(r->p, r->c))
		return;
	columns_end(f, r, columns_fill(r, &minmax_list, 0, &rows),
		"\n Summary: Min/Max runtime across all ranks", false);
	columns_left(f, r, &rows);
}

/* ---- functions of one name ---------------------------------------------------------------- */

/* "4,6,9,..." with at most as many as are configured; more: members of the groups. */
static char *group_ids(const struct row *row)
{
	const struct report *r = row->r;
	const struct report_group *g = row->at;
	const uint32_t *members = row->more;
	long long max = r->c->name_grouped_profile_table_max_stack_ids;
	size_t n = max <= 0 ? 0 : g->n < (size_t)max ? g->n : (size_t)max, bytes = 0;
	char *list = xmalloc(n * 21 + 8);

	for (size_t i = 0; i < n; i++) {
		uint64_t id = r->id[members[g->first + i]];

		r->listed[members[g->first + i]] = true;
		if (id == REPORT_NO_ID)
			bytes += sprintf(list + bytes, "%s" COLUMN_NOTHING, i ? "," : "");
		else
			bytes += sprintf(list + bytes, "%s%" PRIu64, i ? "," : "", id);
	}
	strcpy(list + bytes, g->n > n ? (n ? ",..." : "...") : "");
	return list;
}

static void write_ids(struct json *j, const char *key, const struct row *row)
{
	const struct report_group *g = row->at;
	const uint32_t *members = row->more;

	json_array(j, key);
	json_next(j, &json_element);
	for (size_t i = 0; i < g->n; i++) {
		if (i + AHEAD < g->n)
			__builtin_prefetch(&row->r->id[members[g->first + i + AHEAD]]);
		json_uint(j, NULL, row->r->id[members[g->first + i]]);
	}
	json_next(j, NULL);
	json_close(j);
}

static bool group_own_is_marked(const struct row *row)
{
	const struct report_group *g = row->at;
	const uint32_t *members = row->more;

	return report_any_counted(row->r, members + g->first, g->n);
}

/* Of nested paths of one function the outermost has the time, but all say the same of it. */
static bool group_is_marked(const struct row *row)
{
	const struct report_group *g = row->at;
	const uint32_t *members = row->more;
	bool marked = false;

	for (size_t i = 0; i < g->n; i++) {
		const struct profile_stack *s = &row->r->p->stacks[members[g->first + i]];

		marked |= s->estimated && s->calls;
	}
	return marked;
}

ROW_VALUE(double, group_percent, report_group, percent(row->r, at->excl_ns))
ROW_VALUE(const char *, group_name, report_group, row->r->shown[at->name])
ROW_VALUE(const char *, group_cell, report_group, row->r->cell[at->name])
ROW_VALUE(const char *, group_raw, report_group, row->r->p->names[at->name])
ROW_VALUE(char *, group_full, report_group, report_full_name(row->r, row->r->p->names[at->name]))
ROW_VALUE(bool, group_is_cxx, report_group, !strncmp(row->r->p->names[at->name], "_Z", 2))
ROW_VALUE(
	bool, group_differs, report_group, report_name_differs(row->r, row->r->p->names[at->name]))

static const struct profile_source *group_source(const struct row *row)
{
	const struct report_group *g = row->at;

	return report_source(row->r, row->r->p->names[g->name]);
}

static bool group_has_source(const struct row *row)
{
	return group_source(row);
}

static const char *group_file(const struct row *row)
{
	return group_source(row)->file;
}

static uint64_t group_line(const struct row *row)
{
	return group_source(row)->line;
}

ROW_VALUE(bool, group_has_samples, report_group, at->samples)
ROW_VALUE(bool, group_has_calls, report_group, calls_are_known(row->r->p, at->calls))
ROW_VALUE(double, group_error, report_group, samples_error_s(at->estimated_ns, at->samples))

#define GROUP(title, json, type, member, ...)                                                      \
	COLUMN(title, json, type, struct report_group, member, ##__VA_ARGS__)

static const struct column group_columns[] = {
	COLUMN_GET(NULL, "function", TEXT, text, group_name),
	COLUMN_GET(NULL, "full_name", MADE, made, group_full, .where = group_is_cxx),
	COLUMN_GET(NULL, "linker_name", TEXT, text, group_raw, .where = group_differs),
	COLUMN_GET(NULL, "file", TEXT, text, group_file, .where = group_has_source),
	COLUMN_GET(NULL, "line", COUNT, count, group_line, .where = group_has_source),
	GROUP("Calls", "calls", COUNT, calls, .log_where = group_has_calls),
	GROUP("t_excl[s]", NULL, SECONDS, excl_ns, .mark = group_own_is_marked),
	COLUMN_GET("~[s]", "t_excl_error_s", REAL, real, group_error, .where = group_has_samples,
		.only = WITH_SAMPLES),
	COLUMN_GET("t_excl[%]", NULL, REAL, real, group_percent, .decimals = 1),
	GROUP("t_incl[s]", "t_incl_s", SECONDS, incl_ns, .mark = group_is_marked),
	GROUP(NULL, "t_excl_s", SECONDS, excl_ns),
	GROUP(NULL, "samples", COUNT, samples, .where = group_has_samples),
	COLUMN_GET("Function", NULL, TEXT, text, group_cell),
	COLUMN_GET("STIDs", NULL, MADE, made, group_ids, .left = true),
	COLUMN_GET(NULL, "stacks", WRITTEN, write, write_ids),
};

static const struct list group_list = LIST_OF(group_columns, struct report_group);

bool report_has_groups(const struct profile *p, const struct conf *c)
{
	const long long wanted = c->name_grouped_profile_table_show_table;

	if (wanted != CONF_AUTO)
		return wanted;
	/* layout run has another table of functions */
	return p->n_stack_samples && strcmp(c->output_layout, "run");
}

/* Below the first ones, its time says nothing. What has calls, too, is known exactly in part. */
static bool group_has_few(const struct report *r, const struct report_group *g)
{
	return r->p->n_stack_samples && !g->calls && g->excl_ns == g->estimated_ns &&
	       g->samples < (uint64_t)r->c->profile_table_min_samples;
}

static void print_groups(FILE *f, const struct report *r)
{
	const struct conf *c = r->c;
	const char *by = c->name_grouped_profile_table_sort_table_column;
	bool none = !by || !strcmp(by, "none");
	struct report_group *groups;
	const uint32_t *members;
	size_t n = report_groups(r, &groups, &members);
	const unsigned asked = r->p->n_stack_samples ? WITH_SAMPLES : 0;
	struct table *t = columns_table(r, &group_list, asked);
	struct columns_rows rows = {.n = 0};

	sort_groups(groups, n, r, members, by,
		none || c->name_grouped_profile_table_sort_table_ascending);
	for (size_t i = 0; i < n; i++, rows.n++) {
		if (i >= GROUPS_ALWAYS && group_has_few(r, &groups[i])) {
			rows.left++;
			rows.left_ns += groups[i].excl_ns;
		} else if (!columns_leave(r, &rows, groups[i].excl_ns)) {
			columns_row(t, &group_list, asked,
				&(struct row){.r = r, .at = &groups[i], .more = members});
		}
	}
	columns_end(f, r, t, "Runtime profile (Grouped by function name)", true);
	columns_left(f, r, &rows);
	free(groups);
}

void section_grouped(FILE *f, const struct report *r)
{
	if (report_has_groups(r->p, r->c))
		print_groups(f, r);
}

void json_stacks(struct json *j, const struct report *r)
{
	struct report_group *groups;
	const uint32_t *members;
	size_t n = report_groups(r, &groups, &members);

	columns_json(j, r, &profile_list);
	json_array(j, "functions");
	for (size_t i = 0; i < n; i++)
		columns_object(
			j, &group_list, &(struct row){.r = r, .at = &groups[i], .more = members});
	json_close(j);
	free(groups);
}

/* ---- all call paths ----------------------------------------------------------------------- */

void section_stacks(FILE *f, const struct report *r)
{
	if (!r->c->stacklist_show_stacklist || (r->run && r->is_all))
		return;

	struct table *t = table_new(TABLE_LIST);
	struct few_samples *few = few_samples_new(r);
	/* of those that are shown, as in the profile */
	uint32_t *order =
		r->run ? sort_stacks(r, "time_excl", false) : sort_stacks(r, "stack_id", true);

	table_limit(t, (size_t)r->c->output_max_columns);
	table_column(t, "STID", TABLE_RIGHT);
	table_column(t, "Call stack", TABLE_LEFT);
	for (size_t i = 0; i < r->p->n_stacks; i++) {
		const bool folded = few && few->rows[order[i]].is_folded;

		if ((r->run || folded) && !r->listed[order[i]])
			continue;

		char id[32] = "STID" COLUMN_NOTHING, *path = report_path(r, order[i]);

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
	free(few);
}
