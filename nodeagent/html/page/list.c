/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays and objects of the JSON as tables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define COLUMNS_MAX 40

/* ---- cells ----------------------------------------------------------------------------- */

/* Plain values of an array in one line; those of objects are left out. */
static char *joined_values(
	const struct json_tree *all, const struct value *array, const char *between)
{
	char *text = xstrdup(""), exact[VALUE_DIGITS];

	for (const struct value *v = value_first(all, array); v && strlen(text) < 4096;
		v = value_next(all, v)) {
		const char *one =
			value_kind(v) == VALUE_TEXT ? value_text(all, v) : value_exact(v, exact);

		if (one)
			text = xappend(text, "%s%s", *text ? between : "", one);
	}
	return text;
}

/* Of these a number of 0 says that there is none. */
static bool is_none(const char *key, const struct value *v)
{
	return !strcmp(key, "every") && value_real(v) <= 0.0;
}

static void put_value(struct html *h, const struct json_tree *all, const char *key,
	const struct value *v, bool head)
{
	char exact[VALUE_DIGITS], *shown;

	switch (value_kind(v)) {
	case VALUE_INTEGER:
	case VALUE_REAL:
		if (is_none(key, v)) {
			html_cell(h, "", head);
			break;
		}
		shown = words_of_number(key, v);
		html_number(h, value_exact(v, exact), shown);
		free(shown);
		break;
	case VALUE_TEXT:
		html_cell(h, words_of_kind(key, value_text(all, v)), head);
		break;
	case VALUE_BOOL:
		html_cell(h, value_is_true(v) ? "yes" : "no", head);
		break;
	case VALUE_ARRAY:
		shown = joined_values(all, v, strcmp(key, "command") ? ", " : " ");
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
	bool is_number[COLUMNS_MAX], is_filled[COLUMNS_MAX];
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
	c->is_filled[i] |= v != NULL;
	c->is_number[i] |= value_kind(v) == VALUE_INTEGER || value_kind(v) == VALUE_REAL;
}

/* True for a value that a cell can show. */
static bool is_plain(const struct json_tree *all, const struct value *v)
{
	const struct value *first = value_first(all, v);

	return value_kind(v) != VALUE_OBJECT && value_kind(first) != VALUE_OBJECT &&
	       value_kind(first) != VALUE_ARRAY;
}

static void put_path_first(struct columns *c)
{
	for (size_t i = 1; i < c->n; i++) {
		if (strcmp(c->key[0], "id") || strcmp(c->key[i], "path"))
			continue;
		memmove(c->key, c->key + 1, i * sizeof(*c->key));
		c->key[i] = "id";
		memmove(c->is_number, c->is_number + 1, i * sizeof(*c->is_number));
		c->is_number[i] = true;
		return;
	}
}

/* Those that no row has. */
static void drop_empty(struct columns *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (!c->is_filled[i])
			continue;
		c->key[kept] = c->key[i];
		c->is_number[kept++] = c->is_number[i];
	}
	c->n = kept;
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
	if (keys)
		drop_empty(&c);
	else
		put_path_first(&c);
	return c;
}

struct timed_row {
	const struct value *row;
	double s;
	size_t index;
};
ORDER_BY(by_time, struct timed_row, FALLING(s) ?: RISING(index))

static struct timed_row *rows_of(
	const struct json_tree *all, const struct value *array, bool are_sorted)
{
	struct timed_row *rows = xcalloc(value_count(array) + 1, sizeof(*rows));
	size_t n = 0;

	for (const struct value *row = value_first(all, array); row;
		row = value_next(all, row), n++)
		rows[n] = (struct timed_row){
			row, are_sorted ? fmax(0.0, value_real_of(all, row, "t_s")) : 0.0, n};
	qsort(rows, n, sizeof(*rows), by_time);
	return rows;
}

static void put_table(struct html *h, const struct json_tree *all, const struct value *array,
	const char *caption, const char *const *keys, bool are_sorted)
{
	const struct columns c = columns_of(all, array, keys);
	struct timed_row *rows = rows_of(all, array, are_sorted);
	const size_t n = value_count(array), shown = n < PAGE_ROWS ? n : PAGE_ROWS;

	html_table(h, caption);
	for (size_t i = 0; i < c.n; i++) {
		/* those of call paths are numbers; communicators have texts */
		const bool is_text_id = !strcmp(c.key[i], "id") && !c.is_number[i];
		char *title = is_text_id ? xstrdup("id") : words_of_key(c.key[i]);

		html_head(h, title, c.is_number[i]);
		free(title);
	}
	for (size_t k = 0; k < shown; k++) {
		html_row(h);
		for (size_t i = 0; i < c.n; i++)
			list_cell(h, all, rows[k].row, c.key[i], !i);
		html_close(h);
	}
	html_table_end(h);
	if (shown < n) {
		html_open(h, "p", NULL);
		html_format(h, "%zu more rows are in the JSON of the run.", n - shown);
		html_close(h);
	}
	free(rows);
}

void list_table(struct html *h, const struct json_tree *all, const struct value *array,
	const char *caption, const char *const *keys)
{
	put_table(h, all, array, caption, keys, false);
}

void list_table_by_time(struct html *h, const struct json_tree *all, const struct value *array,
	const char *caption, const char *const *keys)
{
	put_table(h, all, array, caption, keys, true);
}

/* Nothing that people read: `time' tells it. */
static bool is_for_programs(const char *key)
{
	return !strcmp(key, "utc_s");
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
	shown = words_of_number(key, v);
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

		if (!is_plain(all, v) || (value_kind(v) == VALUE_ARRAY && !value_count(v)) ||
			is_for_programs(value_key(all, v)))
			continue;
		title = words_of_key(value_key(all, v));
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
