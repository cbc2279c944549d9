/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows as a table for a terminal, as CSV, and as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/show/rows.h"
#include "nodeagent/tool/show/words.h"

#define NAME_LEAST 12 /* columns of a name where there is little room */
#define ROWS	   20

static uint64_t number_of(const struct show_column *c, const struct show_row *row)
{
	uint64_t value;

	memcpy(&value, (const char *)row + c->offset, sizeof(value));
	return value;
}

static double real_of(const struct show_column *c, const struct show_row *row)
{
	double value;

	memcpy(&value, (const char *)row + c->offset, sizeof(value));
	return value;
}

static bool is_known(const struct show_column *c, const struct show_row *row)
{
	return c->type == SHOW_TEXT || (c->type == SHOW_REAL ? isfinite(real_of(c, row))
							     : number_of(c, row) != ROW_UNKNOWN);
}

static bool is_calls(const struct show_column *c)
{
	return c->type == SHOW_COUNT && c->offset == offsetof(struct show_row, calls);
}

static bool is_inclusive(const struct show_column *c)
{
	return c->offset == offsetof(struct show_row, incl_ns);
}

/* ---- a table -------------------------------------------------------------------------- */

static char *cell_of(
	const struct show_rows *rows, const struct show_column *c, const struct show_row *row)
{
	if (!is_known(c, row) || (is_calls(c) && row->estimated && !row->calls))
		return xstrdup("-");
	switch (c->type) {
	case SHOW_TIME:
		return words_time_marked(
			number_of(c, row), is_inclusive(c) ? row->estimated : row->own_estimated);
	case SHOW_COUNT:
		return words_count(number_of(c, row));
	case SHOW_NUMBER:
		return xasprintf("%" PRIu64, number_of(c, row));
	case SHOW_REAL:
		return xasprintf("%.1f", real_of(c, row));
	default:
		return c->text(rows, row);
	}
}

struct grid {
	const struct show_columns *columns;
	char **cells; /* by row, then column */
	size_t n;
	size_t width[SHOW_COLUMNS_MAX];
	struct text_cuts *cuts[SHOW_COLUMNS_MAX];
};

static void measure_columns(struct grid *g)
{
	for (size_t k = 0; k < g->columns->n; k++) {
		g->width[k] = strlen(g->columns->at[k]->title);
		for (size_t i = 0; i < g->n; i++) {
			char *plain = text_plain(g->cells[i * g->columns->n + k]);
			const size_t wide = text_columns(plain);

			g->width[k] = wide > g->width[k] ? wide : g->width[k];
			free(plain);
		}
	}
}

/* The narrowest text that has no room yet, or the number of columns. */
static size_t narrowest(const struct grid *g, const bool *done)
{
	size_t at = g->columns->n;

	for (size_t k = 0; k < g->columns->n; k++)
		if (!done[k] && (at == g->columns->n || g->width[k] < g->width[at]))
			at = k;
	return at;
}

/* Texts share what the numbers leave of the line; short ones first, for all that they need. */
static void share_out(struct grid *g)
{
	const size_t n = g->columns->n;
	size_t room = WORDS_WIDTH - 2 * (n - 1), texts = 0, at;
	bool done[SHOW_COLUMNS_MAX] = {false};

	for (size_t k = 0; k < n; k++) {
		done[k] = g->columns->at[k]->type != SHOW_TEXT;
		texts += !done[k];
		if (done[k])
			room = room > g->width[k] ? room - g->width[k] : 0;
	}
	for (; (at = narrowest(g, done)) < n; texts--) {
		size_t share = room / texts > NAME_LEAST ? room / texts : NAME_LEAST;

		share = g->width[at] < share ? g->width[at] : share;
		room = room > share ? room - share : 0;
		g->width[at] = share;
		done[at] = true;
	}
}

static void put_cell(const struct grid *g, size_t k, const char *text)
{
	const bool is_text = g->columns->at[k]->type == SHOW_TEXT, last = k + 1 == g->columns->n;
	char *shown = words_name(g->cuts[k], text, g->width[k] < 8 ? 8 : g->width[k]);
	const size_t wide = text_columns(shown);
	const int fill = wide < g->width[k] ? (int)(g->width[k] - wide) : 0;

	if (is_text)
		printf("%s%*s%s", shown, last ? 0 : fill, "", last ? "\n" : "  ");
	else
		printf("%*s%s%s", fill, "", shown, last ? "\n" : "  ");
	free(shown);
}

static void print_grid(struct grid *g)
{
	const size_t n = g->columns->n;

	measure_columns(g);
	share_out(g);
	for (size_t k = 0; k < n; k++) {
		const bool path = !strcmp(g->columns->at[k]->name, "path");

		g->cuts[k] = text_cuts_new(path ? TEXT_BEGINNING : TEXT_BOTH_ENDS);
		for (size_t i = 0; i < g->n; i++) {
			char *plain = text_plain(g->cells[i * n + k]); /* as words_name() */

			if (text_columns(plain) <= g->width[k])
				text_cuts_whole(g->cuts[k], plain);
			free(plain);
		}
	}
	for (size_t k = 0; k < n; k++)
		put_cell(g, k, g->columns->at[k]->title);
	for (size_t i = 0; i < g->n * n; i++)
		put_cell(g, i % n, g->cells[i]);
	for (size_t k = 0; k < n; k++)
		text_cuts_free(g->cuts[k]);
}

/* The last line: what was left out. */
static void print_rest(const struct show_rows *rows, const struct show_request *r, size_t shown)
{
	const char *what = rows->by_path ? "call paths" : "functions";
	uint64_t rest = rows->all_excl_ns;
	char *time;

	for (size_t i = 0; i < shown; i++)
		rest -= rows->rows[i].excl_ns;
	time = words_time(rest);
	if (shown == rows->all)
		printf("all %zu %s\n", shown, what);
	else
		printf("%zu of %zu %s%s; the other %zu have %s (%.1f %%) of own time%s\n", shown,
			rows->all, what, r->filter ? " (--filter)" : "", rows->all - shown, time,
			rows->all_excl_ns ? 100.0 * (double)rest / (double)rows->all_excl_ns : 0.0,
			shown < rows->n ? ": -n 0 shows all" : "");
	free(time);
}

static void print_table(const struct show_rows *rows, const struct show_request *r,
	const struct show_columns *columns, size_t n)
{
	struct grid g = {.columns = columns, .n = n};
	char *head = run_headline(rows->run);

	printf("%s\n", head);
	for (size_t i = 0; i < rows->run->p->n_warnings; i++) {
		char *text = text_plain(rows->run->p->warnings[i]);

		printf("Warning: %s\n", text);
		free(text);
	}
	g.cells = xcalloc(n * columns->n + 1, sizeof(*g.cells));
	for (size_t i = 0; i < n * columns->n; i++)
		g.cells[i] =
			cell_of(rows, columns->at[i % columns->n], &rows->rows[i / columns->n]);
	putchar('\n');
	print_grid(&g);
	putchar('\n');
	print_rest(rows, r, n);
	for (size_t i = 0; i < n * columns->n; i++)
		free(g.cells[i]);
	free(g.cells);
	free(head);
}

/* ---- CSV (RFC 4180, with the line ends of Unix) --------------------------------------- */

static void put_csv(
	const struct show_rows *rows, const struct show_column *c, const struct show_row *row)
{
	uint64_t n = 0;
	char *text;

	if (!is_known(c, row))
		return;
	if (c->type < SHOW_REAL)
		n = number_of(c, row);
	switch (c->type) {
	case SHOW_TIME:
		printf("%" PRIu64 ".%09" PRIu64, n / 1000000000, n % 1000000000);
		break;
	case SHOW_REAL:
		printf("%.9f", real_of(c, row));
		break;
	case SHOW_TEXT:
		text = c->text(rows, row);
		text_put_csv(stdout, text);
		free(text);
		break;
	default:
		printf("%" PRIu64, n);
	}
}

static void print_csv(const struct show_rows *rows, const struct show_columns *columns, size_t n)
{
	for (size_t k = 0; k < columns->n; k++)
		printf("%s%s", k ? "," : "", columns->at[k]->key);
	putchar('\n');
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < columns->n; k++) {
			put_csv(rows, columns->at[k], &rows->rows[i]);
			putchar(k + 1 < columns->n ? ',' : '\n');
		}
}

/* ---- JSON ----------------------------------------------------------------------------- */

static void put_json(struct json *j, const struct show_rows *rows, const struct show_column *c,
	const struct show_row *row)
{
	char *text;

	if (!is_known(c, row)) {
		json_real(j, c->key, NAN);
		return;
	}
	switch (c->type) {
	case SHOW_TIME:
		json_seconds(j, c->key, number_of(c, row));
		break;
	case SHOW_REAL:
		json_real(j, c->key, real_of(c, row));
		break;
	case SHOW_TEXT:
		text = c->text(rows, row);
		json_string(j, c->key, text);
		free(text);
		break;
	default:
		json_uint(j, c->key, number_of(c, row));
	}
}

static void print_json(const struct show_rows *rows, const struct show_columns *columns, size_t n)
{
	const struct profile *p = rows->run->p;
	struct json j;

	json_begin(&j, stdout, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-show");
	json_uint(&j, "version", 1);
	json_string(&j, "run", rows->run->name);
	json_uint(&j, "ranks", report_all_ranks(p));
	json_real(&j, "runtime_s", p->runtime_s);
	json_seconds(&j, "t_excl_s", rows->all_excl_ns);
	json_uint(&j, rows->by_path ? "call_paths" : "functions", rows->all);
	json_array(&j, "warnings");
	for (size_t i = 0; i < p->n_warnings; i++)
		json_string(&j, NULL, p->warnings[i]);
	json_close(&j);
	json_array(&j, "rows");
	for (size_t i = 0; i < n; i++) {
		json_object(&j, NULL);
		for (size_t k = 0; k < columns->n; k++)
			put_json(&j, rows, columns->at[k], &rows->rows[i]);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}

bool rows_print(const struct show_rows *rows, const struct show_request *r)
{
	const bool script = r->csv || r->json;
	const uint64_t limit = r->limited ? r->limit : script ? 0 : ROWS;
	const size_t n = limit && limit < rows->n ? limit : rows->n;
	struct show_columns columns;

	if (!show_columns_choose(&columns, rows, r))
		return false;
	if (r->csv)
		print_csv(rows, &columns, n);
	else if (r->json)
		print_json(rows, &columns, n);
	else
		print_table(rows, r, &columns, n);
	return true;
}
