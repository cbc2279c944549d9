/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of all ranks went: by class, by call path, by function. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define BAR 40.0

struct ordered {
	const struct value *row;
	double s;
	size_t index;
};
ORDER_BY(by_time, struct ordered, FALLING(s) ?: RISING(index))

bool page_time_has(const struct pages *p)
{
	return value_count(page_member(p, "stacks")) > 0;
}

/* ---- by class -------------------------------------------------------------------------- */

static void put_class_table(struct html *h, const struct pages *p)
{
	list_details(h, "The same as a table");
	html_table(h, "Time of the first threads of all ranks, by what it was spent for");
	html_head(h, "what", false);
	html_head(h, "time", true);
	for (size_t i = 0; i < page_n_classes; i++) {
		const double s = page_class_sum(p, i);
		char *exact = xasprintf("%.9f", s);

		if (s > 0.0) {
			html_row(h);
			html_cell(h, page_classes[i].title, true);
			html_number(h, exact, quantity_seconds(s).text);
			html_close(h);
		}
		free(exact);
	}
	html_table_end(h);
	html_close(h);
}

static void put_classes(struct html *h, const struct pages *p)
{
	const double legend = page_legend_height(p);
	double all = 0.0, x = 0.0;

	for (size_t i = 0; i < page_n_classes; i++)
		all += page_class_sum(p, i);
	if (!(all > 0.0))
		return;
	svg_begin(h, "time-classes", "Time of all ranks by what it was spent for",
		"One bar, from left to right in the order of the legend; between MPI_Init and "
		"MPI_Finalize, of the first thread of each rank. The table below has the same "
		"numbers.",
		SVG_WIDTH, legend + BAR);
	page_legend(h, p);
	for (size_t i = 0; i < page_n_classes; i++) {
		const double s = page_class_sum(p, i), width = SVG_WIDTH * s / all;
		char *title = xasprintf("%s: %.9f s", page_classes[i].title, s);
		char *part = xasprintf("%.0f %%", 100.0 * s / all);

		if (s > 0.0)
			svg_rect(h, (struct svg_box){x, legend, width, BAR}, page_classes[i].colour,
				title);
		if (width > 45.0)
			svg_text(h, x + width / 2, legend + 24.0, SVG_MIDDLE,
				svg_ink(page_classes[i].colour), part);
		x += width;
		free(title);
		free(part);
	}
	svg_end(h);
	put_class_table(h, p);
}

/* ---- by function ----------------------------------------------------------------------- */

static void put_rest(struct html *h, size_t n, double s)
{
	char *exact = xasprintf("%.9f", s);

	html_open(h, "p", NULL);
	html_format(h, "%zu more functions, each below 0.1 %% or beyond the first %u, took ", n,
		PAGE_ROWS);
	html_element(h, "data", quantity_seconds(s).text, "value", exact, NULL);
	html_text(h, " of own time together.");
	html_close(h);
	free(exact);
}

static void put_functions(struct html *h, const struct pages *p)
{
	static const char *const keys[] = {"function", "t_excl_s", "t_incl_s", "calls"};
	const struct value *functions = page_member(p, "functions");
	const size_t n = value_count(functions);
	struct ordered *rows = xcalloc(n + 1, sizeof(*rows));
	size_t i = 0, shown = 0;
	double rest = 0.0;

	for (const struct value *v = value_first(p->all, functions); v;
		v = value_next(p->all, v), i++)
		rows[i] = (struct ordered){v, fmax(0.0, value_real_of(p->all, v, "t_excl_s")), i};
	qsort(rows, n, sizeof(*rows), by_time);
	html_table(h, "Functions by their own time, summed over all ranks and threads");
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		char *title = list_title(keys[i]);

		html_head(h, title, i > 0);
		free(title);
	}
	for (; shown < n && shown < PAGE_ROWS && rows[shown].s >= PAGE_LEAST * p->own_s; shown++) {
		html_row(h);
		for (i = 0; i < ARRAY_SIZE(keys); i++)
			list_cell(h, p->all, rows[shown].row, keys[i], !i);
		html_close(h);
	}
	html_table_end(h);
	for (i = shown; i < n; i++)
		rest += rows[i].s;
	if (shown < n)
		put_rest(h, n - shown, rest);
	free(rows);
}

void page_time_print(struct html *h, const struct pages *p)
{
	put_classes(h, p);
	html_element(h, "h3", "Call paths", NULL);
	page_flame(h, p);
	html_element(h, "h3", "Functions", NULL);
	put_functions(h, p);
}
