/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of pairs of ranks as a picture: a row and a column for each rank, or for neighbours. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define CELLS_MAX 64u /* of ranks in a row; more are added up */
#define SIDE_MAX  640.0
#define CELL_MAX  48.0
#define LEFT	  60.0
#define TOP	  30.0
#define COLOURS	  10

struct cells {
	double *of; /* n * n: by the row, then the column */
	size_t n;
	uint64_t ranks; /* in a cell */
	double most;
	double unknown; /* of pairs of which a rank is not known */
};

static double rank_at(const struct pages *p, const struct value *pair, const char *key)
{
	const double rank = value_real_of(p->all, pair, key);

	return rank >= 0.0 && rank < 4294967296.0 ? rank : NAN;
}

/* So many ranks that there are few enough cells, and no fewer than an element stands for. */
static void measure_cells(const struct pages *p, const struct value *pairs,
	const struct page_matrix *of, struct cells *c)
{
	double ranks = 1.0, each = 1.0;

	for (const struct value *v = value_first(p->all, pairs); v; v = value_next(p->all, v)) {
		ranks = fmax(ranks, fmax(rank_at(p, v, of->down), rank_at(p, v, of->across)) + 1.0);
		each = fmax(each, value_real_of(p->all, v, "ranks"));
	}
	c->ranks = 1;
	while (ranks > (double)c->ranks * CELLS_MAX || each > (double)c->ranks)
		c->ranks *= 2;
	c->n = (size_t)ceil(ranks / (double)c->ranks);
}

static struct cells cells_of(
	const struct pages *p, const struct value *pairs, const struct page_matrix *of)
{
	struct cells c = {.ranks = 1};

	measure_cells(p, pairs, of, &c);
	c.of = xcalloc(c.n * c.n, sizeof(*c.of));
	for (const struct value *v = value_first(p->all, pairs); v; v = value_next(p->all, v)) {
		const double down = rank_at(p, v, of->down), across = rank_at(p, v, of->across);
		const double number = value_real_of(p->all, v, of->value);
		double *cell;

		if (!(number > 0.0))
			continue;
		if (isnan(down) || isnan(across)) {
			c.unknown += number;
			continue;
		}
		cell = &c.of[(uint64_t)down / c.ranks * c.n + (uint64_t)across / c.ranks];
		*cell += number;
		c.most = fmax(c.most, *cell);
	}
	return c;
}

/* Of the whole picture, in pixels. */
static double side_of(const struct cells *c)
{
	return fmin(SIDE_MAX, CELL_MAX * (double)c->n);
}

static char *cell_name(const struct cells *c, size_t i)
{
	if (c->ranks == 1)
		return xasprintf("%zu", i);
	return xasprintf("%" PRIu64 "-%" PRIu64, i * c->ranks, (i + 1) * c->ranks - 1);
}

static double part_of(const struct cells *c, const struct page_matrix *of, double number)
{
	if (of->is_logarithmic)
		return c->most > 1.0 ? log(number) / log(c->most) : 1.0;
	return number / c->most;
}

static void put_cell(struct html *h, const struct cells *c, const struct page_matrix *of,
	size_t row, size_t column)
{
	const double number = c->of[row * c->n + column], side = side_of(c) / (double)c->n;
	char *down, *across, *told, *title;

	if (!(number > 0.0))
		return;
	down = cell_name(c, row);
	across = cell_name(c, column);
	told = of->tell(number);
	title = xasprintf("%s %s %s %s: %s", of->words[0], down, of->words[1], across, told);
	svg_rect(h,
		(struct svg_box){
			LEFT + side * (double)column, TOP + side * (double)row, side, side},
		svg_map_colour(part_of(c, of, number)), title);
	free(down);
	free(across);
	free(told);
	free(title);
}

static void put_legend(
	struct html *h, const struct cells *c, const struct page_matrix *of, double x)
{
	char text[PAGE_QUANTITY];

	svg_text(h, x, TOP + 12.0, SVG_LEFT, NULL, of->legend[1]);
	svg_text(h, x, TOP + 30.0, SVG_LEFT, NULL, of->legend[0]);
	for (int i = 0; i <= COLOURS; i++)
		svg_rect(h, (struct svg_box){x + 16.0 * i, TOP + 44.0, 16.0, 16.0},
			svg_map_colour((double)i / COLOURS), NULL);
	svg_text(h, x, TOP + 76.0, SVG_LEFT, NULL, of->show(of->is_logarithmic ? 1.0 : 0.0, text));
	svg_text(h, x + 176.0, TOP + 76.0, SVG_RIGHT, NULL, of->show(c->most, text));
}

static void put_labels(struct html *h, const struct cells *c, const struct page_matrix *of)
{
	const size_t step = c->n / 8 + 1;
	const double all = side_of(c);

	for (size_t i = 0; i < c->n; i += step) {
		const double at = all / (double)c->n * ((double)i + 0.5);
		char *text = xasprintf("%" PRIu64, i * c->ranks);

		svg_text(h, LEFT - 6.0, TOP + at + 4.0, SVG_RIGHT, NULL, text);
		svg_text(h, LEFT + at, TOP - 8.0, SVG_MIDDLE, NULL, text);
		free(text);
	}
	put_legend(h, c, of, LEFT + all + 8.0);
}

static void put_unknown(struct html *h, const struct page_matrix *of, double number)
{
	char text[PAGE_QUANTITY], *exact = xasprintf("%.9f", number);

	if (number > 0.0) {
		html_open(h, "p", NULL);
		html_text(h, of->unknown);
		html_element(h, "data", of->show(number, text), "value", exact, NULL);
		html_text(h, ".");
		html_close(h);
	}
	free(exact);
}

void page_matrix_print(struct html *h, const struct pages *p, const struct value *pairs,
	const struct page_matrix *of)
{
	struct cells c = cells_of(p, pairs, of);

	svg_begin(h, of->id, of->title, of->description, SVG_WIDTH,
		fmax(side_of(&c), 80.0) + TOP + 8.0);
	put_labels(h, &c, of);
	for (size_t row = 0; row < c.n; row++)
		for (size_t column = 0; column < c.n; column++)
			put_cell(h, &c, of, row, column);
	svg_end(h);
	put_unknown(h, of, c.unknown);
	free(c.of);
}
