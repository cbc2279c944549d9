/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters and observables of single threads, behind the tables of threads in
 * the node and rank logs: a row per thread, and with profile_table.threads "all" a table
 * per thread with a row per call path.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/report/observables.h"
#include "nodeagent/report/log/internal.h"

#define NOTHING	     "----"
#define THREAD_ROWS  200 /* more are not shown one by one */
#define NAME_COLUMNS 60

static size_t n_observables(const struct report *r)
{
	return r->c->hwprof_show_observables ? r->c->hwprof_observables.n : 0;
}

static size_t n_counters(const struct report *r)
{
	return r->c->hwprof_show_counters ? r->p->n_counters : 0;
}

static bool is_wanted(const struct report *r)
{
	return r->hwprof && r->p->n_ended_threads && r->p->n_thread_counts &&
	       (n_observables(r) || n_counters(r));
}

/* Titles of all columns with values; the caller frees each of them and the list. */
static char **add_columns(struct table *t, const struct report *r)
{
	const struct conf_list *o = &r->c->hwprof_observables;
	size_t first = n_observables(r), n = first + n_counters(r);
	char **title = xcalloc(n, sizeof(*title));

	for (size_t i = 0; i < n; i++) {
		if (i >= first)
			title[i] = xstrdup(hwprof_name(r->hwprof, i - first));
		else if (o->observables[i].unit[0])
			title[i] = xasprintf(
				"%s [%s]", o->observables[i].name, o->observables[i].unit);
		else
			title[i] = xstrdup(o->observables[i].name);
		table_column(t, title[i], TABLE_RIGHT);
	}
	return title;
}

static void free_columns(char **title, const struct report *r)
{
	for (size_t i = 0; i < n_observables(r) + n_counters(r); i++)
		free(title[i]);
	free(title);
}

static void cells(struct table *t, const struct report *r, const uint64_t *values, uint64_t ns,
	uint64_t calls)
{
	for (size_t i = 0; i < n_observables(r); i++) {
		double value = hwprof_formula(r->hwprof, i, values, ns, calls);
		char *text = isfinite(value) ? xasprintf("%f", value) : xstrdup(NOTHING);

		table_text(t, text);
		free(text);
	}
	for (size_t i = 0; i < n_counters(r); i++)
		table_uint(t, values[i]);
}

static void thread_row(struct table *t, const struct report *r, uint32_t thread, uint64_t *values,
	bool several_ranks)
{
	const struct profile_thread *e = &r->p->ended_threads[thread];

	if (several_ranks)
		table_uint(t, profile_rank_shown(r->p, e->rank));
	if (e->number == PROFILE_NONE)
		table_text(t, NOTHING);
	else
		table_uint(t, e->number);
	table_text(t, e->name ? e->name : "");
	table_uint(t, e->calls);
	hwprof_thread(r->hwprof, thread, PROFILE_NONE, values);
	cells(t, r, values, e->alive_ns, e->calls);
}

void section_hwprof_threads(FILE *f, const struct report *r)
{
	bool several_ranks = r->log != REPORT_RANK;
	uint64_t *values;
	struct table *t;
	char **titles;
	size_t rows = 0;

	if (!is_wanted(r))
		return;
	t = columns_begin(r);
	if (several_ranks)
		table_column(t, "Rank", TABLE_RIGHT);
	table_column(t, "Thread", TABLE_RIGHT);
	table_column(t, "Name", TABLE_LEFT);
	table_most(t, NAME_COLUMNS, TEXT_BOTH_ENDS);
	table_column(t, "#Calls", TABLE_RIGHT);
	titles = add_columns(t, r);
	values = xcalloc(r->p->n_counters + 1, sizeof(*values));
	for (; rows < r->p->n_ended_threads && rows < THREAD_ROWS; rows++)
		thread_row(t, r, (uint32_t)rows, values, several_ranks);
	fprintf(f, "\nHWProf - Threads (%s)\n\n", hwprof_type(r->c));
	columns_close(f, r, t);
	free_columns(titles, r);
	free(values);
	if (r->p->n_ended_threads > rows)
		fprintf(f, "... and %zu %s more\n", r->p->n_ended_threads - rows,
			one_or_many(r->p->n_ended_threads - rows, "thread", "threads"));
}

void section_hwprof_thread(
	FILE *f, const struct report *r, const struct profile_thread_stack *const *stacks, size_t n)
{
	uint64_t *values;
	struct table *t;
	char **titles;

	if (!n || !is_wanted(r))
		return;
	t = columns_begin(r);
	table_column(t, "#Calls", TABLE_RIGHT);
	table_column(t, "Func", TABLE_RIGHT);
	titles = add_columns(t, r);
	values = xcalloc(r->p->n_counters + 1, sizeof(*values));
	for (size_t i = 0; i < n; i++) {
		const struct profile_thread_stack *s = stacks[i];

		if (r->p->stacks[s->stack].parent == PROFILE_NONE)
			continue;
		table_uint(t, s->calls);
		table_text(t, r->cell[r->p->stacks[s->stack].name]);
		hwprof_thread(r->hwprof, s->thread, s->stack, values);
		cells(t, r, values, s->excl_ns, s->calls);
	}
	fprintf(f, "\nHWProf - Thread %" PRIu32 " (%s)\n\n",
		r->p->ended_threads[stacks[0]->thread].number, hwprof_type(r->c));
	columns_close(f, r, t);
	free_columns(titles, r);
	free(values);
}
