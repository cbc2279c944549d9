/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of hardware counters and observables, as Vftrace has them: a row per
 * call path but the root, and below them, with hwprof.show_summary, the totals.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/observables.h"
#include "nodeagent/report/log/internal.h"

#define NOTHING	 "----"
#define REAL_MAX 1e15 /* larger numbers have an exponent */

static bool is_root(const struct report *r, uint32_t stack)
{
	return r->p->stacks[stack].parent == PROFILE_NONE;
}

static char *value_text(double value)
{
	if (!isfinite(value))
		return xstrdup(NOTHING);
	return xasprintf(fabs(value) < REAL_MAX ? "%f" : "%e", value);
}

static struct table *begin_table(const struct report *r, char **titles, size_t n)
{
	struct table *t = columns_begin(r);

	table_column(t, "#Calls", TABLE_RIGHT);
	table_column(t, "Func", TABLE_RIGHT);
	for (size_t i = 0; i < n; i++)
		table_column(t, titles[i], TABLE_RIGHT);
	return t;
}

/* Rows of all stacks; cell() adds the one in column k. */
static void print_table(FILE *f, const struct report *r, const char *title, char **titles, size_t n,
	void (*cell)(struct table *t, const struct hwprof *h, size_t k, uint32_t stack))
{
	struct table *t = begin_table(r, titles, n);
	uint32_t *order = hwprof_sort(r->hwprof);
	struct columns_rows rows = {.n = 0};

	for (size_t i = 0; i < r->p->n_stacks; i++) {
		bool leave;

		if (is_root(r, order[i]))
			continue;
		leave = columns_leave(r, &rows, r->p->stacks[order[i]].excl_ns);
		rows.n++;
		if (leave)
			continue;
		table_uint(t, r->p->stacks[order[i]].calls);
		table_text(t, r->cell[r->p->stacks[order[i]].name]);
		for (size_t k = 0; k < n; k++)
			cell(t, r->hwprof, k, order[i]);
	}
	fprintf(f, "\nHWProf - %s (%s)\n\n", title, hwprof_type(r->c));
	columns_close(f, r, t);
	columns_left(f, r, &rows);
	free(order);
	for (size_t k = 0; k < n; k++)
		free(titles[k]);
	free(titles);
}

static void cell_observable(struct table *t, const struct hwprof *h, size_t k, uint32_t stack)
{
	char *text = value_text(hwprof_observable(h, k, stack));

	table_text(t, text);
	free(text);
}

static void cell_count(struct table *t, const struct hwprof *h, size_t k, uint32_t stack)
{
	table_uint(t, hwprof_count(h, k, stack));
}

static void print_observables(FILE *f, const struct report *r)
{
	const struct conf_list *o = &r->c->hwprof_observables;
	char **titles = xcalloc(o->n, sizeof(*titles));

	for (size_t i = 0; i < o->n; i++)
		titles[i] = o->observables[i].unit[0] ? xasprintf("%s [%s]", o->observables[i].name,
								o->observables[i].unit)
						      : xstrdup(o->observables[i].name);
	print_table(f, r, "Observables", titles, o->n, cell_observable);
}

static void print_counters(FILE *f, const struct report *r)
{
	char **titles = xcalloc(r->p->n_counters, sizeof(*titles));

	for (size_t i = 0; i < r->p->n_counters; i++)
		titles[i] = xstrdup(hwprof_name(r->hwprof, i));
	print_table(f, r, "Hardware Counters", titles, r->p->n_counters, cell_count);
}

static void print_summary(FILE *f, const struct report *r)
{
	const struct conf_list *o = &r->c->hwprof_observables;

	if (r->c->hwprof_show_observables && o->n) {
		fputs("HWProf observables summary: \n\n", f);
		for (size_t i = 0; i < o->n; i++) {
			char *value = value_text(hwprof_observable(r->hwprof, i, PROFILE_NONE));

			section_text(f, "  ", o->observables[i].name, ": ");
			fprintf(f, "%s ", value);
			section_text(f, "", o->observables[i].unit, "\n");
			free(value);
		}
		fputc('\n', f);
	}
	if (r->c->hwprof_show_counters && r->p->n_counters) {
		fputs("HWProf counters summary: \n\n", f);
		for (size_t i = 0; i < r->p->n_counters; i++) {
			section_text(f, "  ", hwprof_name(r->hwprof, i), ": ");
			fprintf(f, "%" PRIu64 "\n", hwprof_count(r->hwprof, i, PROFILE_NONE));
		}
	}
}

bool report_has_hwprof(const struct profile *p, const struct conf *c)
{
	return c->hwprof_active && ((c->hwprof_show_observables && c->hwprof_observables.n) ||
					   (c->hwprof_show_counters && p->n_counters));
}

void section_hwprof(FILE *f, const struct report *r)
{
	if (!r->hwprof || !report_has_hwprof(r->p, r->c))
		return;
	if (r->c->hwprof_show_observables && r->c->hwprof_observables.n)
		print_observables(f, r);
	if (r->c->hwprof_show_counters && r->p->n_counters)
		print_counters(f, r);
	if (r->c->hwprof_show_summary)
		print_summary(f, r);
}

/* ---- in JSON ------------------------------------------------------------------------------ */

void json_hwprof_stack(struct json *j, const struct report *r, uint32_t stack)
{
	const struct hwprof *h = r->hwprof;

	if (!h)
		return;
	if (h->p->n_counters) {
		json_object(j, "counters");
		for (size_t i = 0; i < h->p->n_counters; i++)
			json_uint(j, h->symbol[i], hwprof_count(h, i, stack));
		json_close(j);
	}
	if (r->c->hwprof_observables.n) {
		json_array(j, "observables");
		for (size_t i = 0; i < r->c->hwprof_observables.n; i++)
			json_real(j, NULL, hwprof_observable(h, i, stack));
		json_close(j);
	}
}

void json_hwprof_thread(struct json *j, const struct report *r, uint32_t thread, uint32_t stack)
{
	const struct hwprof *h = r->hwprof;
	uint64_t *values;

	if (!h || !h->p->n_counters || !h->p->n_thread_counts)
		return;
	values = xcalloc(h->p->n_counters, sizeof(*values));
	hwprof_thread(h, thread, stack, values);
	json_object(j, "counters");
	for (size_t i = 0; i < h->p->n_counters; i++)
		json_uint(j, h->symbol[i], values[i]);
	json_close(j);
	free(values);
}

static const char *counter_symbol(const struct row *row)
{
	return row->r->hwprof->symbol[row->index];
}

static const char *counter_name(const struct row *row)
{
	return hwprof_name(row->r->hwprof, row->index);
}

static uint64_t counter_total(const struct row *row)
{
	return hwprof_count(row->r->hwprof, row->index, PROFILE_NONE);
}

static double observable_total(const struct row *row)
{
	return hwprof_observable(row->r->hwprof, row->index, PROFILE_NONE);
}

ROW_VALUE(uint64_t, is_counted, profile_counter, at->source != 0)

static const struct column counter_columns[] = {
	COLUMN_GET(NULL, "symbol", TEXT, text, counter_symbol),
	COLUMN_GET(NULL, "name", TEXT, text, counter_name),
	COLUMN_GET(NULL, "counted", BOOL, count, is_counted),
	COLUMN(NULL, "enabled_s", SECONDS, struct profile_counter, enabled_ns),
	COLUMN(NULL, "running_s", SECONDS, struct profile_counter, running_ns),
	COLUMN_GET(NULL, "total", COUNT, count, counter_total),
};

static const struct list counter_list = LIST(counter_columns, counters, .json = "counters");

#define OBSERVABLE(json, member) COLUMN(NULL, json, TEXT, struct conf_observable, member)

static const struct column observable_columns[] = {
	OBSERVABLE("name", name),
	OBSERVABLE("formula", formula),
	OBSERVABLE("unit", unit),
	COLUMN_GET(NULL, "total", REAL, real, observable_total),
};

static const struct list observable_list = LIST_OF(observable_columns, struct conf_observable);

void json_hwprof(struct json *j, const struct report *r)
{
	const struct conf_list *o = &r->c->hwprof_observables;

	if (!r->hwprof)
		return;
	json_string(j, "counter_type", r->c->hwprof_type);
	columns_json(j, r, &counter_list);
	json_array(j, "observables");
	for (uint32_t i = 0; i < o->n; i++)
		columns_object(j, &observable_list,
			&(struct row){.r = r, .at = &o->observables[i], .index = i});
	json_close(j);
}
