/* SPDX-License-Identifier: BSD-3-Clause */
/* The efficiency and its factors, as bars with a line at what is taken to be good, and as a table.
 */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define TARGET 0.8
#define ROW    22.0
#define LEFT   280.0
#define PLOT   600.0

static const struct factor {
	const char *key, *title;
	unsigned depth;
	bool of_job;   /* of ranks, not of a single process */
	bool of_nodes; /* nothing is told of one node */
} factors[] = {
	{"parallel", "Parallel", 0, false, false},
	{"load_balance", "Load balance", 1, true, false},
	{"load_balance_in_nodes", "in nodes", 2, true, true},
	{"load_balance_between_nodes", "between nodes", 2, true, true},
	{"communication", "Communication", 1, true, false},
	{"openmp", "OpenMP", 1, false, false},
	{"openmp_load_balance", "Load balance", 2, false, false},
	{"openmp_communication", "Communication", 2, false, false},
};

static const struct value *efficiency_of(const struct page_run *run, const char *key)
{
	const struct value *e = value_member(run->all, json_tree_root(run->all), "efficiency");

	return value_member(run->all, e, key);
}

static const struct value *factor_of(const struct page_run *run, const struct factor *f)
{
	/* a single process has no rank with the most useful work */
	if (f->of_job && isnan(value_real(efficiency_of(run, "rank_max"))))
		return NULL;
	return efficiency_of(run, f->key);
}

static bool has_factor(const struct page_run *run, const struct factor *f)
{
	return isfinite(value_real(factor_of(run, f))) &&
	       (!f->of_nodes || value_real_of(run->all, json_tree_root(run->all), "nodes") > 1.0);
}

static bool some_have(const struct pages *p, const struct factor *f)
{
	return ANY(k, p->n_runs, has_factor(&p->runs[k], f));
}

bool page_efficiency_has(const struct pages *p)
{
	return some_have(p, &factors[0]);
}

static void put_bar(
	struct html *h, const struct page_run *run, const struct factor *f, double y, double height)
{
	const struct value *v = factor_of(run, f);
	const double part = value_real(v);
	char exact[VALUE_DIGITS], *title, *shown;

	if (!value_exact(v, exact))
		return;
	title = xasprintf("%s, %s: %s", f->title, run->name, exact);
	shown = xasprintf("%.1f %%", 100.0 * part);
	svg_rect(h, (struct svg_box){LEFT, y, fmax(0.0, fmin(part, 1.0)) * PLOT, height},
		part < TARGET ? COLOUR_RED : COLOUR_BLUE, title);
	svg_text(h, LEFT + PLOT + 60, y + height - 2, SVG_RIGHT, NULL, shown);
	free(title);
	free(shown);
}

static void put_bars(struct html *h, const struct pages *p, size_t rows)
{
	const double each = ROW * (double)p->n_runs + 8.0, bottom = each * (double)rows + 4.0;
	double y = 4.0;

	svg_begin(h, "efficiency-bars", "Efficiency and its factors",
		"A bar for each factor and run, from 0 to 100 %. The line stands at 80 %: bars "
		"that "
		"do not reach it are orange, others are blue. The table below has the same "
		"numbers.",
		SVG_WIDTH, bottom + 20.0);
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
		if (!some_have(p, &factors[i]))
			continue;
		svg_text(h, 4.0 + 20.0 * factors[i].depth, y + 15.0, SVG_LEFT, NULL,
			factors[i].title);
		for (size_t k = 0; k < p->n_runs; k++) {
			const double at = y + ROW * (double)k;

			if (p->n_runs > 1)
				svg_text(
					h, LEFT - 8.0, at + 15.0, SVG_RIGHT, NULL, p->runs[k].name);
			put_bar(h, &p->runs[k], &factors[i], at, ROW - 4.0);
		}
		y += each;
	}
	svg_line(h, LEFT + TARGET * PLOT, 0.0, LEFT + TARGET * PLOT, bottom);
	svg_text(h, LEFT + TARGET * PLOT, bottom + 14.0, SVG_MIDDLE, NULL, "80 %");
	svg_end(h);
}

static void put_row(struct html *h, const struct pages *p, const struct factor *f)
{
	char *title = xasprintf("%.*s%s", (int)(2 * f->depth), "- - ", f->title);

	html_row(h);
	html_cell(h, title, true);
	for (size_t k = 0; k < p->n_runs; k++) {
		const struct value *v = factor_of(&p->runs[k], f);
		char exact[VALUE_DIGITS], *shown = xasprintf("%.1f %%", 100.0 * value_real(v));

		html_number(h, value_exact(v, exact), shown);
		free(shown);
	}
	html_close(h);
	free(title);
}

static void put_sizes(struct html *h, const struct pages *p)
{
	static const char *const keys[] = {
		"ranks", "threads", "window_s", "useful_s", "useful_max_s"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		char *title = words_of_key(keys[i]);

		html_row(h);
		html_cell(h, title, true);
		for (size_t k = 0; k < p->n_runs; k++) {
			const struct json_tree *all = p->runs[k].all;

			list_cell(h, all, value_member(all, json_tree_root(all), "efficiency"),
				keys[i], false);
		}
		html_close(h);
		free(title);
	}
}

void page_efficiency_print(struct html *h, const struct pages *p)
{
	size_t rows = 0;

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		rows += some_have(p, &factors[i]);
	html_element(h, "p",
		"Which part of their time the ranks did useful work; a factor is the product of "
		"those "
		"below it. vftr-analysis(7) has the formulas.",
		NULL);
	put_bars(h, p, rows);
	list_details(h, "The same as a table");
	html_table(h, "Efficiency and its factors");
	html_head(h, "factor", false);
	for (size_t k = 0; k < p->n_runs; k++)
		html_head(h, p->runs[k].name, true);
	put_sizes(h, p);
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++)
		if (some_have(p, &factors[i]))
			put_row(h, p, &factors[i]);
	html_table_end(h);
	html_close(h);
}
