/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/frame.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame-tables.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/viewer.h"

#define SLOWEST_SHOWN 3

void frame_free(struct frame *f)
{
	for (size_t i = 0; i < f->n_lines; i++)
		free(f->lines[i].text);
	free(f->lines);
	*f = (struct frame){0};
}

/* Text without what the terminal cannot show, and no wider than it. */
static void add_line(
	struct frame *f, const struct frame_wish *wish, enum line_style style, const char *text)
{
	char *plain = text_plain(text);
	char *line = text_first(plain, wish->width);

	free(plain);
	for (char *c = line; wish->ascii && *c; c++)
		if (*c & 0x80)
			*c = '?';
	*LIST_ADD(f, lines) = (struct frame_line){line, style};
}

static void __attribute__((format(printf, 4, 5))) add_text(struct frame *f,
	const struct frame_wish *wish, enum line_style style, const char *format, ...)
{
	va_list args;
	char *text = NULL;

	va_start(args, format);
	if (vasprintf(&text, format, args) >= 0)
		add_line(f, wish, style, text);
	va_end(args);
	free(text);
}

/* ---- above the table --------------------------------------------------------------------- */

/* The share of a CPU that the agents' looks take, on the node where it is most. */
static double look_percent(const struct live_view *v)
{
	double most = 0;

	for (size_t i = 0; i < v->n_nodes; i++) {
		const double share = percent_of(v->nodes[i].look, v->nodes[i].interval);

		most = share > most ? share : most;
	}
	return most;
}

static void add_head(struct frame *f, const struct viewer *w, const struct live_view *v,
	const struct frame_wish *wish)
{
	const time_t now = time(NULL);
	struct tm local;
	char clock[16];

	strftime(clock, sizeof(clock), "%H:%M:%S", localtime_r(&now, &local));
	add_text(f, wish, LINE_BOLD,
		"vftr top  %s  %s  %" PRIu32 " of %" PRIu32 " %s  %" PRIu32 " %s  %" PRIu32 " %s%s",
		w->session, clock, v->n_all, w->agents, one_or_many(w->agents, "node", "nodes"),
		v->processes, one_or_many(v->processes, "process", "processes"), v->threads,
		one_or_many(v->threads, "thread", "threads"), wish->paused ? "  paused" : "");
}

static void add_efficiency(
	struct frame *f, const struct live_view *v, const struct frame_wish *wish)
{
	char factors[128] = "efficiency now ----", calls[16], records[16];

	if (v->interval && v->processes && v->share_most)
		snprintf(factors, sizeof(factors),
			"efficiency now %.0f %% (load balance %.0f, communication %.0f)",
			1e-4 * (double)v->share / v->processes,
			100 * (double)v->share / v->processes / (double)v->share_most,
			1e-4 * (double)v->share_most);
	short_count(calls, rate_of(v->calls_now, v->interval));
	short_count(records, rate_of(v->records, v->interval));
	add_text(f, wish, LINE_PLAIN,
		"%s  calls %s/s  records %s/s  lost %" PRIu64 "  looks %.1f %%", factors, calls,
		records, v->lost_calls, look_percent(v));
}

static void add_classes(struct frame *f, const struct live_view *v, const struct frame_wish *wish)
{
	const uint64_t *of = v->classes, all = thread_time(of);

	add_text(f, wish, LINE_PLAIN,
		"useful %.0f %%  MPI %.0f %% (waiting %.0f)  OpenMP %.0f %%  I/O %.0f %%  "
		"GPU wait %.0f %%  off CPU %.0f %%",
		percent_of(of[LIVE_USEFUL], all), percent_of(of[LIVE_MPI], all),
		percent_of(of[LIVE_MPI_WAIT], all),
		percent_of(of[LIVE_OPENMP_WAIT] + of[LIVE_OPENMP_IDLE], all),
		percent_of(of[LIVE_IO], all), percent_of(of[LIVE_GPU_WAIT], all),
		percent_of(of[LIVE_OFF_CPU], all));
}

/* The ranks that work longest: others wait for them. */
static void add_slowest(struct frame *f, const struct live_view *v, const struct frame_wish *wish)
{
	char *text = xstrdup("most useful time:");

	for (size_t i = 0; i < v->n_ranks && i < SLOWEST_SHOWN; i++) {
		const struct live_rank *r = &v->ranks[i];
		char number[16] = "-", *longer;

		if (r->rank != LIVE_NO_RANK)
			snprintf(number, sizeof(number), "%" PRIu32, r->rank);
		longer = xasprintf("%s%s rank %s on %s %.0f %%", text, i ? ", " : "", number,
			host_of(v, r->agent) ?: "?", percent_of(r->first_useful, r->interval));
		free(text);
		text = longer;
	}
	if (v->n_ranks)
		add_line(f, wish, LINE_PLAIN, text);
	free(text);
}

static void add_missing(struct frame *f, const struct viewer *w, const struct live_view *v,
	const struct frame_wish *wish)
{
	const uint64_t known = v->n_all + (uint64_t)v->n_absent;

	if (w->agents > known)
		add_text(f, wish, LINE_PLAIN, "awaited: %" PRIu64 " %s", w->agents - known,
			one_or_many(w->agents - known, "node", "nodes"));
	if (v->n_missing)
		add_text(f, wish, LINE_PLAIN,
			"missing: %" PRIu32 " %s, first agent %" PRIu32 " %s (%s)", v->n_absent,
			one_or_many(v->n_absent, "node", "nodes"), v->missing[0].agent,
			v->missing[0].host, v->missing[0].why == LIVE_GONE ? "ended" : "no answer");
}

/* ---- the table, and below it -------------------------------------------------------------- */

/* Its title, and the rows that are to be seen of it in so many lines (0: all). */
static void add_table(
	struct frame *f, const struct live_view *v, struct frame_wish *wish, size_t room)
{
	char *text = frame_table_text(v, wish), *rest = text, *line;
	size_t rows = 0, row = 0;

	for (const char *c = text; *c; c++)
		rows += *c == '\n';
	rows -= rows > 0;
	if (!room || rows <= room - 1)
		wish->scroll = 0;
	else if (wish->scroll > rows - (room - 1))
		wish->scroll = rows - (room - 1);
	for (; (line = strsep(&rest, "\n")) && rest; row++) {
		if (!row)
			add_line(f, wish, LINE_REVERSE, line);
		else if (row > wish->scroll && (!room || row < wish->scroll + room))
			add_line(f, wish, LINE_PLAIN, line);
	}
	free(text);
}

static void add_keys(struct frame *f, const struct frame_wish *wish)
{
	static const char *const orders[ORDERS] = {"time", "calls", "spread"};

	if (wish->writes)
		add_text(f, wish, LINE_BOLD, "functions with: %s_", wish->filter);
	else if (wish->filter[0])
		add_text(f, wish, LINE_BOLD, "q quit  s sort: %s  / filter: %s  p %s  ? help",
			orders[wish->order], wish->filter, wish->paused ? "go on" : "pause");
	else
		add_text(f, wish, LINE_BOLD,
			"q quit  s sort: %s  n nodes  r ranks  w waits  / filter  p %s  ? help",
			orders[wish->order], wish->paused ? "go on" : "pause");
}

/* In a terminal that is too low, what is above the table gives way. */
static void drop_lines(struct frame *f, size_t most)
{
	while (f->n_lines > most)
		free(f->lines[--f->n_lines].text);
}

struct frame frame_of(const struct viewer *w, const struct live_view *v, struct frame_wish *wish)
{
	const size_t below = wish->keys && wish->height > 1;
	struct frame f = {0};
	size_t left;

	if (!v) {
		add_text(&f, wish, LINE_BOLD, "vftr top  %s  waits for the agent's first view",
			w->session);
	} else {
		add_head(&f, w, v, wish);
		add_efficiency(&f, v, wish);
		add_classes(&f, v, wish);
		add_slowest(&f, v, wish);
		add_missing(&f, w, v, wish);
	}
	if (wish->height)
		drop_lines(&f, wish->height - below);
	left = wish->height - below - f.n_lines;
	if ((v || wish->table == FRAME_HELP) && (!wish->height || left > 1))
		add_table(&f, v, wish, wish->height ? left : 0);
	while (below && f.n_lines < wish->height - 1)
		add_line(&f, wish, LINE_PLAIN, "");
	if (below)
		add_keys(&f, wish);
	return f;
}
