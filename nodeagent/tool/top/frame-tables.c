/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/frame-tables.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame.h"
#include "nodeagent/tool/top/shares.h"

#define BAR_CELLS 8
#define WIDE	  120 /* columns of the terminal in which calls and times of ranks have room */

/* ---- numbers ------------------------------------------------------------------------------- */

static void short_number(char *to, double x, const char *const *units, size_t n_units)
{
	size_t u = 0;

	while (u + 1 < n_units && x >= 999.5) {
		x /= 1000;
		u++;
	}
	snprintf(to, SHORT_BYTES, "%.*f%s", x > 0 && x < 9.95 && u ? 1 : 0, x, units[u]);
}

void short_count(char to[SHORT_BYTES], double n)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P"};

	if (isnan(n))
		strcpy(to, "----");
	else
		short_number(to, n, units, ARRAY_SIZE(units));
}

void short_time(char to[SHORT_BYTES], double ns)
{
	static const char *const units[] = {"n", "u", "m", "s", "ks"};

	if (isnan(ns))
		strcpy(to, "----");
	else
		short_number(to, ns, units, ARRAY_SIZE(units));
}

static void count_cell(struct table *t, double n)
{
	char text[SHORT_BYTES];

	short_count(text, n);
	table_text(t, text);
}

static void time_cell(struct table *t, double ns)
{
	char text[SHORT_BYTES];

	short_time(text, ns);
	table_text(t, text);
}

static void percent_cell(struct table *t, uint64_t part, uint64_t all)
{
	table_real(t, 5, 1, percent_of(part, all));
}

static void rank_cell(struct table *t, uint32_t rank)
{
	if (rank == LIVE_NO_RANK)
		table_text(t, "-");
	else
		table_uint(t, rank);
}

struct column {
	const char *title;
	enum table_align align;
};

static struct table *table_with(const struct column *c, size_t n)
{
	struct table *t = table_new(TABLE_LIST);

	for (size_t i = 0; i < n; i++)
		table_column(t, c[i].title, c[i].align);
	return t;
}

/* ---- call paths ------------------------------------------------------------------------------ */

/* Full for what each rank has, empty for what only the one with the most has. */
static void bar_cell(struct table *t, const struct live_path *p, bool ascii)
{
	const double least = percent_of(p->least_now, p->most_now) / 100;
	const int full = p->most_now ? (int)(least * BAR_CELLS + 0.5) : 0;
	char bar[BAR_CELLS * 3 + 1] = "";

	for (int i = 0; p->most_now && i < BAR_CELLS; i++)
		strcat(bar, i < full ? (ascii ? "#" : "\u2588") : (ascii ? "." : "\u2591"));
	table_text(t, bar);
}

static void span_cell(struct table *t, const struct live_path *p)
{
	char least[SHORT_BYTES], most[SHORT_BYTES], text[2 * SHORT_BYTES + 2];

	short_time(least, (double)p->least_now);
	short_time(most, (double)p->most_now);
	snprintf(text, sizeof(text), "%s..%s", least, most);
	table_text(t, text);
}

static bool is_wished(const struct live_path *p, const char *filter)
{
	const size_t bytes = path_name_bytes(p->text);

	return !filter[0] || memmem(p->text, bytes, filter, strlen(filter));
}

static uint64_t spread_of(const struct live_path *p)
{
	return p->most_now - p->least_now;
}

ORDER_POINTERS_BY(by_time, struct live_path, live_path_order(x, y))
ORDER_POINTERS_BY(by_calls, struct live_path, FALLING(calls_now) ?: live_path_order(x, y))
ORDER_POINTERS_BY(
	by_spread, struct live_path, ORDER(spread_of(y), spread_of(x)) ?: live_path_order(x, y))

/* In a narrow terminal two columns give way for the names. */
static struct table *paths_begin(bool wide)
{
	struct table *t = table_new(TABLE_LIST);

	table_column(t, "TIME%", TABLE_RIGHT);
	table_column(t, "CALLS/s", TABLE_RIGHT);
	if (wide)
		table_column(t, "CALLS", TABLE_RIGHT);
	table_column(t, "t/call", TABLE_RIGHT);
	table_column(t, "BALANCE", TABLE_LEFT);
	if (wide)
		table_column(t, "least..most", TABLE_RIGHT);
	table_column(t, "of rank", TABLE_RIGHT);
	table_column(t, "FUNCTION", TABLE_LEFT);
	return t;
}

static void name_cell(struct table *t, const struct live_view *v, const struct live_path *p)
{
	char *name = xasprintf("%.*s", (int)path_name_bytes(p->text), p->text);
	char *marked = xasprintf("[off] %s", p->text);

	table_text(t, !p->text[0] ? "?" : off_named(v, name) ? marked : p->text);
	free(name);
	free(marked);
}

static void path_row(struct table *t, const struct live_view *v, const struct live_path *p,
	bool wide, bool ascii)
{
	percent_cell(t, p->ns_now, thread_time(v->classes));
	count_cell(t, rate_of(p->calls_now, v->interval));
	if (wide)
		count_cell(t, (double)p->calls);
	time_cell(t, p->calls_now ? (double)p->ns_now / (double)p->calls_now : NAN);
	bar_cell(t, p, ascii);
	if (wide)
		span_cell(t, p);
	rank_cell(t, p->most_rank);
	name_cell(t, v, p);
}

/* Those that are wished, in the order that is; rows: room for all. Returns their number. */
static size_t wished_paths(
	const struct live_view *v, const struct frame_wish *wish, const struct live_path **rows)
{
	static int (*const orders[ORDERS])(const void *, const void *) = {
		by_time, by_calls, by_spread};
	size_t n = 0;

	for (size_t i = 0; i < v->n_paths; i++)
		if (is_wished(&v->paths[i], wish->filter))
			rows[n++] = &v->paths[i];
	qsort(rows, n, sizeof(rows[0]), orders[wish->order]);
	return n;
}

const char *frame_top_path(const struct live_view *v, const struct frame_wish *wish)
{
	const struct live_path *rows[LIVE_PATHS_MAX];
	const size_t n = wished_paths(v, wish, rows);

	return wish->scroll < n ? rows[wish->scroll]->text : "";
}

static struct table *paths_table(const struct live_view *v, const struct frame_wish *wish)
{
	const struct live_path *rows[LIVE_PATHS_MAX];
	const size_t n = wished_paths(v, wish, rows);
	const bool wide = wish->width >= WIDE;
	struct table *t = paths_begin(wide);

	for (size_t i = 0; i < n; i++)
		path_row(t, v, rows[i], wide, wish->ascii);
	return t;
}

/* ---- nodes, ranks, waits ----------------------------------------------------------------------
 */

/* A node or a rank. */
struct row {
	const char *host;
	uint32_t processes, threads, pid, rank;
	uint64_t interval, first_useful, calls, lost_calls;
	const uint64_t *classes;
};

static void share_cell(struct table *t, const struct row *r, uint64_t ns)
{
	percent_cell(t, ns, thread_time(r->classes));
}

#define CELL(name, put)                                                                            \
	static void name(struct table *t, const struct row *r)                                     \
	{                                                                                          \
		put;                                                                               \
	}

CELL(host_cell, table_text(t, r->host))
CELL(processes_cell, table_uint(t, r->processes))
CELL(threads_cell, table_uint(t, r->threads))
CELL(pid_cell, table_uint(t, r->pid))
CELL(number_cell, rank_cell(t, r->rank))
CELL(first_cell, percent_cell(t, r->first_useful, r->interval))
CELL(calls_cell, count_cell(t, rate_of(r->calls, r->interval)))
CELL(lost_cell, count_cell(t, (double)r->lost_calls))
CELL(useful_cell, share_cell(t, r, r->classes[LIVE_USEFUL]))
CELL(mpi_cell, share_cell(t, r, r->classes[LIVE_MPI]))
CELL(waiting_cell, share_cell(t, r, r->classes[LIVE_MPI_WAIT]))
CELL(openmp_cell, share_cell(t, r, r->classes[LIVE_OPENMP_WAIT] + r->classes[LIVE_OPENMP_IDLE]))
CELL(io_cell, share_cell(t, r, r->classes[LIVE_IO]))
CELL(off_cpu_cell, share_cell(t, r, r->classes[LIVE_OFF_CPU]))
CELL(locks_cell, share_cell(t, r, r->classes[LIVE_LOCK_WAIT]))

#define STAYS UINT_MAX

/* A column whole or not at all: the lower number gives way first where there is no room. */
struct row_column {
	const char *title;
	enum table_align align;
	unsigned out;
	void (*cell)(struct table *t, const struct row *r);
};

static const struct row_column node_columns[] = {
	{"NODE", TABLE_LEFT, STAYS, host_cell},
	{"PROCS", TABLE_RIGHT, 6, processes_cell},
	{"THREADS", TABLE_RIGHT, 2, threads_cell},
	{"useful%", TABLE_RIGHT, STAYS, useful_cell},
	{"MPI%", TABLE_RIGHT, 9, mpi_cell},
	{"waiting%", TABLE_RIGHT, 8, waiting_cell},
	{"OpenMP%", TABLE_RIGHT, 4, openmp_cell},
	{"I/O%", TABLE_RIGHT, 3, io_cell},
	{"off CPU%", TABLE_RIGHT, 7, off_cpu_cell},
	{"CALLS/s", TABLE_RIGHT, 5, calls_cell},
	{"LOST", TABLE_RIGHT, 1, lost_cell},
};

static const struct row_column rank_columns[] = {
	{"RANK", TABLE_RIGHT, STAYS, number_cell},
	{"NODE", TABLE_LEFT, STAYS, host_cell},
	{"PID", TABLE_RIGHT, 5, pid_cell},
	{"THREADS", TABLE_RIGHT, 2, threads_cell},
	{"first useful%", TABLE_RIGHT, STAYS, first_cell},
	{"useful%", TABLE_RIGHT, 1, useful_cell},
	{"MPI%", TABLE_RIGHT, 8, mpi_cell},
	{"waiting%", TABLE_RIGHT, 7, waiting_cell},
	{"OpenMP%", TABLE_RIGHT, 4, openmp_cell},
	{"I/O%", TABLE_RIGHT, 3, io_cell},
	{"off CPU%", TABLE_RIGHT, 6, off_cpu_cell},
};

/* Behind the others: most jobs have no such time. */
static const struct row_column locks_column = {"locks%", TABLE_RIGHT, 9, locks_cell};

#define OUT_MOST 9

/* The i-th column, or NULL: there is none, or it gives way. */
static const struct row_column *shown_column(
	const struct live_view *v, const struct frame_wish *wish, size_t i, unsigned pressure)
{
	const bool nodes = wish->table == FRAME_NODES;
	const size_t n = nodes ? ARRAY_SIZE(node_columns) : ARRAY_SIZE(rank_columns);
	const struct row_column *c = nodes ? node_columns : rank_columns;

	if (i > n || (i == n && !v->classes[LIVE_LOCK_WAIT]))
		return NULL;
	c = i == n ? &locks_column : &c[i];
	return c->out > pressure ? c : NULL;
}

#define COLUMNS_MOST (ARRAY_SIZE(node_columns) + ARRAY_SIZE(rank_columns) + 1)

static struct table *rows_table(const struct live_view *v, const struct frame_wish *wish,
	const struct row *rows, size_t n, unsigned pressure)
{
	struct table *t = table_new(TABLE_LIST);
	const struct row_column *c;

	for (size_t i = 0; i < COLUMNS_MOST; i++)
		if ((c = shown_column(v, wish, i, pressure)))
			table_column(t, c->title, c->align);
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < COLUMNS_MOST; i++)
			if ((c = shown_column(v, wish, i, pressure)))
				c->cell(t, &rows[k]);
	return t;
}

static struct table *nodes_table(
	const struct live_view *v, const struct frame_wish *wish, unsigned pressure)
{
	struct row rows[LIVE_NODES_MAX];

	for (size_t i = 0; i < v->n_nodes; i++) {
		const struct live_node *n = &v->nodes[i];

		rows[i] = (struct row){.host = n->host,
			.processes = n->processes,
			.threads = n->threads,
			.interval = n->interval,
			.calls = n->calls,
			.lost_calls = n->lost_calls,
			.classes = n->classes};
	}
	return rows_table(v, wish, rows, v->n_nodes, pressure);
}

static struct table *ranks_table(
	const struct live_view *v, const struct frame_wish *wish, unsigned pressure)
{
	struct row rows[LIVE_RANKS_MAX];

	for (size_t i = 0; i < v->n_ranks; i++) {
		const struct live_rank *r = &v->ranks[i];

		rows[i] = (struct row){.host = host_of(v, r->agent) ?: "?",
			.threads = r->threads,
			.pid = r->pid,
			.rank = r->rank,
			.interval = r->interval,
			.first_useful = r->first_useful,
			.classes = r->classes};
	}
	return rows_table(v, wish, rows, v->n_ranks, pressure);
}

static struct table *waits_table(const struct live_view *v)
{
	static const struct column columns[] = {{"KIND OF WAIT", TABLE_LEFT},
		{"TIME%", TABLE_RIGHT}, {"now", TABLE_RIGHT}, {"WAITS/s", TABLE_RIGHT},
		{"since start", TABLE_RIGHT}, {"WAITS", TABLE_RIGHT}};
	struct table *t = table_with(columns, ARRAY_SIZE(columns));

	for (uint32_t i = 0; i < WAIT_KINDS_END; i++) {
		const struct live_wait *w = &v->waits[i];

		if (!w->calls && !w->ns)
			continue;
		table_text(t, wait_kind_title(i));
		percent_cell(t, w->ns_now, thread_time(v->classes));
		time_cell(t, (double)w->ns_now);
		count_cell(t, rate_of(w->calls_now, v->interval));
		time_cell(t, (double)w->ns);
		count_cell(t, (double)w->calls);
	}
	return t;
}

/* ---- help ---------------------------------------------------------------------------------- */

static struct table *help_table(void)
{
	static const char *const rows[][2] = {
		{"q", "quit"},
		{"s", "sort functions by time, calls, or spread over ranks"},
		{"n, r, w", "nodes, ranks, waits; again: functions"},
		{"/", "show functions with a text in their name; empty: all"},
		{"f", "switch a function off on all nodes, or on again"},
		{"t", "trace now: nodes write what flight recorders keep"},
		{"p", "pause recording on all nodes, not the job; again: go on"},
		{"space", "hold the screen; again: go on"},
		{"arrows, PgUp, PgDn", "scroll"},
		{"h or ?", "this help; again: functions"},
		{"", ""},
		{"TIME%", "of all threads' time since the last look, no callees"},
		{"BALANCE", "full: all ranks have the same; empty: one has more"},
		{"of rank", "the rank with the most"},
		{"looks", "what looks take of a CPU, on the node where it is most"},
	};
	static const struct column columns[] = {{"KEY", TABLE_LEFT}, {"WHAT IT DOES", TABLE_LEFT}};
	struct table *t = table_with(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		table_text(t, rows[i][0]);
		table_text(t, rows[i][1]);
	}
	return t;
}

static struct table *table_of(
	const struct live_view *v, const struct frame_wish *wish, unsigned pressure)
{
	switch (wish->table) {
	case FRAME_HELP:
		return help_table();
	case FRAME_NODES:
		return nodes_table(v, wish, pressure);
	case FRAME_RANKS:
		return ranks_table(v, wish, pressure);
	case FRAME_WAITS:
		return waits_table(v);
	case FRAME_PATHS:
		break;
	}
	return paths_table(v, wish);
}

static char *text_of(struct table *t)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = memory_begin(&text, &bytes);

	table_print(t, f);
	fclose(f);
	table_free(t);
	return text;
}

static bool is_wider(const char *text, size_t width)
{
	char *title = xasprintf("%.*s", (int)strcspn(text, "\n"), text);
	const bool wider = width && text_columns(title) > width;

	free(title);
	return wider;
}

char *frame_table_text(const struct live_view *v, const struct frame_wish *wish)
{
	const bool gives_way = wish->table == FRAME_NODES || wish->table == FRAME_RANKS;
	char *text = text_of(table_of(v, wish, 0));

	for (unsigned pressure = 1;
		gives_way && pressure <= OUT_MOST && is_wider(text, wish->width); pressure++) {
		free(text);
		text = text_of(table_of(v, wish, pressure));
	}
	return text;
}
