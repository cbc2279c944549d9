/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads in the node and rank logs: who created whom, and what each one did.
 * Threads stand below the one that created them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/forest.h"
#include "nodeagent/map64.h"
#include "nodeagent/report.h"
#include "nodeagent/table.h"
#include "nodeagent/util.h"

#define NOTHING	     "----"
#define THREAD_ROWS  200 /* more are not shown one by one */
#define INDENT_MAX   16
#define NAME_COLUMNS 60

static uint64_t key_of(uint32_t rank, uint32_t number)
{
	return (uint64_t)rank << 32 | number;
}

/* From the last to the first, so that children are in the order of each[]. */
static void tree_of(struct forest *f, const struct profile *p)
{
	struct map64 place = {0};

	forest_init(f, p->n_each);
	for (size_t i = 0; i < p->n_each; i++)
		map64_add(&place, key_of(p->each[i].rank, p->each[i].number), (uint32_t)i);
	for (size_t i = p->n_each; i-- > 0;) {
		const struct profile_thread *e = &p->each[i];
		/* a thread is younger than its creator: there are no rings */
		const uint32_t *above = e->parent < e->number
						? map64_find(&place, key_of(e->rank, e->parent))
						: NULL;

		if (above)
			f->parent[i] = *above;
		forest_put_first(f, (uint32_t)i, (uint32_t)i);
	}
	map64_free(&place);
}

static void cell_number(struct table *t, uint32_t number)
{
	if (number == PROFILE_NONE)
		table_text(t, NOTHING);
	else
		table_uint(t, number);
}

static void cell_name(struct table *t, const struct profile_thread *e, uint32_t level)
{
	unsigned indent = 2 * (level < INDENT_MAX ? level : INDENT_MAX);
	char *text = e->number == PROFILE_NONE
			     ? xasprintf("%" PRIu32 " other threads", e->threads)
			     : xasprintf("%*s%s", (int)indent, "", e->name ? e->name : "");
	char *cell = text_short(text, NAME_COLUMNS);

	table_text(t, cell);
	free(cell);
	free(text);
}

/* Idle is who was there to work in the teams of others, and was in none. */
static void cells_teams(struct table *t, const struct profile_thread *e)
{
	table_real(t, 0, 3, e->team_ns * 1e-9);
	if (e->team_parts && e->alive_ns > e->team_ns)
		table_real(t, 0, 3, (e->alive_ns - e->team_ns) * 1e-9);
	else
		table_text(t, NOTHING);
}

static void thread_row(struct table *t, const struct report *r, const struct profile_thread *e,
	uint32_t level, bool several_ranks, bool teams, bool messages)
{
	if (several_ranks)
		table_uint(t, profile_rank_shown(r->p, e->rank));
	cell_number(t, e->number);
	cell_number(t, e->parent);
	cell_name(t, e, level);
	table_uint(t, e->calls);
	table_real(t, 0, 3, e->alive_ns * 1e-9);
	table_real(t, 0, 3, e->function_ns * 1e-9);
	table_real(t, 0, 3, report_overhead_s(r, e->calls));
	table_uint(t, e->lost_calls);
	table_real(t, 0, 3, e->blocked_ns * 1e-9);
	if (teams)
		cells_teams(t, e);
	if (!messages)
		return;
	table_uint(t, e->sends);
	table_uint(t, e->receives);
	table_uint(t, e->bytes_sent);
	table_uint(t, e->bytes_received);
}

static bool have_messages(const struct profile *p)
{
	for (size_t i = 0; i < p->n_each; i++)
		if (p->each[i].sends || p->each[i].receives)
			return true;
	return false;
}

static bool have_teams(const struct profile *p)
{
	for (size_t i = 0; i < p->n_each; i++)
		if (p->each[i].team_ns || p->each[i].team_parts)
			return true;
	return false;
}

void section_threads(FILE *f, const struct report *r, bool several_ranks)
{
	static const char *const titles[] = {
		"Calls", "t_alive[s]", "t_functions[s]", "overhead[s]", "Lost calls", "Blocked[s]"};
	static const char *const message_titles[] = {"Sends", "Receives", "Sent[B]", "Received[B]"};
	const struct profile *p = r->p;
	struct table *t;
	struct forest tree;
	size_t rows = 0;
	bool messages = have_messages(p), teams = have_teams(p);

	if (!p->n_each)
		return;
	t = table_new(TABLE_FRAMED);
	if (several_ranks)
		table_column(t, "Rank", TABLE_RIGHT);
	table_column(t, "Thread", TABLE_RIGHT);
	table_column(t, "Created by", TABLE_RIGHT);
	table_column(t, "Name", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	if (teams) {
		table_column(t, "t_teams[s]", TABLE_RIGHT);
		table_column(t, "t_idle[s]", TABLE_RIGHT);
	}
	for (size_t i = 0; messages && i < ARRAY_SIZE(message_titles); i++)
		table_column(t, message_titles[i], TABLE_RIGHT);
	tree_of(&tree, p);
	for (uint32_t i = tree.first; i != FOREST_NONE && rows < THREAD_ROWS;
		i = forest_next(&tree, i), rows++)
		thread_row(t, r, &p->each[i], tree.level[i], several_ranks, teams, messages);
	forest_done(&tree);
	fputs("\nThreads\n", f);
	table_print(t, f);
	table_free(t);
	if (p->n_each > rows)
		fprintf(f, "... and %zu %s more\n", p->n_each - rows,
			one_or_many(p->n_each - rows, "thread", "threads"));
	section_hwprof_threads(f, r, several_ranks);
}

static int by_time(const void *a, const void *b)
{
	const struct profile_thread_stack *x = *(const struct profile_thread_stack *const *)a;
	const struct profile_thread_stack *y = *(const struct profile_thread_stack *const *)b;

	if (x->excl_ns != y->excl_ns)
		return x->excl_ns > y->excl_ns ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static void print_profile(FILE *f, const struct report *r, const struct profile_thread *e,
	const struct profile_thread_stack *stacks, size_t n)
{
	static const char *const titles[] = {
		"Calls", "t_excl[s]", "t_excl[%]", "t_incl[s]", "Function", "Caller", "STID"};
	const struct profile_thread_stack **order = xmalloc(n * sizeof(*order) + 1);
	struct table *t = table_new(TABLE_FRAMED);
	char *name = text_plain(e->name ? e->name : "");

	for (size_t i = 0; i < n; i++)
		order[i] = &stacks[i];
	qsort(order, n, sizeof(*order), by_time);
	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		table_column(t, titles[i], TABLE_RIGHT);
	for (size_t i = 0; i < n; i++) {
		const struct profile_thread_stack *s = order[i];
		double all = e->alive_ns * 1e-9, excl = s->excl_ns * 1e-9;

		table_uint(t, s->calls);
		table_real(t, 0, 3, excl);
		table_real(t, 0, 1, all > 0.0 ? 100.0 * excl / all : 0.0);
		table_real(t, 0, 3, s->incl_ns * 1e-9);
		section_cell_function(t, r, s->stack);
		section_cell_caller(t, r, s->stack);
		section_cell_id(t, r, s->stack);
	}
	fprintf(f, "\nRuntime profile of thread %" PRIu32 " (%s)\n", e->number, name);
	table_print(t, f);
	table_free(t);
	section_hwprof_thread(f, r, order, n);
	free(name);
	free(order);
}

void section_thread_profiles(FILE *f, const struct report *r)
{
	const struct profile *p = r->p;
	size_t shown = 0;

	for (size_t i = 0, n; i < p->n_thread_stacks; i += n) {
		uint32_t thread = p->thread_stacks[i].thread;

		for (n = 0; i + n < p->n_thread_stacks && p->thread_stacks[i + n].thread == thread;)
			n++;
		if (shown++ < SECTION_ROWS)
			print_profile(f, r, &p->each[thread], &p->thread_stacks[i], n);
	}
	section_more(f, shown, "runtime profiles of threads");
}
