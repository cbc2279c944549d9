/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of pages, and what is around them. */
#include <math.h>
#include <stdlib.h>

#include "report-assets.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

/* Of the JSON in the page; it is cut more until it is so small. */
#define JSON_ELEMENTS 4096u
#define JSON_COLUMNS  400u /* of a text */
#define JSON_BYTES    1500000u

/* In the order in which people want them. */
static const struct page {
	const char *id, *title;
	bool (*has)(const struct pages *p);
	void (*print)(struct html *h, const struct pages *p);
} pages[] = {
	{"head", "The run", page_head_has, page_head_print},
	{"efficiency", "Efficiency", page_efficiency_has, page_efficiency_print},
	{"time", "Where time goes", page_time_has, page_time_print},
	{"balance", "Balance of ranks", page_balance_has, page_balance_print},
	{"slices", "Ranks over time", page_slices_has, page_slices_print},
	{"waits", "Who waits for whom", page_waits_has, page_waits_print},
	{"iterations", "Iterations", page_iterations_has, page_iterations_print},
	{"communication", "Communication", page_communication_has, page_communication_print},
	{"openmp", "OpenMP", page_openmp_has, page_openmp_print},
	{"locks", "Locks", page_locks_has, page_locks_print},
	{"gpu", "GPUs", page_gpu_has, page_gpu_print},
	{"io", "Files", page_io_has, page_io_print},
	{"memory", "Memory", page_memory_has, page_memory_print},
	{"counters", "Counters", page_counters_has, page_counters_print},
	{"nodes", "Nodes and how it ran", page_nodes_has, page_nodes_print},
	{"timeline", "Time line", page_timeline_has, page_timeline_print},
};

const struct value *page_member(const struct pages *p, const char *key)
{
	return value_member(p->all, p->root, key);
}

double page_number(const struct pages *p, const char *key)
{
	return value_real(page_member(p, key));
}

/* ---- the JSON -------------------------------------------------------------------------- */

struct cut {
	const struct pages *p;
	const struct value *paths, *functions;
	size_t most;  /* elements of an array */
	double least; /* part of all time, of a call path or function */
};

static bool is_kept(
	const struct value *array, const struct value *element, size_t index, const void *to)
{
	const struct cut *cut = to;
	const bool is_path = array == cut->paths, is_function = array == cut->functions;

	if (!is_path && !is_function)
		return index < cut->most;
	if (is_path)
		return !(cut->p->incl_s[index] < cut->least * cut->p->own_s);
	return !(value_real_of(cut->p->all, element, "t_excl_s") < cut->least * cut->p->own_s);
}

static char *json_of(const struct cut *cut, size_t *bytes)
{
	const struct value_writing how = {is_kept, cut, JSON_COLUMNS};
	char *text = NULL;
	FILE *f = open_memstream(&text, bytes);
	struct json j;

	if (!f)
		return NULL;
	json_begin(&j, f, 1);
	value_write(cut->p->all, cut->p->root, &j, &how);
	fclose(f);
	return text;
}

static void put_json(struct html *h, const struct pages *p)
{
	struct cut cut = {p, page_member(p, "stacks"), page_member(p, "functions"), JSON_ELEMENTS,
		PAGE_LEAST};
	size_t bytes;
	char *text = json_of(&cut, &bytes);

	while (text && bytes > JSON_BYTES && cut.most > 1) {
		free(text);
		cut.most /= 2;
		cut.least *= 2.0;
		text = json_of(&cut, &bytes);
	}
	if (text)
		html_json(h, "profile", text, bytes);
	free(text);
}

/* ---- the document ---------------------------------------------------------------------- */

static void put_head(struct html *h, const struct pages *p)
{
	html_open(h, "head", NULL);
	html_void(h, "meta", "charset", "utf-8", NULL);
	html_void(h, "meta", "name", "viewport", "content", "width=device-width, initial-scale=1",
		NULL);
	html_void(h, "meta", "http-equiv", "Content-Security-Policy", "content",
		p->runs[0].timeline
			? "default-src 'none'; style-src 'unsafe-inline'; "
			  "script-src 'unsafe-inline' 'wasm-unsafe-eval'" /* names of C++ */
			: "default-src 'none'; style-src 'unsafe-inline'; "
			  "script-src 'unsafe-inline'",
		NULL);
	html_open(h, "title", NULL);
	html_format(h, "%s: vftr report", value_text(p->all, page_member(p, "application")));
	html_close(h);
	html_own(h, "style", report_css, report_css_bytes);
	html_close(h);
}

static void put_navigation(struct html *h, const struct pages *p)
{
	html_open(h, "nav", "aria-label", "Pages", NULL);
	html_open(h, "ul", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		char *to;

		if (!pages[i].has(p))
			continue;
		to = xasprintf("#%s", pages[i].id);
		html_open(h, "li", NULL);
		html_element(h, "a", pages[i].title, "href", to, NULL);
		html_close(h);
		free(to);
	}
	html_close(h);
	html_close(h);
}

static void put_pages(struct html *h, const struct pages *p)
{
	html_open(h, "main", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		const char *application = value_text(p->all, page_member(p, "application"));
		char *title;

		if (!pages[i].has(p))
			continue;
		title = xasprintf("%s-head", pages[i].id);
		html_open(h, "section", "id", pages[i].id, "aria-labelledby", title, NULL);
		html_element(h, i ? "h2" : "h1",
			i	       ? pages[i].title
			: *application ? application
				       : "A run",
			"id", title, NULL);
		pages[i].print(h, p);
		html_close(h);
		free(title);
	}
	html_close(h);
}

/* Several pages want them: to read one of a call path is not cheap. One member of all and then the
 * other: row by row the report of 100 000 call paths takes a tenth more instructions. */
static void read_times(struct pages *p)
{
	const struct value *stacks = page_member(p, "stacks");
	size_t n = 0;

	p->excl_s = xcalloc(value_count(stacks) + 1, sizeof(*p->excl_s));
	p->incl_s = xcalloc(value_count(stacks) + 1, sizeof(*p->incl_s));
	for (const struct value *v = value_first(p->all, stacks); v; v = value_next(p->all, v)) {
		p->excl_s[n] = fmax(0.0, value_real_of(p->all, v, "t_excl_s"));
		p->own_s += p->excl_s[n++];
	}
	n = 0;
	for (const struct value *v = value_first(p->all, stacks); v; v = value_next(p->all, v))
		p->incl_s[n++] = fmax(0.0, value_real_of(p->all, v, "t_incl_s"));
}

void pages_write(FILE *f, const struct page_run *runs, size_t n)
{
	struct pages p = {
		.runs = runs, .n_runs = n, .all = runs[0].all, .root = json_tree_root(runs[0].all)};
	struct html *h = html_new(f);

	read_times(&p);
	page_classes_sum(&p);
	fputs("<!DOCTYPE html>\n", f);
	html_open(h, "html", "lang", "en", NULL);
	put_head(h, &p);
	html_open(h, "body", NULL);
	put_navigation(h, &p);
	put_pages(h, &p);
	put_json(h, &p);
	page_timeline_data(h, &p);
	html_own(h, "script", report_js, report_js_bytes);
	html_free(h);
	free(p.excl_s);
	free(p.incl_s);
}
