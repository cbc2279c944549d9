/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP in the logs: what each parallel region has cost and where its time was
 * lost, and the tree of threads that the teams made. Its places are named by
 * the thread numbers on the way to them: 0.2.1 is thread 1 of a team that
 * thread 2 of a team of the initial thread has made.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NOTHING	     "----"
#define PLACE_ROWS   200 /* more are not shown one by one */
#define PLACE_DEPTH  32	 /* longer paths are cut */
#define INDENT_MAX   16
#define SERVED_SHOWN 8

double report_balance(const struct profile_openmp *o)
{
	return o->most_ns ? 100.0 * (double)o->average_ns / (double)o->most_ns : 100.0;
}

static void cell_seconds(struct table *t, uint64_t ns)
{
	table_real(t, 0, 3, ns * 1e-9);
}

static void cell_threads(struct table *t, const struct profile_openmp *o)
{
	char *text;

	if (!o->size_max) { /* no team was complete */
		table_text(t, NOTHING);
		return;
	}
	text = o->size_min == o->size_max
		       ? xasprintf("%" PRIu32, o->size_max)
		       : xasprintf("%" PRIu32 "-%" PRIu32, o->size_min, o->size_max);
	table_text(t, text);
	free(text);
}

static uint64_t region_time(const struct profile *p, uint32_t i)
{
	return p->openmp[i].wall_ns;
}

static void region_row(struct table *t, const struct report *r, const struct profile_openmp *o)
{
	table_uint(t, o->calls);
	cell_threads(t, o);
	cell_seconds(t, o->wall_ns);
	cell_seconds(t, o->busy_ns);
	table_real(t, 0, 1, report_balance(o));
	cell_seconds(t, o->start_ns);
	cell_seconds(t, o->barrier_ns);
	cell_seconds(t, o->wait_ns - (o->barrier_ns < o->wait_ns ? o->barrier_ns : o->wait_ns));
	cell_seconds(t, o->join_ns);
	table_uint(t, o->tasks);
	cell_seconds(t, o->task_ns);
	section_cell_function(t, r, o->stack);
	section_cell_caller(t, r, o->stack);
	section_cell_id(t, r, o->stack);
}

void section_openmp(FILE *f, const struct report *r)
{
	static const char *const titles[] = {"Calls", "Threads", "t_wall[s]", "Busy[s]",
		"Balance[%]", "Start[s]", "Barrier[s]", "Wait[s]", "Join[s]", "Tasks", "t_tasks[s]",
		"Region", "Caller", "STID"};
	const struct profile *p = r->p;
	uint32_t threads = 0;
	struct table *t;
	uint32_t *order;

	if (!p->n_openmp)
		return;
	t = table_new(TABLE_FRAMED);
	order = sort_falling(p, p->n_openmp, region_time);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	for (size_t i = 0; i < p->n_openmp && i < SECTION_ROWS; i++) {
		const struct profile_openmp *o = &p->openmp[order[i]];

		region_row(t, r, o);
		threads = o->size_max > threads ? o->size_max : threads;
	}
	fputs("\nOpenMP parallel regions\n", f);
	table_print(t, f);
	section_more(f, p->n_openmp, "parallel regions");
	if (threads > 1)
		fputs("Between them threads are idle, which is part of the exclusive time of "
		      "init.\n",
			f);
	table_free(t);
	free(order);
}

/* ---- the tree of threads --------------------------------------------------------- */

static char *place_name(const struct profile *p, uint32_t i)
{
	uint32_t up[PLACE_DEPTH];
	unsigned n = 0,
		 indent = 2 * (p->openmp_threads[i].level < INDENT_MAX ? p->openmp_threads[i].level
								       : INDENT_MAX);
	char *text = xmalloc(2 * INDENT_MAX + PLACE_DEPTH * 12 + 8), *to = text;

	for (; i != PROFILE_NONE && n < PLACE_DEPTH; i = p->openmp_threads[i].parent)
		up[n++] = p->openmp_threads[i].number;
	to += sprintf(to, "%*s%s", (int)indent, "", i == PROFILE_NONE ? "" : "...");
	while (n--)
		to += sprintf(to, "%" PRIu32 "%s", up[n], n ? "." : "");
	return text;
}

/* The first threads by their numbers, the others by how many they are. */
static void cell_served(struct table *t, const struct profile_openmp_thread *e)
{
	const char *rest = e->threads;
	size_t shown = 0, more = 0;
	char *text;

	for (; *rest && shown < SERVED_SHOWN; shown++) {
		rest += strspn(rest, " ");
		rest += strcspn(rest, " ");
	}
	for (const char *at = rest; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		more += *at != '\0';
	}
	text = more || e->more ? xasprintf("%.*s and %s%zu more", (int)(rest - e->threads),
					 e->threads, e->more ? "over " : "", more)
			       : xstrdup(e->threads);
	table_text(t, text);
	free(text);
}

static void place_row(struct table *t, const struct report *r, uint32_t i, bool several_ranks)
{
	const struct profile_openmp_thread *e = &r->p->openmp_threads[i];
	char *name = place_name(r->p, i);

	if (several_ranks)
		table_uint(t, profile_rank_shown(r->p, e->rank));
	table_text(t, name);
	table_uint(t, e->level);
	table_uint(t, e->tasks);
	if (e->parent == PROFILE_NONE)
		table_text(t, NOTHING);
	else
		cell_seconds(t, e->ns);
	cell_served(t, e);
	free(name);
}

struct places {
	const struct profile_openmp_thread *all;
	uint32_t *child, *sibling; /* PROFILE_NONE: no more */
	uint32_t first;
};

struct by_number {
	uint32_t level, number, index;
};

static int by_number(const void *a, const void *b)
{
	const struct by_number *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void places_init(struct places *s, const struct profile *p)
{
	size_t n = p->n_openmp_threads;
	struct by_number *order = xmalloc(n * sizeof(*order));

	s->all = p->openmp_threads;
	s->first = PROFILE_NONE;
	s->child = xmalloc(n * sizeof(*s->child));
	s->sibling = xmalloc(n * sizeof(*s->sibling));
	memset(s->child, 0xff, n * sizeof(*s->child));
	for (size_t i = 0; i < n; i++)
		order[i] = (struct by_number){s->all[i].level, s->all[i].number, (uint32_t)i};
	qsort(order, n, sizeof(*order), by_number);
	while (n--) {
		uint32_t i = order[n].index, parent = s->all[i].parent;
		uint32_t *head = parent == PROFILE_NONE ? &s->first : &s->child[parent];

		s->sibling[i] = *head;
		*head = i;
	}
	free(order);
}

/* The next one in the order in which they are printed; the tree may be deep. */
static uint32_t places_next(const struct places *s, uint32_t i)
{
	if (s->child[i] != PROFILE_NONE)
		return s->child[i];
	while (i != PROFILE_NONE && s->sibling[i] == PROFILE_NONE)
		i = s->all[i].parent;
	return i == PROFILE_NONE ? i : s->sibling[i];
}

void section_openmp_threads(FILE *f, const struct report *r, bool several_ranks)
{
	static const char *const titles[] = {"Level", "Teams", "t_total[s]"};
	const struct profile *p = r->p;
	struct places s;
	struct table *t;
	size_t rows = 0;

	if (!p->n_openmp_threads)
		return;
	t = table_new(TABLE_FRAMED);
	if (several_ranks)
		table_column(t, "Rank", TABLE_RIGHT);
	table_column(t, "Thread", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	table_column(t, "Served by threads", TABLE_LEFT);
	places_init(&s, p);
	for (uint32_t i = s.first; i != PROFILE_NONE && rows < PLACE_ROWS;
		i = places_next(&s, i), rows++)
		place_row(t, r, i, several_ranks);
	free(s.child);
	free(s.sibling);
	fputs("\nOpenMP threads\n", f);
	table_print(t, f);
	table_free(t);
	if (p->n_openmp_threads > rows)
		fprintf(f, "... and %zu %s more\n", p->n_openmp_threads - rows,
			one_or_many(p->n_openmp_threads - rows, "place", "places"));
}
