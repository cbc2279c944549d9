/* SPDX-License-Identifier: BSD-3-Clause */
/* What each element of an array is made of: a bar of parts for each, and a table of the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define BARS_MAX     64u /* in the picture and the table */
#define ROW	     18.0
#define LEFT	     260.0
#define PLOT	     640.0
#define LEGEND_GAP   6.0 /* below the legend */
#define NAME_COLUMNS 34u

struct bar {
	const struct value *row;
	char *name;
	double of[PAGE_BAR_PARTS], sum;
	size_t index;
};
ORDER_BY(by_sum, struct bar, FALLING(sum) ?: RISING(index))

struct bars {
	const struct pages *p;
	const struct page_bars *what;
	struct bar *at;
	size_t n;
	double others, others_of[PAGE_BAR_PARTS]; /* that have no bar: their number and sums */
};

/* ---- numbers --------------------------------------------------------------------------- */

/* A member of a row, which is of n elements, or n times that of the run; 0: it has none. */
static double number_of(const struct pages *p, const struct value *row, const char *key, double n)
{
	const double number = value_real_of(p->all, row, key);

	if (isnan(number) && !strcmp(key, "runtime_s"))
		return n * fmax(0.0, page_number(p, key));
	return fmax(0.0, number);
}

static double part_of(
	const struct pages *p, const struct value *row, const struct page_bar_part *part, double n)
{
	double number = number_of(p, row, part->key, n);

	for (size_t i = 0; i < ARRAY_SIZE(part->less) && part->less[i]; i++)
		number = fmax(0.0, number - number_of(p, row, part->less[i], n));
	return number;
}

static char *name_of(const struct pages *p, const struct value *row, const struct page_bars *what)
{
	char *name = xstrdup("");

	for (size_t i = 0; i < ARRAY_SIZE(what->names) && what->names[i].key; i++) {
		const struct value *v = value_member(p->all, row, what->names[i].key);
		char exact[VALUE_DIGITS];

		if (value_kind(v) == VALUE_NONE)
			continue;
		name = xappend(name, "%s%s", what->names[i].before,
			value_kind(v) == VALUE_TEXT ? value_text(p->all, v)
						    : value_exact(v, exact) ?: "-");
	}
	return name;
}

/* What has the numbers of an element; NULL: it has none. */
static const struct value *numbers_in(const struct bars *b, const struct value *row)
{
	const struct value *from = row;

	if (b->what->within)
		from = value_member(b->p->all, row, b->what->within) ?: row;
	return b->what->only && isnan(value_real_of(b->p->all, from, b->what->only)) ? NULL : from;
}

static void read_sums(struct bars *b, const struct value *row)
{
	const struct value *from = numbers_in(b, row);
	const double n = number_of(b->p, row, b->what->count ?: "ranks", 1.0);

	if (!from)
		return;
	b->others += n;
	for (size_t k = 0; k < b->what->n_parts; k++)
		b->others_of[k] += part_of(b->p, from, &b->what->parts[k], n);
}

static void read_bar(struct bars *b, const struct value *row, size_t index)
{
	const struct value *from = numbers_in(b, row);
	struct bar *to = &b->at[b->n];

	if (!from)
		return;
	*to = (struct bar){.row = row, .index = index};
	for (size_t k = 0; k < b->what->n_parts; k++) {
		to->of[k] = part_of(b->p, from, &b->what->parts[k], 1.0);
		to->sum += to->of[k];
	}
	b->n += to->sum > 0.0;
}

/* Those beyond the bound, and those that have no bar, become one, which is their mean. */
static void fold_bars(struct bars *b)
{
	const size_t kept = MIN(b->n, BARS_MAX - 1);
	const double others = (double)(b->n - kept) + b->others;
	struct bar rest = {.row = NULL};

	if (b->n <= BARS_MAX && !(b->others > 0.0))
		return;
	for (size_t k = 0; k < b->what->n_parts; k++) {
		double sum = b->others_of[k];

		for (size_t i = kept; i < b->n; i++)
			sum += b->at[i].of[k];
		rest.of[k] = sum / others;
		if (b->what->are_bytes)
			rest.of[k] = floor(rest.of[k] + 0.5);
		rest.sum += rest.of[k];
	}
	rest.name = xasprintf("mean of %.0f others", others);
	b->at[kept] = rest;
	b->n = kept + 1;
}

static struct bars bars_of(const struct pages *p, const struct page_bars *what)
{
	const struct value *array = page_member(p, what->array);
	struct bars b = {.p = p, .what = what};
	size_t index = 0;

	b.at = xcalloc(value_count(array) + 1, sizeof(*b.at));
	for (const struct value *v = value_first(p->all, array); v; v = value_next(p->all, v))
		read_bar(&b, v, index++);
	array = what->sums ? page_member(p, what->sums) : NULL;
	for (const struct value *v = array ? value_first(p->all, array) : NULL; v;
		v = value_next(p->all, v))
		read_sums(&b, v);
	qsort(b.at, b.n, sizeof(*b.at), by_sum);
	fold_bars(&b);
	for (size_t i = 0; i < b.n; i++)
		if (b.at[i].row)
			b.at[i].name = name_of(p, b.at[i].row, what);
	return b;
}

static struct quantity shown_as(const struct page_bars *what, double number)
{
	return what->are_bytes ? quantity_bytes(number) : quantity_seconds(number);
}

/* ---- the picture ----------------------------------------------------------------------- */

/* each: pixels of a second or byte. */
static void put_bar(
	struct html *h, const struct bars *b, const struct bar *bar, double y, double each)
{
	char *label = text_short(bar->name, NAME_COLUMNS);
	char *name = text_short(bar->name, HTML_TEXT); /* as the table has it */
	double x = LEFT;

	svg_text(h, LEFT - 6.0, y + 13.0, SVG_RIGHT, NULL, label);
	for (size_t k = 0; k < b->what->n_parts; k++) {
		char *title;

		if (!(bar->of[k] > 0.0))
			continue;
		title = xasprintf(b->what->are_bytes ? "%s: %s %.0f bytes" : "%s: %s %.9f s", name,
			b->what->parts[k].title, bar->of[k]);
		svg_rect(h, (struct svg_box){x, y, bar->of[k] * each, ROW - 3.0},
			b->what->parts[k].colour, title);
		x += bar->of[k] * each;
		free(title);
	}
	svg_text(h, x + 6.0, y + 13.0, SVG_LEFT, NULL, shown_as(b->what, bar->sum).text);
	free(label);
	free(name);
}

static void put_picture(struct html *h, const struct bars *b)
{
	const double legend = page_legend_lines(b->what->n_parts) + LEGEND_GAP;
	double most = 0.0, y = legend;

	for (size_t i = 0; i < b->n; i++)
		most = fmax(most, b->at[i].sum);
	svg_begin(h, b->what->id, b->what->title, b->what->description, SVG_WIDTH,
		legend + ROW * (double)b->n);
	for (size_t k = 0; k < b->what->n_parts; k++)
		page_legend_entry(h, k, b->what->parts[k].colour, b->what->parts[k].title);
	for (size_t i = 0; i < b->n; i++, y += ROW)
		put_bar(h, b, &b->at[i], y, PLOT / most);
	svg_end(h);
}

/* ---- the table ------------------------------------------------------------------------- */

static void put_number(struct html *h, const struct page_bars *what, double number)
{
	char *exact = xasprintf(what->are_bytes ? "%.0f" : "%.9f", number);

	html_number(h, exact, shown_as(what, number).text);
	free(exact);
}

static void put_table(struct html *h, const struct bars *b)
{
	list_details(h, "The same as a table");
	html_table(h, b->what->title);
	html_head(h, b->what->of_what, false);
	for (size_t k = 0; k < b->what->n_parts; k++)
		html_head(h, b->what->parts[k].title, true);
	for (size_t i = 0; i < b->n; i++) {
		html_row(h);
		html_cell(h, b->at[i].name, true);
		for (size_t k = 0; k < b->what->n_parts; k++)
			put_number(h, b->what, b->at[i].of[k]);
		html_close(h);
	}
	html_table_end(h);
	html_close(h);
}

void page_bars_print(struct html *h, const struct pages *p, const struct page_bars *what)
{
	struct bars b = bars_of(p, what);

	if (b.n) {
		html_element(h, "h3", what->title, NULL);
		html_element(h, "p", what->description, NULL);
		put_picture(h, &b);
		put_table(h, &b);
	}
	for (size_t i = 0; i < b.n; i++)
		free(b.at[i].name);
	free(b.at);
}
