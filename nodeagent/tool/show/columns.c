/* SPDX-License-Identifier: BSD-3-Clause */
/* The columns that vftr show has, one row each. */
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/show/rows.h"

static const char *name_of(const struct show_rows *rows, uint32_t stack)
{
	const struct report *r = &rows->run->r;

	return stack == PROFILE_NONE ? "" : r->shown[r->p->stacks[stack].name];
}

static char *function_text(const struct show_rows *rows, const struct show_row *row)
{
	return xstrdup(name_of(rows, row->stack));
}

static char *caller_text(const struct show_rows *rows, const struct show_row *row)
{
	if (row->paths > 1)
		return xasprintf("(%llu call paths)", (unsigned long long)row->paths);
	return xstrdup(name_of(rows, rows->run->r.parent[row->stack]));
}

static char *path_text(const struct show_rows *rows, const struct show_row *row)
{
	return row->paths > 1 ? caller_text(rows, row) : report_path(&rows->run->r, row->stack);
}

/* "heat.c:42"; the whole path where a program reads it. */
static char *source_text(const struct show_rows *rows, const struct show_row *row)
{
	const struct report *r = &rows->run->r;
	const struct profile_source *at =
		report_source(r, r->p->names[r->p->stacks[row->stack].name]);

	return at ? xasprintf("%s:%u", rows->whole ? at->file : basename(at->file), at->line)
		  : xstrdup("");
}

#define VALUE(name, title, key, type, member)                                                      \
	{                                                                                          \
		name, title, key, SHOW_##type, offsetof(struct show_row, member), NULL             \
	}
#define TEXT(name, title, get)                                                                     \
	{                                                                                          \
		name, title, name, SHOW_TEXT, 0, get                                               \
	}

static const struct show_column columns[] = {
	VALUE("percent", "own %", "t_excl_percent", REAL, percent),
	VALUE("excl", "own time", "t_excl_s", TIME, excl_ns),
	VALUE("incl", "with callees", "t_incl_s", TIME, incl_ns),
	VALUE("calls", "calls", "calls", COUNT, calls),
	VALUE("per_call", "own/call", "t_excl_per_call_s", TIME, call_ns),
	VALUE("imbalance", "imbal. %", "imbalance_percent", REAL, imbalance),
	VALUE("rank", "on rank", "imbalance_rank", NUMBER, rank),
	VALUE("ranks", "ranks", "ranks", COUNT, ranks),
	VALUE("min", "least", "t_excl_min_s", TIME, min_ns),
	VALUE("rank_min", "on", "rank_min", NUMBER, rank_min),
	VALUE("max", "most", "t_excl_max_s", TIME, max_ns),
	VALUE("rank_max", "on", "rank_max", NUMBER, rank_max),
	VALUE("lost", "lost", "lost", COUNT, lost),
	VALUE("paths", "paths", "paths", COUNT, paths),
	VALUE("id", "STID", "id", NUMBER, id),
	TEXT("function", "function", function_text),
	TEXT("caller", "caller", caller_text),
	TEXT("path", "call path", path_text),
	TEXT("source", "source", source_text),
};

static const struct show_column *find_column(const char *name, size_t bytes)
{
	return FIND(x, columns, ARRAY_SIZE(columns),
		strlen(x->name) == bytes && !memcmp(x->name, name, bytes));
}

/* Imbalances are of several ranks only; scripts get the same columns from all runs. */
static const char *usual_columns(const struct show_rows *rows, const struct show_request *r)
{
	if (r->csv || r->json)
		return rows->by_path
			       ? "id,function,caller,calls,excl,percent,incl,per_call,ranks,min,"
				 "rank_min,max,rank_max,imbalance,rank,lost,path"
			       : "function,calls,excl,percent,incl,per_call,paths,ranks,min,"
				 "rank_min,max,rank_max,imbalance,rank,lost";
	if (rows->run->p->ranks > 1)
		return rows->by_path ? "percent,excl,incl,calls,imbalance,rank,path"
				     : "percent,excl,incl,calls,imbalance,rank,function";
	return rows->by_path ? "percent,excl,incl,calls,path"
			     : "percent,excl,incl,calls,per_call,function";
}

bool show_columns_choose(
	struct show_columns *to, const struct show_rows *rows, const struct show_request *r)
{
	const char *list = r->columns ? r->columns : usual_columns(rows, r);

	*to = (struct show_columns){0};
	for (;;) {
		const size_t bytes = strcspn(list, ",");
		const struct show_column *column = find_column(list, bytes);

		if (!column)
			complain("--columns: there is no column `%.*s'; see vftr show --help",
				(int)(bytes < 60 ? bytes : 60), list);
		else if (to->n == SHOW_COLUMNS_MAX)
			complain("--columns: `%.*s' is one more than %d columns", (int)bytes, list,
				SHOW_COLUMNS_MAX);
		if (!column || to->n == SHOW_COLUMNS_MAX)
			return false;
		to->at[to->n++] = column;
		if (!list[bytes])
			return true;
		list += bytes + 1;
	}
}

void show_columns_help(FILE *f)
{
	size_t width = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		const size_t bytes = strlen(columns[i].name) + 1;

		width = width + bytes > 68 ? 0 : width;
		fprintf(f, "%s%s", width ? " " : i ? "\n    " : "    ", columns[i].name);
		width += bytes;
	}
	fputc('\n', f);
}
