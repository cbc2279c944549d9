/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of hardware counters and observables, as Vftrace has them: a row per
 * call path but the root, and below them, with hwprof.show_summary, the totals.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/hwprof.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

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

static struct table *begin(char **titles, size_t n)
{
	struct table *t = table_new(TABLE_FRAMED);

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
	struct table *t = begin(titles, n);
	uint32_t *order = hwprof_sort(r->hwprof);

	for (size_t i = 0; i < r->p->n_stacks; i++) {
		if (is_root(r, order[i]))
			continue;
		table_uint(t, r->p->stacks[order[i]].calls);
		section_cell_function(t, r, order[i]);
		for (size_t k = 0; k < n; k++)
			cell(t, r->hwprof, k, order[i]);
	}
	fprintf(f, "\nHWProf - %s (%s)\n\n", title, hwprof_type(r->c));
	table_print(t, f);
	table_free(t);
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
	const struct conf_observables *o = &r->c->hwprof_observables;
	char **titles = xcalloc(o->n, sizeof(*titles));

	for (size_t i = 0; i < o->n; i++)
		titles[i] = o->at[i].unit[0] ? xasprintf("%s [%s]", o->at[i].name, o->at[i].unit)
					     : xstrdup(o->at[i].name);
	print_table(f, r, "Observables", titles, o->n, cell_observable);
}

static void print_counters(FILE *f, const struct report *r)
{
	char **titles = xcalloc(r->p->n_counters, sizeof(*titles));

	for (size_t i = 0; i < r->p->n_counters; i++)
		titles[i] = xstrdup(hwprof_name(r->hwprof, i));
	print_table(f, r, "Hardware Counters", titles, r->p->n_counters, cell_count);
}

static void print_plain(FILE *f, const char *before, const char *text)
{
	char *plain = text_plain(text);

	fprintf(f, "%s%s", before, plain);
	free(plain);
}

static void print_summary(FILE *f, const struct report *r)
{
	const struct conf_observables *o = &r->c->hwprof_observables;

	if (r->c->hwprof_show_observables && o->n) {
		fputs("HWProf observables summary: \n\n", f);
		for (size_t i = 0; i < o->n; i++) {
			char *value = value_text(hwprof_observable(r->hwprof, i, PROFILE_NONE));

			print_plain(f, "  ", o->at[i].name);
			fprintf(f, ": %s", value);
			print_plain(f, " ", o->at[i].unit);
			fputc('\n', f);
			free(value);
		}
		fputc('\n', f);
	}
	if (r->c->hwprof_show_counters && r->p->n_counters) {
		fputs("HWProf counters summary: \n\n", f);
		for (size_t i = 0; i < r->p->n_counters; i++) {
			print_plain(f, "  ", hwprof_name(r->hwprof, i));
			fprintf(f, ": %" PRIu64 "\n", hwprof_count(r->hwprof, i, PROFILE_NONE));
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
