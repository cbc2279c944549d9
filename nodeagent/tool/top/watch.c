/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/answer.h"
#include "nodeagent/tool/top/frame-tables.h"
#include "nodeagent/tool/top/frame.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/terminal.h"
#include "nodeagent/tool/top/viewer.h"

#define EARLY_PERCENT 90
#define AT_ONCE_NS    INT64_C(1000000)
#define ORDERS_SAID   4

struct watch {
	struct viewer *w;
	struct live_view *shown, *latest;
	bool seen; /* shown is one */
	struct frame_wish wish;
	int64_t due;
	bool quits, again; /* again: the frame is to be drawn */
	enum viewer_news news;
	char *why;
	struct {
		char name[FUNCTION_BYTES];
		bool off;
		uint64_t stamp;
		unsigned left; /* times that it is said yet */
	} order;
};

bool view_is_due(const struct viewer *w, int64_t *due)
{
	const int64_t now = viewer_now();

	if (now < *due)
		return false;
	*due = now + w->period * EARLY_PERCENT / 100;
	return true;
}

/* Again with each view for a while, as a message to a node may get lost. */
static void say_order(struct watch *s)
{
	if (!s->order.left)
		return;
	s->order.left--;
	viewer_switch(s->w, s->order.name, s->order.off, s->order.stamp);
}

/* What becomes of the request, at the foot. */
static void note_answer(struct watch *s)
{
	char *text;

	if (!s->w->record)
		return;
	record_answer(s->w, s->latest, &text);
	s->again |= strcmp(s->wish.note, text) != 0;
	snprintf(s->wish.note, sizeof(s->wish.note), "%s", text);
	free(text);
}

static void take_view(struct watch *s)
{
	s->news = viewer_next(s->w, AT_ONCE_NS, s->latest, &s->why);
	if (s->news != VIEWER_VIEW)
		return;
	say_order(s);
	note_answer(s);
	if (!view_is_due(s->w, &s->due) || s->wish.held)
		return;
	*s->shown = *s->latest;
	s->seen = true;
	s->again = true;
}

/* ---- keys ----------------------------------------------------------------------------------- */

/* True: the line has ended, by Enter or Escape, which empties it. */
static bool write_line(char *line, size_t room, int key)
{
	const size_t n = strlen(line);

	if (key == KEY_ESCAPE)
		line[0] = '\0';
	else if (key == KEY_BACKSPACE && n)
		line[n - 1] = '\0';
	else if (key >= ' ' && key < KEY_UP && key != KEY_BACKSPACE && n + 1 < room)
		snprintf(line + n, room - n, "%c", key);
	return key == '\r' || key == '\n' || key == KEY_ESCAPE;
}

/* The function is off, or on again if it was off; no name: all recording. */
static void begin_order(struct watch *s, const char *name)
{
	if (!s->seen)
		return;
	snprintf(s->order.name, sizeof(s->order.name), "%s", name);
	s->order.off = !off_named(s->latest, name);
	s->order.stamp = viewer_stamp();
	s->order.left = ORDERS_SAID;
	say_order(s);
}

/* Of the name that was written. */
static void switch_written(struct watch *s)
{
	s->wish.switches = false;
	if (s->wish.function[0])
		begin_order(s, s->wish.function);
}

/* What comes of it is at the foot until the next key. */
static void begin_request(struct watch *s)
{
	viewer_record(s->w);
	note_answer(s);
}

/* The name in the first row is proposed. */
static void begin_switch(struct watch *s)
{
	const char *path = s->seen ? frame_top_path(s->shown, &s->wish) : "";

	s->wish.table = FRAME_PATHS;
	s->wish.switches = true;
	snprintf(s->wish.function, sizeof(s->wish.function), "%.*s", (int)path_name_bytes(path),
		path);
}

static void scroll_by(struct frame_wish *wish, size_t rows, bool up)
{
	if (!up)
		wish->scroll += rows; /* frame_of() knows the end */
	else
		wish->scroll -= rows < wish->scroll ? rows : wish->scroll;
}

static void show_table(struct frame_wish *wish, enum frame_table table)
{
	wish->table = wish->table == table ? FRAME_PATHS : table;
	wish->scroll = 0;
}

static void begin_filter(struct frame_wish *wish)
{
	wish->table = FRAME_PATHS;
	wish->scroll = 0;
	wish->writes = true;
}

static void obey_key(struct watch *s, int key)
{
	static const struct {
		char key;
		enum frame_table table;
	} tables[] = {{'n', FRAME_NODES}, {'r', FRAME_RANKS}, {'w', FRAME_WAITS}, {'h', FRAME_HELP},
		{'?', FRAME_HELP}};
	struct frame_wish *wish = &s->wish;
	const size_t page = wish->height > 8 ? wish->height - 8 : 1;

	wish->note[0] = '\0';
	s->w->record = 0;
	if (wish->switches) {
		if (write_line(wish->function, sizeof(wish->function), key))
			switch_written(s);
		return;
	}
	if (wish->writes) {
		wish->writes = !write_line(wish->filter, sizeof(wish->filter), key);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (key == tables[i].key)
			show_table(wish, tables[i].table);
	if (key == 'q')
		s->quits = true;
	else if (key == 's')
		wish->order = (wish->order + 1) % ORDERS;
	else if (key == ' ')
		wish->held = !wish->held;
	else if (key == 'p')
		begin_order(s, "");
	else if (key == 't')
		begin_request(s);
	else if (key == '/')
		begin_filter(wish);
	else if (key == 'f')
		begin_switch(s);
	else if (key == KEY_UP || key == KEY_DOWN)
		scroll_by(wish, 1, key == KEY_UP);
	else if (key == KEY_PAGE_UP || key == KEY_PAGE_DOWN)
		scroll_by(wish, page, key == KEY_PAGE_UP);
}

/* ---- the screen ------------------------------------------------------------------------------ */

static struct frame make_frame(struct watch *s)
{
	return frame_of(s->w, s->seen ? s->shown : NULL, &s->wish);
}

static void draw_frame(struct watch *s)
{
	struct frame f;

	terminal_size(&s->wish.height, &s->wish.width);
	f = make_frame(s);
	terminal_draw(&f);
	frame_free(&f);
	s->again = false;
}

/* The last frame without what belongs to a screen. */
static void print_frame(struct watch *s)
{
	struct frame f;

	terminal_size(&s->wish.height, &s->wish.width);
	s->wish.keys = s->wish.writes = s->wish.switches = false;
	s->wish.note[0] = '\0';
	f = make_frame(s);
	for (size_t i = 0; i < f.n_lines; i++)
		puts(f.lines[i].text);
	frame_free(&f);
}

static void watch_screen(struct watch *s)
{
	unsigned events;
	int key;

	while (!s->quits && s->news <= VIEWER_NOTHING) {
		if (s->again)
			draw_frame(s);
		events = terminal_wait(s->w->fd, s->w->period);
		s->again = events & (TERMINAL_CHANGED | TERMINAL_KEYS);
		while ((key = terminal_key()))
			obey_key(s, key);
		if (events & TERMINAL_GONE)
			s->quits = true;
		if (events & TERMINAL_FD)
			take_view(s);
	}
}

static void watch_blocks(struct watch *s)
{
	while (s->news <= VIEWER_NOTHING && !ferror(stdout)) {
		if (terminal_wait(s->w->fd, s->w->period) & TERMINAL_FD)
			take_view(s);
		if (!s->again)
			continue;
		print_frame(s);
		putchar('\n');
		fflush(stdout);
		s->again = false;
	}
}

/* The last view stays on the terminal. */
static int end_watch(struct watch *s, bool dumb)
{
	if (s->quits)
		return 0;
	if (!dumb && s->seen)
		print_frame(s);
	if (s->news == VIEWER_END)
		printf("the job of session %s has ended\n", s->w->session);
	fflush(stdout);
	if (s->why)
		complain("top: %s", s->why);
	return s->news == VIEWER_REFUSED;
}

int watch_job(struct viewer *w, const struct terminal_kind *kind)
{
	struct watch s = {.w = w, .again = !kind->dumb};
	int status;

	s.wish.ascii = kind->ascii;
	s.wish.keys = !kind->dumb;
	s.shown = xcalloc(1, sizeof(*s.shown));
	s.latest = xcalloc(1, sizeof(*s.latest));
	s.news = VIEWER_NOTHING;
	if (kind->dumb) {
		watch_blocks(&s);
	} else {
		terminal_open(kind);
		watch_screen(&s);
		terminal_close();
	}
	status = end_watch(&s, kind->dumb);
	free(s.why);
	free(s.shown);
	free(s.latest);
	return status;
}
