/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of the first run beside those of the second, by the hash of their names. */
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

#define ROWS 200u

struct page_other {
	const struct pages *p;
	const struct json_tree *all; /* of the second run */
	const struct value **rows;
	size_t n;
	struct map64 by_hash; /* to indices of rows */
};

/* Of a row of one run, of the other, or of both. */
struct compared {
	const struct value *first, *second;
	double s;    /* of own time, in the first less in the second */
	double size; /* of it, without its sign */
	size_t index;
};
ORDER_BY(by_size, struct compared, FALLING(size) ?: RISING(index))

static uint64_t hash_of(const struct json_tree *all, const struct value *row)
{
	char hash[VALUE_DIGITS];

	return strtoull(value_short_text(all, row, "hash", hash), NULL, 16);
}

static const struct value *stacks_of(const struct page_run *run)
{
	return value_member(run->all, json_tree_root(run->all), "stacks");
}

struct page_other *page_other_of(const struct pages *p)
{
	struct page_other *o;
	const struct value *stacks;

	if (p->n_runs < 2)
		return NULL;
	o = xcalloc(1, sizeof(*o));
	o->p = p;
	o->all = p->runs[1].all;
	stacks = stacks_of(&p->runs[1]);
	o->rows = xcalloc(value_count(stacks) + 1, sizeof(*o->rows));
	for (const struct value *v = value_first(o->all, stacks); v; v = value_next(o->all, v)) {
		const uint64_t hash = hash_of(o->all, v);

		o->rows[o->n] = v;
		if (!map64_find(&o->by_hash, hash))
			map64_add(&o->by_hash, hash, (uint32_t)o->n);
		o->n++;
	}
	return o;
}

void page_other_free(struct page_other *o)
{
	if (!o)
		return;
	map64_free(&o->by_hash);
	free(o->rows);
	free(o);
}

static const struct value *row_beside(const struct page_other *o, const struct value *row)
{
	const uint32_t *at = map64_find(&o->by_hash, hash_of(o->p->all, row));

	return at ? o->rows[*at] : NULL;
}

/* Seconds of a row, by the key; 0 where there is no row, or no number in it. */
static double seconds_of(const struct json_tree *all, const struct value *row, const char *key)
{
	return fmax(0.0, value_real_of(all, row, key));
}

char *page_difference_title(const struct page_other *o, const struct value *row)
{
	const struct value *other = row_beside(o, row);
	const double is = seconds_of(o->p->all, row, "t_incl_s");
	const double was = seconds_of(o->all, other, "t_incl_s");
	char exact[VALUE_DIGITS];

	if (!other)
		return xstrdup("; not in the other run");
	return xasprintf("; in the other run %s s with callees, so %+.9f s here",
		value_exact(value_member(o->all, other, "t_incl_s"), exact) ?: "-", is - was);
}

const char *page_difference_class(const struct page_other *o, const struct value *row)
{
	static const double steps[] = {-0.5, -0.2, -0.05, 0.05, 0.2, 0.5};
	static const char *const classes[] = {
		"f d0", "f d1", "f d2", "f d3", "f d4", "f d5", "f d6"};
	const double is = seconds_of(o->p->all, row, "t_incl_s");
	const double was = seconds_of(o->all, row_beside(o, row), "t_incl_s");
	const double most = fmax(is, was), part = most > 0.0 ? (is - was) / most : 0.0;
	size_t i = 0;

	while (i < ARRAY_SIZE(steps) && part > steps[i])
		i++;
	return classes[i];
}

/* ---- the table ------------------------------------------------------------------------- */

static struct compared compared_of(
	const struct page_other *o, const struct value *first, const struct value *second, size_t i)
{
	const double s =
		seconds_of(o->p->all, first, "t_excl_s") - seconds_of(o->all, second, "t_excl_s");

	return (struct compared){first, second, s, fabs(s), i};
}

static struct compared *rows_of(const struct page_other *o, size_t *n)
{
	const struct json_tree *all = o->p->all;
	const struct value *stacks = page_member(o->p, "stacks");
	struct compared *rows = xcalloc(value_count(stacks) + o->n + 1, sizeof(*rows));
	bool *seen = xcalloc(o->n + 1, sizeof(*seen));
	size_t i = 0;

	for (const struct value *v = value_first(all, stacks); v; v = value_next(all, v), i++) {
		const uint32_t *at = map64_find(&o->by_hash, hash_of(all, v));
		const bool is_new = at && !seen[*at];

		if (is_new)
			seen[*at] = true;
		rows[i] = compared_of(o, v, is_new ? o->rows[*at] : NULL, i);
	}
	for (size_t k = 0; k < o->n; k++)
		if (!seen[k]) {
			rows[i] = compared_of(o, NULL, o->rows[k], i);
			i++;
		}
	free(seen);
	*n = i;
	qsort(rows, *n, sizeof(*rows), by_size);
	return rows;
}

static void put_row(struct html *h, const struct page_other *o, const struct compared *c)
{
	char *exact = xasprintf("%.9f", c->s);
	static const char *const keys[] = {"t_excl_s", "t_incl_s"};

	html_row(h);
	list_cell(h, c->first ? o->p->all : o->all, c->first ? c->first : c->second, "path", true);
	html_number(h, exact, quantity_seconds(c->s).text);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		list_cell(h, o->p->all, c->first, keys[i], false);
		list_cell(h, o->all, c->second, keys[i], false);
	}
	html_close(h);
	free(exact);
}

void page_difference_table(struct html *h, const struct page_other *o)
{
	static const char *const what[] = {"own time", "with callees"};
	size_t n;
	struct compared *rows = rows_of(o, &n);

	list_details(h, "The call paths whose own time differs most between the two runs");
	html_table(h, "Call paths by the difference of their own time, the first run less the "
		      "second");
	html_head(h, "path", false);
	html_head(h, "difference", true);
	for (size_t i = 0; i < ARRAY_SIZE(what); i++)
		for (size_t k = 0; k < 2; k++) {
			char *title = xasprintf("%s, %s", what[i], o->p->runs[k].name);

			html_head(h, title, true);
			free(title);
		}
	for (size_t i = 0; i < n && i < ROWS && rows[i].s != 0.0; i++)
		put_row(h, o, &rows[i]);
	html_table_end(h);
	html_close(h);
	free(rows);
}
