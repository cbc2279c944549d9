/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a terminal shows of a view: lines, none of which is wider than the terminal, and none of
 * which has a control character. For one thread.
 */
#ifndef VFTR_NODEAGENT_TOOL_TOP_FRAME_H
#define VFTR_NODEAGENT_TOOL_TOP_FRAME_H

#include <stdbool.h>
#include <stddef.h>

struct live_view;
struct viewer;

enum line_style { LINE_PLAIN, LINE_BOLD, LINE_REVERSE };

struct frame_line {
	char *text;
	enum line_style style;
};

struct frame {
	struct frame_line *lines;
	size_t n_lines, cap_lines;
};

enum frame_table { FRAME_PATHS, FRAME_NODES, FRAME_RANKS, FRAME_WAITS, FRAME_HELP };
enum frame_order { ORDER_TIME, ORDER_CALLS, ORDER_SPREAD, ORDERS };

#define FILTER_BYTES   64
#define FUNCTION_BYTES 256
#define NOTE_BYTES     1024

/* What the user has chosen. Begins as zeros, but for the size. */
struct frame_wish {
	size_t height, width; /* lines and columns of the terminal */
	bool ascii;	      /* the terminal shows no UTF-8 */
	bool keys;	      /* it has keys, which the last line names */
	enum frame_table table;
	enum frame_order order;
	size_t scroll; /* rows of the table above its first shown one */
	bool held;     /* the screen shows no new views */
	bool writes;   /* the user is writing the filter */
	bool switches; /* the user is writing the name of a function to be switched */
	char function[FUNCTION_BYTES]; /* that name */
	char note[NOTE_BYTES];	       /* a line above the keys, or empty */
	char filter[FILTER_BYTES];     /* only functions with this in their names; empty: all */
};

/*
 * Makes the frame: at most wish->height lines (0: as many as there are). v: NULL if none has come.
 * Makes wish->scroll less, if the table has fewer rows. The caller calls frame_free().
 */
struct frame frame_of(const struct viewer *w, const struct live_view *v, struct frame_wish *wish);
void frame_free(struct frame *f);

#endif
