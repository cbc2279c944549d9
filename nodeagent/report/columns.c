/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/digits.h"
#include "nodeagent/base/forest.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/report.h"

#define PATH_COLUMNS 250
#define AHEAD	     16u /* records that are asked for before they are needed */

uint32_t column_caller(const struct report *r, uint32_t stack)
{
	uint32_t parent = r->parent[stack];

	return parent == PROFILE_NONE ? PROFILE_NONE : r->p->stacks[parent].name;
}

/* ---- in the logs -------------------------------------------------------------------------- */

static void cell_text(struct table *t, const char *text)
{
	table_text(t, text ? text : COLUMN_NOTHING);
}

static void cell_real(struct table *t, const struct column *c, double value, int decimals)
{
	table_real(t, (int)c->width, c->decimals ? c->decimals : decimals, value);
}

#define CELL(name, statement)                                                                      \
	static void cell_##name(struct table *t, const struct column *c, const struct row *row)    \
	{                                                                                          \
		statement;                                                                         \
	}

CELL(count, table_uint(t, column_count(c, row)))
CELL(signed, table_real(t, 0, 0, (double)column_signed(c, row)))
CELL(rank, table_uint(t, profile_rank_shown(row->r->p, (uint32_t)column_count(c, row))))
CELL(seconds, cell_real(t, c, 1e-9 * (double)column_count(c, row), 3))
CELL(us, cell_real(t, c, 1e-3 * (double)column_count(c, row), 2))
CELL(mib, cell_real(t, c, (double)column_count(c, row) / 1048576.0, 2))
CELL(number, cell_real(t, c, column_real(c, row), 3))
CELL(scientific, table_scientific(t, 3, column_real(c, row)))
CELL(string, cell_text(t, column_text(c, row)))
CELL(function, table_text(t, row->r->cell[row->r->p->stacks[column_stack(c, row)].name]))

static void cell_optional(struct table *t, const struct column *c, const struct row *row)
{
	uint64_t value = column_count(c, row);

	if (value == PROFILE_NONE)
		table_text(t, COLUMN_NOTHING);
	else
		table_uint(t, value);
}

static void cell_made(struct table *t, const struct column *c, const struct row *row)
{
	char *text = c->get.made(row);

	cell_text(t, text);
	free(text);
}

static void cell_hex(struct table *t, const struct column *c, const struct row *row)
{
	char text[17];

	*digits_hex(text, column_count(c, row)) = '\0';
	table_text(t, text);
}

static void cell_caller(struct table *t, const struct column *c, const struct row *row)
{
	uint32_t name = column_caller(row->r, column_stack(c, row));

	table_text(t, name == PROFILE_NONE ? COLUMN_NOTHING : row->r->cell[name]);
}

static void cell_stack_id(struct table *t, const struct column *c, const struct row *row)
{
	uint32_t stack = column_stack(c, row);
	uint64_t id = row->r->id[stack];

	row->r->listed[stack] = true;
	if (id == REPORT_NO_ID)
		table_text(t, COLUMN_NOTHING);
	else
		table_uint(t, id);
}

static void cell_path(struct table *t, const struct column *c, const struct row *row)
{
	char *path = report_path(row->r, column_stack(c, row));

	table_text(t, path);
	free(path);
}

/* ---- lists -------------------------------------------------------------------------------- */

static void (*const cells[COLUMN_TYPES])(
	struct table *t, const struct column *c, const struct row *row) = {
	[COLUMN_COUNT] = cell_count,
	[COLUMN_SIGNED] = cell_signed,
	[COLUMN_INDEX] = cell_optional,
	[COLUMN_OPTIONAL] = cell_optional,
	[COLUMN_RANK] = cell_rank,
	[COLUMN_SECONDS] = cell_seconds,
	[COLUMN_US] = cell_us,
	[COLUMN_MIB] = cell_mib,
	[COLUMN_REAL] = cell_number,
	[COLUMN_EXACT] = cell_number,
	[COLUMN_SCIENTIFIC] = cell_scientific,
	[COLUMN_TEXT] = cell_string,
	[COLUMN_MADE] = cell_made,
	[COLUMN_HEX] = cell_hex,
	[COLUMN_FUNCTION] = cell_function,
	[COLUMN_CALLER] = cell_caller,
	[COLUMN_STACK_ID] = cell_stack_id,
	[COLUMN_PATH] = cell_path,
};

static bool in_log(const struct column *c, unsigned asked)
{
	return c->title && (c->only & asked) == c->only;
}

struct table *columns_begin(const struct report *r)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_limit(t, (size_t)r->c->output_max_columns);
	return t;
}

/* What the titles of columns say of their numbers, and the table's unit in that. */
static const struct quantity_title {
	const char *end;
	enum table_unit unit;
	double one;
} quantities[] = {
	{"[s]", TABLE_SECONDS, 1.0},
	{"[us]", TABLE_SECONDS, 1e-6},
	{"[B/s]", TABLE_RATE, 1.0},
	{"[B]", TABLE_BYTES, 1.0},
	{"[MiB]", TABLE_BYTES, 1048576.0},
};

static const char *title_of(const struct column *c, bool run)
{
	return run && c->run ? c->run : c->title;
}

/* NULL: none of these; *bytes: of the title before that end. */
static const struct quantity_title *quantity_of(const struct column *c, size_t *bytes)
{
	const char *title = title_of(c, true), *end = strrchr(title, '[');

	for (size_t i = 0; end && i < ARRAY_SIZE(quantities); i++)
		if (!strcmp(end, quantities[i].end)) {
			*bytes = (size_t)(end - title);
			return &quantities[i];
		}
	return NULL;
}

static void add_column(struct table *t, const struct column *c, bool run)
{
	const enum table_align align = c->left ? TABLE_LEFT : TABLE_RIGHT;
	size_t bytes;
	const struct quantity_title *q = run ? quantity_of(c, &bytes) : NULL;

	if (q) {
		char *title = xasprintf("%.*s", (int)bytes, title_of(c, run));

		table_column_of(t, title, align, q->unit);
		free(title);
	} else {
		table_column(t, title_of(c, run), align);
	}
	if (c->spare)
		table_spare(t);
	if (c->type == COLUMN_PATH)
		table_most(t, PATH_COLUMNS, TEXT_BOTH_ENDS);
	else if (c->width && (c->type == COLUMN_TEXT || c->type == COLUMN_MADE))
		table_most(t, c->width, TEXT_BOTH_ENDS);
}

struct table *columns_table(const struct report *r, const struct list *l, unsigned asked)
{
	struct table *t = columns_begin(r);

	for (size_t i = 0; i < l->n_columns; i++)
		if (in_log(&l->columns[i], asked))
			add_column(t, &l->columns[i], r->run);
	return t;
}

static void cell_quantity(struct table *t, const struct column *c, const struct row *row)
{
	size_t bytes;

	switch (c->type) {
	case COLUMN_SECONDS:
	case COLUMN_US:
		table_quantity(t, 1e-9 * (double)column_count(c, row));
		return;
	case COLUMN_COUNT:
	case COLUMN_MIB:
		table_quantity(t, (double)column_count(c, row));
		return;
	default:
		table_quantity(t, column_real(c, row) * quantity_of(c, &bytes)->one);
	}
}

void columns_row(struct table *t, const struct list *l, unsigned asked, const struct row *row)
{
	EACH(const struct column, c, l->columns, l->n_columns) {
		if (!in_log(c, asked))
			continue;
		if (c->mark && c->mark(row))
			table_mark(t);
		if ((c->where && !c->where(row)) || (c->log_where && !c->log_where(row)))
			table_text(t, COLUMN_NOTHING);
		else if (table_takes_quantity(t))
			cell_quantity(t, c, row);
		else
			cells[c->type](t, c, row);
	}
}

void columns_close(FILE *f, const struct report *r, struct table *t)
{
	size_t n = table_print(t, f);

	if (n)
		fprintf(f, "... %zu %s for which there is no room %s in the JSON file\n", n,
			one_or_many(n, "column", "columns"), one_or_many(n, "is", "are"));
	table_free(t);
}

void columns_end(FILE *f, const struct report *r, struct table *t, const char *title, bool is_sum)
{
	uint32_t n = r->log == REPORT_SUMMARY ? report_all_ranks(r->p) : r->p->ranks;

	fprintf(f, "\n%s", title);
	if (is_sum && r->run && n > 1)
		fprintf(f, " (sum over %" PRIu32 " %s)", n,
			r->p->world_size ? "ranks" : "processes");
	fputc('\n', f);
	columns_close(f, r, t);
}

const char *columns_elements(const struct report *r, const struct list *l, size_t *n)
{
	const char *first;

	memcpy(&first, (const char *)r->p + l->offset, sizeof(first));
	memcpy(n, (const char *)r->p + l->n_offset, sizeof(*n));
	return first;
}

bool columns_leave(const struct report *r, struct columns_rows *rows, uint64_t ns)
{
	const long long most = r->c->profile_table_max_rows;
	const bool known = ns != UINT64_MAX;
	const double least_ns = 1e7 * r->c->profile_table_min_percent * r->excl_s;

	if ((!most || rows->n - rows->left < (size_t)most) && (!known || (double)ns >= least_ns))
		return false;
	rows->left++;
	if (known)
		rows->left_ns += ns;
	return true;
}

/* order: NULL for as they are */
static struct table *fill_table(const struct report *r, const struct list *l, unsigned asked,
	const char *first, size_t n, const uint32_t *order, struct columns_rows *rows)
{
	struct table *t = columns_table(r, l, asked);

	*rows = (struct columns_rows){.n = 0};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = order ? order[i] : i;
		struct row row = {.r = r, .at = first + k * l->size, .index = k};

		if (order && i + AHEAD < n)
			__builtin_prefetch(first + order[i + AHEAD] * l->size);
		if (l->shown && !l->shown(&row))
			continue;
		if (l->things ? rows->n < COLUMN_ROWS
			      : !l->limited || !columns_leave(r, rows,
						       l->time ? l->time(&row) : UINT64_MAX))
			columns_row(t, l, asked, &row);
		rows->n++;
	}
	return t;
}

void columns_left(FILE *f, const struct report *r, const struct columns_rows *rows)
{
	if (!rows->left)
		return;
	fprintf(f, "... %s %s", quantity_grouped(rows->left).text,
		one_or_many(rows->left, "row", "rows"));
	if (rows->left_ns)
		fprintf(f, " with together %.1f %% (%.2f s)",
			r->excl_s > 0.0 ? 1e-7 * (double)rows->left_ns / r->excl_s : 0.0,
			1e-9 * (double)rows->left_ns);
	fprintf(f, " %s in the JSON file\n", one_or_many(rows->left, "is", "are"));
}

static void print_table(FILE *f, const struct report *r, struct table *t, const struct list *l,
	const struct columns_rows *rows)
{
	if (!rows->n) {
		table_free(t);
		return;
	}
	columns_end(f, r, t, l->title, l->sum);
	if (l->things)
		columns_more(f, rows->n, l->things);
	columns_left(f, r, rows);
}

struct table *columns_fill(
	const struct report *r, const struct list *l, unsigned asked, struct columns_rows *rows)
{
	size_t n;
	const char *first = columns_elements(r, l, &n);
	uint32_t *order = l->order    ? l->order(r, &n)
			  : l->weight ? sort_falling(r->p, n, l->weight)
				      : NULL;
	struct table *t = fill_table(r, l, asked, first, n, order, rows);

	free(order);
	return t;
}

void columns_print(FILE *f, const struct report *r, const struct list *l, unsigned asked)
{
	struct columns_rows rows;
	struct table *t = columns_fill(r, l, asked, &rows);

	print_table(f, r, t, l, &rows);
}

void columns_print_of(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	const void *records, size_t n)
{
	struct columns_rows rows;
	struct table *t = fill_table(r, l, asked, records, n, NULL, &rows);

	print_table(f, r, t, l, &rows);
}

size_t columns_print_tree(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	struct forest *tree, const void *more, size_t most)
{
	size_t n, rows = 0;
	const char *first = columns_elements(r, l, &n);
	struct table *t = columns_table(r, l, asked);

	for (uint32_t i = tree->first; i != FOREST_NONE && rows < most;
		i = forest_next(tree, i), rows++)
		columns_row(t, l, asked,
			&(struct row){r, first + i * l->size, i, tree->level[i], more});
	columns_end(f, r, t, l->title, l->sum);
	return n - rows;
}

void columns_more(FILE *f, size_t n, const char *things)
{
	if (n > COLUMN_ROWS)
		fprintf(f, "... and %zu %s more; the JSON file has all of them.\n", n - COLUMN_ROWS,
			things);
}

void columns_rest(FILE *f, size_t n, const char *one, const char *many)
{
	if (n)
		fprintf(f, "... and %zu %s more\n", n, one_or_many(n, one, many));
}
