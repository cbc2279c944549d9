/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and objects of the JSON as tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define COLUMNS_MAX 40

/* ---- words ----------------------------------------------------------------------------- */

char *list_title(const char *key)
{
	static const struct {
		const char *key, *title;
	} titles[] = {
		{"t_excl_s", "own time"},
		{"t_incl_s", "time with callees"},
		{"t_s", "time"},
		{"t_min_s", "least time"},
		{"t_max_s", "most time"},
		{"t_avg_s", "mean time"},
		{"recvs", "receives"},
		{"cpu_s", "CPU time"},
		{"wall_s", "time"},
		{"mpi_s", "MPI"},
		{"openmp_wait_s", "OpenMP waits"},
		{"openmp_idle_s", "OpenMP idle"},
		{"lock_wait_s", "lock waits"},
		{"gpu_wait_s", "GPU waits"},
		{"io_s", "I/O"},
		{"off_cpu_s", "off CPU"},
		{"id", "call path"},
		{"pid", "PID"},
	};
	char *title;

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		if (!strcmp(titles[i].key, key))
			return xstrdup(titles[i].title);
	title = xstrdup(!strncmp(key, "t_", 2) ? key + 2 : key);
	if (text_ends_with(title, "_s"))
		title[strlen(title) - 2] = '\0';
	for (char *s = title; *s; s++)
		if (*s == '_')
			*s = ' ';
	return title;
}

char *list_shown(const char *key, const struct value *v)
{
	const double real = value_real(v);
	char exact[VALUE_DIGITS];

	if (isnan(real))
		return xstrdup("----");
	if (text_ends_with(key, "_s") && strcmp(key, "start_s") && strcmp(key, "end_s") &&
		strcmp(key, "utc_s"))
		return xstrdup(quantity_seconds(real).text);
	if (value_kind(v) == VALUE_INTEGER)
		return xstrdup(value_exact(v, exact));
	return xasprintf("%.4g", real);
}

/* Plain values of an array in one line; those of objects are left out. */
static char *joined_values(const struct json_tree *all, const struct value *array)
{
	char *text = xstrdup(""), exact[VALUE_DIGITS];

	for (const struct value *v = value_first(all, array); v && strlen(text) < 4096;
		v = value_next(all, v)) {
		const char *one =
			value_kind(v) == VALUE_TEXT ? value_text(all, v) : value_exact(v, exact);
		char *more;

		if (!one)
			continue;
		more = xasprintf("%s%s%s", text, *text ? ", " : "", one);
		free(text);
		text = more;
	}
	return text;
}

/* ---- cells ----------------------------------------------------------------------------- */

static void put_value(struct html *h, const struct json_tree *all, const char *key,
	const struct value *v, bool head)
{
	char exact[VALUE_DIGITS], *shown;

	switch (value_kind(v)) {
	case VALUE_INTEGER:
	case VALUE_REAL:
		shown = list_shown(key, v);
		html_number(h, value_exact(v, exact), shown);
		free(shown);
		break;
	case VALUE_TEXT:
		html_cell(h, value_text(all, v), head);
		break;
	case VALUE_BOOL:
		html_cell(h, value_is_true(v) ? "yes" : "no", head);
		break;
	case VALUE_ARRAY:
		shown = joined_values(all, v);
		html_cell(h, shown, head);
		free(shown);
		break;
	default:
		html_cell(h, "", head);
	}
}

void list_cell(struct html *h, const struct json_tree *all, const struct value *row,
	const char *key, bool is_head)
{
	put_value(h, all, key, value_member(all, row, key), is_head);
}

/* ---- tables ---------------------------------------------------------------------------- */

struct columns {
	const char *key[COLUMNS_MAX];
	bool is_number[COLUMNS_MAX];
	size_t n;
};

static void add_column(struct columns *c, const char *key, const struct value *v)
{
	size_t i = 0;

	while (i < c->n && strcmp(c->key[i], key))
		i++;
	if (i == COLUMNS_MAX)
		return;
	c->key[i] = key;
	c->n += i == c->n;
	c->is_number[i] |= value_kind(v) == VALUE_INTEGER || value_kind(v) == VALUE_REAL;
}

/* True for a value that a cell can show. */
static bool is_plain(const struct json_tree *all, const struct value *v)
{
	const struct value *first = value_first(all, v);

	return value_kind(v) != VALUE_OBJECT && value_kind(first) != VALUE_OBJECT &&
	       value_kind(first) != VALUE_ARRAY;
}

static struct columns columns_of(
	const struct json_tree *all, const struct value *array, const char *const *keys)
{
	struct columns c = {0};

	for (size_t i = 0; keys && keys[i]; i++)
		add_column(&c, keys[i], NULL);
	for (const struct value *row = value_first(all, array); row; row = value_next(all, row)) {
		if (keys) {
			for (size_t i = 0; i < c.n; i++)
				add_column(&c, c.key[i], value_member(all, row, c.key[i]));
			continue;
		}
		for (const struct value *v = value_first(all, row); v; v = value_next(all, v))
			if (is_plain(all, v) && strcmp(value_key(all, v), "hash"))
				add_column(&c, value_key(all, v), v);
	}
	return c;
}

void list_table(struct html *h, const struct json_tree *all, const struct value *array,
	const char *caption, const char *const *keys)
{
	const struct columns c = columns_of(all, array, keys);
	size_t n = 0;

	html_table(h, caption);
	for (size_t i = 0; i < c.n; i++) {
		char *title = list_title(c.key[i]);

		html_head(h, title, c.is_number[i]);
		free(title);
	}
	for (const struct value *row = value_first(all, array); row && n < PAGE_ROWS;
		row = value_next(all, row), n++) {
		html_row(h);
		for (size_t i = 0; i < c.n; i++)
			list_cell(h, all, row, c.key[i], !i);
		html_close(h);
	}
	html_table_end(h);
	if (n < value_count(array)) {
		html_open(h, "p", NULL);
		html_format(h, "%zu more rows are in the JSON of the run.", value_count(array) - n);
		html_close(h);
	}
}

/* A cell whose numbers stand at its left, as texts do. */
static void put_plain(
	struct html *h, const struct json_tree *all, const char *key, const struct value *v)
{
	char exact[VALUE_DIGITS], *shown;

	if (!value_exact(v, exact)) {
		put_value(h, all, key, v, false);
		return;
	}
	shown = list_shown(key, v);
	html_open(h, "td", NULL);
	html_element(h, "data", shown, "value", exact, NULL);
	html_close(h);
	free(shown);
}

void list_members(struct html *h, const struct json_tree *all, const struct value *object,
	const char *caption)
{
	html_table(h, caption);
	html_head(h, "what", false);
	html_head(h, "value", false);
	for (const struct value *v = value_first(all, object); v; v = value_next(all, v)) {
		char *title;

		if (!is_plain(all, v))
			continue;
		title = list_title(value_key(all, v));
		html_row(h);
		html_cell(h, title, true);
		put_plain(h, all, value_key(all, v), v);
		html_close(h);
		free(title);
	}
	html_table_end(h);
}

void list_details(struct html *h, const char *summary)
{
	html_open(h, "details", NULL);
	html_element(h, "summary", summary, NULL);
}
