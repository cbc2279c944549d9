/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of all ranks went: by class, by call path, by function. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The runs, each as if it were the only one. The caller frees. */
static struct pages *runs_of(const struct pages *p)
{
	struct pages *runs = xcalloc(p->n_runs, sizeof(*runs));

	for (size_t k = 0; k < p->n_runs; k++) {
		const struct json_tree *all = p->runs[k].all;

		runs[k] = (struct pages){
			.runs = &p->runs[k], .n_runs = 1, .all = all, .root = json_tree_root(all)};
		page_classes_sum(&runs[k]);
	}
	return runs;
}

static void put_class_row(
	struct html *h, const struct pages *p, const struct pages *runs, size_t class)
{
	double most = 0.0;

	for (size_t k = 0; k < p->n_runs; k++)
		most = fmax(most, runs[k].class_s[class]);
	if (!(most > 0.0))
		return;
	html_row(h);
	html_cell(h, page_class_title(p, class), true);
	for (size_t k = 0; k < p->n_runs; k++) {
		const double s = runs[k].class_s[class];
		char *exact = xasprintf("%.9f", s);

		html_number(h, exact, quantity_seconds(s).text);
		free(exact);
	}
	html_close(h);
}

static void put_class_table(struct html *h, const struct pages *p)
{
	struct pages *runs = runs_of(p);

	list_details(h, "The same as a table");
	html_table(h, "Time of the first threads of all ranks, by what it was spent for");
	html_head(h, "what", false);
	for (size_t k = 0; k < p->n_runs; k++)
		html_head(h, p->n_runs > 1 ? p->runs[k].name : "time", true);
	for (size_t i = 0; i < PAGE_CLASSES; i++)
		put_class_row(h, p, runs, i);
	html_table_end(h);
	html_close(h);
	free(runs);
}

static bool has_mpi(const struct pages *p)
{
	return value_count(page_member(p, "mpi_functions")) > 0;
}

static void put_classes(struct html *h, const struct pages *p)
{
	const double legend = page_legend_height(p);
	double all = 0.0, x = 0.0;

	for (size_t i = 0; i < PAGE_CLASSES; i++)
		all += p->class_s[i];
	if (!(all > 0.0))
		return;
	html_element(h, "p",
		has_mpi(p)
			? "The first threads of all ranks, after MPI_Init and before MPI_Finalize."
			: "The first threads of all processes.",
		NULL);
	svg_begin(h, "time-classes", "Time of all ranks by what it was spent for",
		"One bar, from left to right in the order of the legend; between MPI_Init and "
		"MPI_Finalize, of the first thread of each rank. The table below has the same "
		"numbers.",
		SVG_WIDTH, legend + BAR);
	page_legend(h, p);
	for (size_t i = 0; i < PAGE_CLASSES; i++) {
		const double s = p->class_s[i], width = SVG_WIDTH * s / all;
		char *title = xasprintf("%s: %.9f s", page_class_title(p, i), s);
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

/* Such time lies in any class, and before and after the bar: it does not show it. */
static void put_off_cpu(struct html *h, const struct pages *p)
{
	double s = 0.0;
	char *exact;

	for (size_t i = 0; i < PAGE_RANK_LISTS; i++) {
		const struct value *ranks = page_member(p, page_rank_lists[i]);

		for (const struct value *v = value_first(p->all, ranks); v;
			v = value_next(p->all, v))
			s += fmax(0.0, value_real_of(p->all, v, "off_cpu_s"));
	}
	if (!(s > 0.0) || s < PAGE_LEAST * p->own_s)
		return;
	exact = xasprintf("%.9f", s);
	html_open(h, "p", NULL);
	html_text(h, "Ranks were ready to run and had no CPU for ");
	html_element(h, "data", quantity_seconds(s).text, "value", exact, NULL);
	html_text(h, ", from their begin to their end: such time lies in any of these.");
	html_close(h);
	free(exact);
}

/* ---- by function ----------------------------------------------------------------------- */

static void put_rest(struct html *h, size_t n, double s)
{
	char *exact = xasprintf("%.9f", s);

	html_open(h, "p", NULL);
	html_format(h, "%zu more %s below 0.1 %% or beyond the first %u, took ", n,
		one_or_many(n, "function,", "functions, each"), PAGE_ROWS);
	html_element(h, "data", quantity_seconds(s).text, "value", exact, NULL);
	html_text(h, one_or_many(n, " of own time.", " of own time together."));
	html_close(h);
	free(exact);
}

/* The functions of the second run and those after it, by name. */
struct named {
	const char *name;
	const struct value *row;
	size_t index;
};
ORDER_BY(by_name, struct named, ALPHABETIC(name) ?: RISING(index))

static struct named *functions_of(const struct page_run *run, size_t *n)
{
	const struct value *array = value_member(run->all, json_tree_root(run->all), "functions");
	struct named *names = xcalloc(value_count(array) + 1, sizeof(*names));
	const struct value *v = value_first(run->all, array);

	for (*n = 0; v; v = value_next(run->all, v), ++*n)
		names[*n] = (struct named){
			value_text(run->all, value_member(run->all, v, "function")), v, *n};
	qsort(names, *n, sizeof(*names), by_name);
	return names;
}

/* The first one of its name, or NULL. */
static const struct value *function_named(const struct named *names, size_t n, const char *name)
{
	const size_t low = LOWER_BOUND(i, 0, n, strcmp(names[i].name, name) < 0);

	return low < n && !strcmp(names[low].name, name) ? names[low].row : NULL;
}

struct others {
	struct named *names;
	size_t n;
};

static struct others *others_of(const struct pages *p)
{
	struct others *o = xcalloc(p->n_runs, sizeof(*o));

	for (size_t k = 1; k < p->n_runs; k++)
		o[k].names = functions_of(&p->runs[k], &o[k].n);
	return o;
}

static const char *const function_keys[] = {"function", "t_excl_s", "t_incl_s", "calls"};

static void put_function_heads(struct html *h, const struct pages *p)
{
	html_table(h, "Functions by their own time, summed over all ranks and threads");
	for (size_t i = 0; i < ARRAY_SIZE(function_keys); i++) {
		char *title = words_of_key(function_keys[i]);

		html_head(h, title, i > 0);
		free(title);
	}
	html_head(h, "part of all", true);
	for (size_t k = 1; k < p->n_runs; k++) {
		char *title = xasprintf("own time, %s", p->runs[k].name);

		html_head(h, title, true);
		free(title);
	}
}

static void put_part(struct html *h, const struct pages *p, const struct value *row)
{
	const double own = fmax(0.0, value_real_of(p->all, row, "t_excl_s"));
	const double part = p->own_s > 0.0 ? own / p->own_s : 0.0;
	char *exact = xasprintf("%.9f", part), *shown = xasprintf("%.1f %%", 100.0 * part);

	html_number(h, exact, shown);
	free(exact);
	free(shown);
}

static void put_function(
	struct html *h, const struct pages *p, const struct value *row, const struct others *others)
{
	const char *name = value_text(p->all, value_member(p->all, row, "function"));

	html_row(h);
	for (size_t i = 0; i < ARRAY_SIZE(function_keys); i++)
		list_cell(h, p->all, row, function_keys[i], !i);
	put_part(h, p, row);
	for (size_t k = 1; k < p->n_runs; k++)
		list_cell(h, p->runs[k].all, function_named(others[k].names, others[k].n, name),
			"t_excl_s", false);
	html_close(h);
}

static void put_functions(struct html *h, const struct pages *p)
{
	const struct value *functions = page_member(p, "functions");
	const size_t n = value_count(functions);
	struct ordered *rows = xcalloc(n + 1, sizeof(*rows));
	struct others *others = others_of(p);
	size_t i = 0, shown = 0;
	double rest = 0.0;

	for (const struct value *v = value_first(p->all, functions); v;
		v = value_next(p->all, v), i++)
		rows[i] = (struct ordered){v, fmax(0.0, value_real_of(p->all, v, "t_excl_s")), i};
	qsort(rows, n, sizeof(*rows), by_time);
	put_function_heads(h, p);
	for (; shown < n && shown < PAGE_ROWS && rows[shown].s >= PAGE_LEAST * p->own_s; shown++)
		put_function(h, p, rows[shown].row, others);
	html_table_end(h);
	for (i = shown; i < n; i++)
		rest += rows[i].s;
	if (shown < n)
		put_rest(h, n - shown, rest);
	for (size_t k = 0; k < p->n_runs; k++)
		free(others[k].names);
	free(others);
	free(rows);
}

void page_time_print(struct html *h, const struct pages *p)
{
	put_classes(h, p);
	put_off_cpu(h, p);
	html_element(h, "h3", "Call paths", NULL);
	page_flame(h, p);
	html_element(h, "h3", "Functions", NULL);
	html_element(h, "p",
		"init is all of a thread's time: its own time is what was outside of functions "
		"that are traced.",
		NULL);
	put_functions(h, p);
}
