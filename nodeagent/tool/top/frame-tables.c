/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/frame-tables.h"

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

static void class_cells(struct table *t, const uint64_t *of)
{
	const uint64_t all = thread_time(of);

	percent_cell(t, of[LIVE_USEFUL], all);
	percent_cell(t, of[LIVE_MPI], all);
	percent_cell(t, of[LIVE_MPI_WAIT], all);
	percent_cell(t, of[LIVE_OPENMP_WAIT] + of[LIVE_OPENMP_IDLE], all);
	percent_cell(t, of[LIVE_IO], all);
	percent_cell(t, of[LIVE_OFF_CPU], all);
}

#define CLASS_COLUMNS                                                                              \
	{"useful%", TABLE_RIGHT}, {"MPI%", TABLE_RIGHT}, {"waiting%", TABLE_RIGHT},                \
		{"OpenMP%", TABLE_RIGHT}, {"I/O%", TABLE_RIGHT},                                   \
	{                                                                                          \
		"off CPU%", TABLE_RIGHT                                                            \
	}

/* Behind the others: most jobs have no such time. */
static void locks_column(struct table *t, const struct live_view *v)
{
	if (v->classes[LIVE_LOCK_WAIT])
		table_column(t, "locks%", TABLE_RIGHT);
}

static void locks_cell(struct table *t, const struct live_view *v, const uint64_t *of)
{
	if (v->classes[LIVE_LOCK_WAIT])
		percent_cell(t, of[LIVE_LOCK_WAIT], thread_time(of));
}

static struct table *nodes_table(const struct live_view *v)
{
	static const struct column columns[] = {{"NODE", TABLE_LEFT}, {"PROCS", TABLE_RIGHT},
		{"THREADS", TABLE_RIGHT}, CLASS_COLUMNS, {"CALLS/s", TABLE_RIGHT},
		{"LOST", TABLE_RIGHT}};
	struct table *t = table_with(columns, ARRAY_SIZE(columns));

	locks_column(t, v);
	for (size_t i = 0; i < v->n_nodes; i++) {
		const struct live_node *n = &v->nodes[i];

		table_text(t, n->host);
		table_uint(t, n->processes);
		table_uint(t, n->threads);
		class_cells(t, n->classes);
		count_cell(t, rate_of(n->calls, n->interval));
		count_cell(t, (double)n->lost_calls);
		locks_cell(t, v, n->classes);
	}
	return t;
}

static struct table *ranks_table(const struct live_view *v)
{
	static const struct column columns[] = {{"RANK", TABLE_RIGHT}, {"NODE", TABLE_LEFT},
		{"PID", TABLE_RIGHT}, {"THREADS", TABLE_RIGHT}, {"first useful%", TABLE_RIGHT},
		CLASS_COLUMNS};
	struct table *t = table_with(columns, ARRAY_SIZE(columns));

	locks_column(t, v);
	for (size_t i = 0; i < v->n_ranks; i++) {
		const struct live_rank *r = &v->ranks[i];

		rank_cell(t, r->rank);
		table_text(t, host_of(v, r->agent) ?: "?");
		table_uint(t, r->pid);
		table_uint(t, r->threads);
		percent_cell(t, r->first_useful, r->interval);
		class_cells(t, r->classes);
		locks_cell(t, v, r->classes);
	}
	return t;
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
		{"f", "switch a function off on all nodes, or on again, by its name"},
		{"t", "trace now: all nodes write what their flight recorders keep"},
		{"p", "pause recording on all nodes, not the job; again: go on"},
		{"space", "hold the screen; again: go on"},
		{"arrows, PgUp, PgDn", "scroll"},
		{"h or ?", "this help; again: functions"},
		{"", ""},
		{"TIME%", "of all threads' time between the last two looks, without callees"},
		{"BALANCE", "full: all ranks have the same; empty: what the one with the most has "
			    "more"},
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

char *frame_table_text(const struct live_view *v, const struct frame_wish *wish)
{
	struct table *t = wish->table == FRAME_HELP    ? help_table()
			  : wish->table == FRAME_NODES ? nodes_table(v)
			  : wish->table == FRAME_RANKS ? ranks_table(v)
			  : wish->table == FRAME_WAITS ? waits_table(v)
						       : paths_table(v, wish);
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	if (!f)
		die(125, "out of memory");
	table_print(t, f);
	fclose(f);
	table_free(t);
	return text;
}
