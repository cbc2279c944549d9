/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table renderer. Cells lie one after the other in one buffer, each with
 * its NUL, so that a table of a million cells is a handful of allocations.
 */
#include "nodeagent/base/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

/* List columns are not padded beyond this: paths may be very long. */
#define LIST_PADDING 80

/* Larger numbers are written with an exponent: doubles know no more digits. */
#define REAL_MAX 1e15
#define NOTHING	 "----"

struct column {
	char *title;
	enum table_align align;
	size_t width;
};

struct table {
	enum table_style style;
	struct column *columns;
	size_t n_columns, cap_columns;
	size_t n_cells;
	char *text;
	size_t bytes, cap_bytes;
};

struct table *table_new(enum table_style style)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->style = style;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n_columns; i++)
		free(t->columns[i].title);
	free(t->columns);
	free(t->text);
	free(t);
}

void table_column(struct table *t, const char *title, enum table_align align)
{
	t->columns = grow(t->columns, t->n_columns, &t->cap_columns, sizeof(*t->columns));
	t->columns[t->n_columns++] = (struct column){
		.title = text_plain(title),
		.align = align,
		.width = text_columns(title),
	};
}

static void append(struct table *t, const char *plain, size_t bytes, size_t columns)
{
	struct column *c = &t->columns[t->n_cells++ % t->n_columns];

	if (columns > c->width)
		c->width = columns;
	if (t->cap_bytes - t->bytes < bytes + 1) {
		t->cap_bytes = 2 * (t->bytes + bytes) + 4096;
		t->text = xrealloc(t->text, t->cap_bytes);
	}
	memcpy(t->text + t->bytes, plain, bytes + 1);
	t->bytes += bytes + 1;
}

void table_text(struct table *t, const char *text)
{
	char *plain = text_plain(text);

	append(t, plain, strlen(plain), text_columns(plain));
	free(plain);
}

void table_uint(struct table *t, uint64_t value)
{
	char cell[24];
	int n = snprintf(cell, sizeof(cell), "%" PRIu64, value);

	append(t, cell, n, n);
}

void table_real(struct table *t, int width, int decimals, double value)
{
	char cell[40];
	int n;

	if (!isfinite(value))
		n = snprintf(cell, sizeof(cell), "%*s", width, NOTHING);
	else if (fabs(value) < REAL_MAX)
		n = snprintf(cell, sizeof(cell), "%*.*f", width, decimals, value);
	else
		n = snprintf(cell, sizeof(cell), "%*.*e", width, decimals, value);
	append(t, cell, n, n);
}

void table_scientific(struct table *t, int decimals, double value)
{
	char cell[64];
	int n = isfinite(value) ? snprintf(cell, sizeof(cell), "%.*e", decimals, value)
				: snprintf(cell, sizeof(cell), NOTHING);

	append(t, cell, n, n);
}

void table_compact(struct table *t, unsigned base, uint64_t value)
{
	static const char units[] = " KMGTPE";
	double scaled = (double)value;
	size_t unit = 0;
	char cell[32];

	if (!value) {
		table_text(t, ".");
		return;
	}
	if (value < base) {
		table_uint(t, value);
		return;
	}
	/* what would be rounded up to base is 1 of the next unit */
	while (scaled >= base - 0.5) {
		scaled /= base;
		unit++;
	}
	snprintf(cell, sizeof(cell), "%.*f%c",
		scaled < 9.995	 ? 2
		: scaled < 99.95 ? 1
				 : 0,
		scaled, base == 1000 && unit == 1 ? 'k' : units[unit]);
	table_text(t, cell);
}

size_t table_rows(const struct table *t)
{
	return t->n_columns ? t->n_cells / t->n_columns : 0;
}

static void pad(FILE *f, char c, size_t n)
{
	char run[64];

	memset(run, c, sizeof(run));
	for (; n > sizeof(run); n -= sizeof(run))
		fwrite(run, 1, sizeof(run), f);
	fwrite(run, 1, n, f);
}

static void print_line(const struct table *t, FILE *f)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		putc_unlocked('+', f);
		pad(f, '-', t->columns[i].width + 2);
	}
	fputs("+\n", f);
}

/* Prints a cell with a blank on either side; `left` of the spare blanks go before it. */
static void print_cell(FILE *f, const char *text, size_t left, size_t right)
{
	pad(f, ' ', left + 1);
	fputs(text, f);
	pad(f, ' ', right + 1);
}

static size_t width_shown(const struct table *t, const struct column *c)
{
	return t->style == TABLE_LIST && c->width > LIST_PADDING ? LIST_PADDING : c->width;
}

static void print_title(const struct table *t, const struct column *c, FILE *f)
{
	size_t spare = width_shown(t, c) - text_columns(c->title), left;

	if (t->style == TABLE_FRAMED)
		left = spare / 2;
	else
		left = c->align == TABLE_RIGHT ? spare : 0;
	print_cell(f, c->title, left, spare - left);
}

static void print_value(const struct table *t, const struct column *c, const char *text, FILE *f)
{
	size_t columns = text_columns(text), width = width_shown(t, c);
	size_t spare = width > columns ? width - columns : 0;

	if (c->align == TABLE_RIGHT)
		print_cell(f, text, spare, 0);
	else
		print_cell(f, text, 0, spare);
}

void table_print(const struct table *t, FILE *f)
{
	char edge = t->style == TABLE_FRAMED ? '|' : ' ';
	size_t rows = table_rows(t);
	const char *cell = t->text;

	if (!t->n_columns)
		return;
	if (t->style == TABLE_FRAMED)
		print_line(t, f);
	for (size_t i = 0; i < t->n_columns; i++) {
		putc_unlocked(edge, f);
		print_title(t, &t->columns[i], f);
	}
	putc_unlocked(edge, f);
	putc_unlocked('\n', f);
	if (t->style == TABLE_FRAMED)
		print_line(t, f);
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = 0; i < t->n_columns; i++) {
			putc_unlocked(edge, f);
			print_value(t, &t->columns[i], cell, f);
			cell += strlen(cell) + 1;
		}
		putc_unlocked(edge, f);
		putc_unlocked('\n', f);
	}
	if (t->style == TABLE_FRAMED)
		print_line(t, f);
}
