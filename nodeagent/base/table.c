/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table renderer. Cells lie one after the other in one buffer, each with
 * its NUL, so that a table of a million cells is a handful of allocations.
 */
#include "nodeagent/base/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/digits.h"
#include "nodeagent/base/util.h"

/* List columns are not padded beyond this: paths may be very long. */
#define LIST_PADDING 80

/* Larger numbers are written with an exponent: doubles know no more digits. */
#define REAL_MAX 1e15
#define NOTHING	 "----"
#define MARK	 '~'

#define TEXT_SHORT 12 /* columns that each text keeps */
#define TEXT_FAIR  24 /* texts are not cut to less for the sake of a spare column */

struct column {
	char *title;
	enum table_align align;
	enum table_unit unit;
	bool spare, left_out;
	size_t width;
	size_t least; /* width of its numbers and the title */
	size_t most;  /* see table_most(), or 0 */
	enum text_end kept;
	struct text_cuts *cuts; /* NULL: no text is cut */
};

struct table {
	enum table_style style;
	struct column *columns;
	size_t n_columns, cap_columns;
	size_t n_cells;
	size_t limit; /* columns of a line, or 0 */
	bool mark;    /* before the next cell */
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
	for (size_t i = 0; i < t->n_columns; i++) {
		free(t->columns[i].title);
		text_cuts_free(t->columns[i].cuts);
	}
	free(t->columns);
	free(t->text);
	free(t);
}

void table_column(struct table *t, const char *title, enum table_align align)
{
	*LIST_ADD(t, columns) = (struct column){
		.title = text_plain(title),
		.align = align,
		.width = text_columns(title),
		.least = text_columns(title),
	};
}

void table_column_of(
	struct table *t, const char *title, enum table_align align, enum table_unit unit)
{
	table_column(t, title, align);
	t->columns[t->n_columns - 1].unit = unit;
}

void table_spare(struct table *t)
{
	t->columns[t->n_columns - 1].spare = true;
}

void table_most(struct table *t, size_t columns, enum text_end kept)
{
	t->columns[t->n_columns - 1].most = columns;
	t->columns[t->n_columns - 1].kept = kept;
}

void table_limit(struct table *t, size_t columns)
{
	t->limit = columns;
}

static void widen_to(size_t *width, size_t columns)
{
	*width = MAX(*width, columns);
}

/* least: columns that it needs when it is cut. */
static void append_cell(
	struct table *t, const char *plain, size_t bytes, size_t columns, size_t least)
{
	struct column *c = &t->columns[t->n_cells++ % t->n_columns];
	const bool mark = t->mark && strcmp(plain, NOTHING) != 0;

	t->mark = false;
	/* of a quantity no width is known yet */
	widen_to(&c->width, columns ? columns + mark : 0);
	widen_to(&c->least, least ? least + mark : 0);
	if (t->cap_bytes - t->bytes < bytes + 2) {
		t->cap_bytes = 2 * (t->bytes + bytes) + 4096;
		t->text = xrealloc(t->text, t->cap_bytes);
	}
	if (mark)
		t->text[t->bytes++] = MARK;
	memcpy(t->text + t->bytes, plain, bytes + 1);
	t->bytes += bytes + 1;
}

void table_text(struct table *t, const char *text)
{
	char *plain = text_is_plain(text) ? NULL : text_plain(text);
	const char *cell = plain ? plain : text;
	const size_t columns = text_columns(cell);

	append_cell(t, cell, strlen(cell), columns, columns < TEXT_SHORT ? columns : TEXT_SHORT);
	free(plain);
}

void table_uint(struct table *t, uint64_t value)
{
	char cell[DIGITS_MOST];
	const size_t n = (size_t)(digits_uint(cell, value) - cell);

	cell[n] = '\0';
	append_cell(t, cell, n, n, n);
}

/* As snprintf("%*.*f") does, for the numbers that digits_fixed() takes, or false. */
static bool append_fixed(struct table *t, int width, int decimals, double value)
{
	char cell[2 * DIGITS_MOST];
	const size_t least = width > 0 ? (size_t)width : 0;
	const char *end;
	size_t n, blanks;

	if (decimals < 0 || least >= DIGITS_MOST)
		return false;
	end = digits_fixed(cell + least, value, (unsigned)decimals);
	if (!end)
		return false;
	n = (size_t)(end - (cell + least));
	blanks = n < least ? least - n : 0;
	memset(cell + least - blanks, ' ', blanks);
	cell[least + n] = '\0';
	append_cell(t, cell + least - blanks, n + blanks, n + blanks, n + blanks);
	return true;
}

void table_real(struct table *t, int width, int decimals, double value)
{
	char cell[40];
	int n;

	if (append_fixed(t, width, decimals, value))
		return;
	if (!isfinite(value))
		n = snprintf(cell, sizeof(cell), "%*s", width, NOTHING);
	else if (fabs(value) < REAL_MAX)
		n = snprintf(cell, sizeof(cell), "%*.*f", width, decimals, value);
	else
		n = snprintf(cell, sizeof(cell), "%*.*e", width, decimals, value);
	append_cell(t, cell, n, n, n);
}

void table_scientific(struct table *t, int decimals, double value)
{
	char cell[64];
	int n = isfinite(value) ? snprintf(cell, sizeof(cell), "%.*e", decimals, value)
				: snprintf(cell, sizeof(cell), NOTHING);

	append_cell(t, cell, n, n, n);
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

/* As it is: only the whole column tells in which unit it is shown. */
void table_quantity(struct table *t, double value)
{
	char cell[40];
	int n = isfinite(value) ? snprintf(cell, sizeof(cell), "%.17g", value)
				: snprintf(cell, sizeof(cell), NOTHING);

	append_cell(t, cell, n, 0, 0);
}

void table_mark(struct table *t)
{
	t->mark = true;
}

bool table_takes_quantity(const struct table *t)
{
	return t->columns[t->n_cells % t->n_columns].unit != TABLE_NO_UNIT;
}

size_t table_rows(const struct table *t)
{
	return t->n_columns ? t->n_cells / t->n_columns : 0;
}

static void pad(FILE *f, char c, size_t n)
{
	char run[64];

	if (n == 1) {
		putc_unlocked(c, f);
		return;
	}
	memset(run, c, n < sizeof(run) ? n : sizeof(run));
	for (; n > sizeof(run); n -= sizeof(run))
		fwrite_unlocked(run, 1, sizeof(run), f);
	fwrite_unlocked(run, 1, n, f);
}

static void print_line(const struct table *t, FILE *f)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].left_out)
			continue;
		putc_unlocked('+', f);
		pad(f, '-', t->columns[i].width + 2);
	}
	fputs("+\n", f);
}

/* Prints a cell with a blank on either side; `left` of the spare blanks go before it. */
static void print_cell(FILE *f, const char *text, size_t left, size_t right)
{
	pad(f, ' ', left + 1);
	fputs_unlocked(text, f);
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

static void print_value(struct table *t, size_t column, const char *whole, FILE *f)
{
	struct column *c = &t->columns[column];
	char *cut = c->cuts ? text_cut(c->cuts, whole, c->width) : NULL;
	const char *text = cut ? cut : whole;
	size_t columns = text_columns(text), width = width_shown(t, c);
	size_t spare = width > columns ? width - columns : 0;

	if (c->align == TABLE_RIGHT)
		print_cell(f, text, spare, 0);
	else
		print_cell(f, text, 0, spare);
	free(cut);
}

/* ---- units -------------------------------------------------------------------------------- */

struct scale {
	const char *name;
	double one;
	int decimals;
};

/* From the greatest on. */
static const struct scale times[] = {
	{"s", 1.0, 3}, {"ms", 1e-3, 3}, {"us", 1e-6, 3}, {"ns", 1e-9, 0}, {NULL, 0.0, 0}};
static const struct scale sizes[] = {{"TiB", 0x1p40, 2}, {"GiB", 0x1p30, 2}, {"MiB", 0x1p20, 2},
	{"KiB", 0x1p10, 2}, {"B", 1.0, 0}, {NULL, 0.0, 0}};

/* The greatest unit of which the greatest value has one; of nothing, seconds and bytes. */
static struct scale scale_of(enum table_unit unit, double greatest, bool has_parts)
{
	const struct scale *at = unit == TABLE_SECONDS ? times : sizes;
	struct scale scale;

	if (unit != TABLE_SECONDS && greatest == 0.0)
		return sizes[ARRAY_SIZE(sizes) - 2];
	while (at[1].name && greatest < at->one && greatest > 0.0)
		at++;
	scale = *at;
	if (!scale.decimals && has_parts)
		scale.decimals = 1;
	return scale;
}

static double number_in(const char *cell)
{
	return strtod(cell + (*cell == MARK), NULL);
}

/* Cells of column k are numbers as table_quantity() left them, marked or not, or else ----. */
static struct scale scale_of_column(const struct table *t, size_t k)
{
	const char *cell = t->text;
	double greatest = 0.0;
	bool has_parts = false;

	for (size_t i = 0; i < t->n_cells; i++, cell += strlen(cell) + 1) {
		double value;

		if (i % t->n_columns != k || !strcmp(cell, NOTHING))
			continue;
		value = fabs(number_in(cell));
		greatest = value > greatest ? value : greatest;
		has_parts |= value != floor(value);
	}
	return scale_of(
		t->columns[k].unit, greatest, has_parts && t->columns[k].unit != TABLE_SECONDS);
}

static void put_unit(struct column *c, const struct scale *scale)
{
	char *title =
		xasprintf("%s[%s%s]", c->title, scale->name, c->unit == TABLE_RATE ? "/s" : "");

	free(c->title);
	c->title = title;
	widen_to(&c->width, text_columns(title));
	widen_to(&c->least, text_columns(title));
}

/* Writes the cells once more, those of quantities in the units of their columns. */
static void settle_units(struct table *t)
{
	struct scale *scale = xcalloc(t->n_columns + 1, sizeof(*scale));
	char *text = t->text, *cell = text;
	const size_t n = t->n_cells;
	bool any = false;

	for (size_t k = 0; k < t->n_columns; k++) {
		if (!t->columns[k].unit)
			continue;
		scale[k] = scale_of_column(t, k);
		put_unit(&t->columns[k], &scale[k]);
		any = true;
	}
	if (any) {
		t->text = NULL;
		t->bytes = t->cap_bytes = t->n_cells = 0;
		for (size_t i = 0; i < n; i++, cell += strlen(cell) + 1) {
			const struct scale *in = &scale[i % t->n_columns];

			t->mark = in->name && *cell == MARK;
			if (in->name && strcmp(cell, NOTHING))
				table_real(t, 0, in->decimals, number_in(cell) / in->one);
			else
				table_text(t, cell);
		}
		free(text);
	}
	free(scale);
}

/* ---- limits ------------------------------------------------------------------------------- */

/* Of a line with its frames, if texts are cut to `most` where they are longer. */
static size_t line_columns(const struct table *t, size_t most)
{
	size_t columns = 1;

	EACH(const struct column, c, t->columns, t->n_columns) {
		const size_t cut = c->least > most ? c->least : most;

		if (!c->left_out)
			columns += (c->width < cut ? c->width : cut) + 3;
	}
	return columns;
}

/* The widest column that can be cut, or NULL. */
static struct column *widest_column(const struct table *t)
{
	struct column *found = NULL;

	EACH(struct column, c, t->columns, t->n_columns)
		if (!c->left_out && c->width > c->least && (!found || c->width > found->width))
			found = c;
	return found;
}

/* The last spare column; or the last one of numbers, but not the first and the last of all. */
static struct column *dispensable_column(const struct table *t, bool spare)
{
	for (size_t i = t->n_columns; i-- > 1;) {
		struct column *c = &t->columns[i];

		if (!c->left_out &&
			(spare ? c->spare : c->least >= c->width && i + 1 < t->n_columns))
			return c;
	}
	return NULL;
}

static void settle_most(struct table *t)
{
	EACH(struct column, c, t->columns, t->n_columns) {
		const size_t title = text_columns(c->title);

		if (!c->most || c->width <= c->most)
			continue;
		c->width = c->most > title ? c->most : title;
		c->least = MIN(c->least, c->width);
	}
}

/* Texts that fit stay as they are, whatever those that do not are cut to. */
static void settle_cuts(struct table *t, const size_t *wanted)
{
	const char *cell = t->text;

	bool any = false;

	for (size_t i = 0; i < t->n_columns; i++)
		if (wanted[i] > t->columns[i].width) {
			t->columns[i].cuts = text_cuts_new(t->columns[i].kept);
			any = true;
		}
	for (size_t i = 0; any && i < t->n_cells; i++, cell += strlen(cell) + 1) {
		struct column *c = &t->columns[i % t->n_columns];

		if (c->cuts && text_columns(cell) <= c->width)
			text_cuts_whole(c->cuts, cell);
	}
}

/* The number of columns that are left out. */
static size_t settle_limit(struct table *t)
{
	struct column *c;
	size_t n = 0;

	if (!t->limit)
		return 0;
	for (; line_columns(t, TEXT_FAIR) > t->limit && (c = dispensable_column(t, true)); n++)
		c->left_out = true;
	for (; line_columns(t, TEXT_SHORT) > t->limit && (c = dispensable_column(t, false)); n++)
		c->left_out = true;
	while (line_columns(t, SIZE_MAX) > t->limit && (c = widest_column(t)))
		c->width--;
	return n;
}

/* ---- printing ----------------------------------------------------------------------------- */

static void print_titles(const struct table *t, FILE *f, char edge)
{
	for (size_t i = 0; i < t->n_columns; i++) {
		if (t->columns[i].left_out)
			continue;
		putc_unlocked(edge, f);
		print_title(t, &t->columns[i], f);
	}
	putc_unlocked(edge, f);
	putc_unlocked('\n', f);
}

static void print_rows(struct table *t, FILE *f, char edge)
{
	const char *cell = t->text;

	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t i = 0; i < t->n_columns; i++, cell += strlen(cell) + 1) {
			if (t->columns[i].left_out)
				continue;
			putc_unlocked(edge, f);
			print_value(t, i, cell, f);
		}
		putc_unlocked(edge, f);
		putc_unlocked('\n', f);
	}
}

size_t table_print(struct table *t, FILE *f)
{
	const bool framed = t->style == TABLE_FRAMED;
	const char edge = framed ? '|' : ' ';
	size_t left_out, *wanted;

	if (!t->n_columns)
		return 0;
	settle_units(t);
	wanted = xcalloc(t->n_columns, sizeof(*wanted));
	for (size_t i = 0; i < t->n_columns; i++)
		wanted[i] = t->columns[i].width;
	settle_most(t);
	left_out = settle_limit(t);
	settle_cuts(t, wanted);
	free(wanted);
	if (framed)
		print_line(t, f);
	print_titles(t, f, edge);
	if (framed)
		print_line(t, f);
	print_rows(t, f, edge);
	if (framed)
		print_line(t, f);
	return left_out;
}
