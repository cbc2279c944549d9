/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/frame.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame-head.h"
#include "nodeagent/tool/top/frame-tables.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/viewer.h"

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

static void add_head(struct frame *f, const struct viewer *w, const struct live_view *v,
	const struct frame_wish *wish)
{
	const struct head_wish head = {
		.width = wish->width, .ascii = wish->ascii, .held = wish->held};

	for (enum head_line i = 0; i < HEAD_LINES; i++) {
		char *text = frame_head_text(i, w, v, &head);

		if (text)
			add_line(f, wish, i == HEAD_JOB ? LINE_BOLD : LINE_PLAIN, text);
		free(text);
	}
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

/* paused: all recording is. */
static void add_keys(struct frame *f, const struct frame_wish *wish, bool paused)
{
	static const char *const orders[ORDERS] = {"time", "calls", "spread"};

	if (wish->switches)
		add_text(f, wish, LINE_BOLD, "switch off or on: %s_", wish->function);
	else if (wish->writes)
		add_text(f, wish, LINE_BOLD, "functions with: %s_", wish->filter);
	else if (wish->filter[0])
		add_text(f, wish, LINE_BOLD, "q quit  s sort: %s  / filter: %s  %s  ? help",
			orders[wish->order], wish->filter, wish->held ? "space go on" : "p pause");
	else
		add_text(f, wish, LINE_BOLD,
			"q quit  s sort: %s  n,r,w tables  / filter  f off  %s  ? help",
			orders[wish->order],
			wish->held ? "space go on"
			: paused   ? "t trace  p go on"
				   : "t trace  p pause");
}

/* In a terminal that is too low, what is above the table gives way. */
static void drop_lines(struct frame *f, size_t most)
{
	while (f->n_lines > most)
		free(f->lines[--f->n_lines].text);
}

struct frame frame_of(const struct viewer *w, const struct live_view *v, struct frame_wish *wish)
{
	const size_t keys = wish->keys && wish->height > 1;
	const size_t below = keys && wish->note[0] && wish->height > 2 ? 2 : keys;
	struct frame f = {0};
	size_t left;

	if (!v) {
		add_text(&f, wish, LINE_BOLD, "vftr top  %s  waits for the agent's first view",
			w->session);
	} else {
		add_head(&f, w, v, wish);
		add_missing(&f, w, v, wish);
	}
	if (wish->height)
		drop_lines(&f, wish->height - below);
	left = wish->height - below - f.n_lines;
	if ((v || wish->table == FRAME_HELP) && (!wish->height || left > 1))
		add_table(&f, v, wish, wish->height ? left : 0);
	while (below && f.n_lines < wish->height - below)
		add_line(&f, wish, LINE_PLAIN, "");
	if (below > 1)
		add_line(&f, wish, LINE_BOLD, wish->note);
	if (keys)
		add_keys(&f, wish, v && off_named(v, ""));
	return f;
}
