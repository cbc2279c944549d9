/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands above the table of a frame, and what `vftr top --once' prints of the job. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_FRAME_HEAD_H
#define VFTR_NODEAGENT_TOOL_TOP_FRAME_HEAD_H

#include <stdbool.h>
#include <stddef.h>

struct live_view;
struct viewer;

enum head_line {
	HEAD_JOB,	 /* what runs, where, since when, and what tracing costs */
	HEAD_LOOP,	 /* the iterations of its main loop */
	HEAD_EFFICIENCY, /* now, and rates */
	HEAD_SHARES,	 /* what threads spend their time for */
	HEAD_MOST,	 /* the ranks that work most: others wait for them */
	HEAD_LINES
};

struct head_wish {
	size_t width;	  /* columns of the terminal; 0: no limit */
	bool ascii, held; /* held: the screen shows no new views */
};

/*
 * The line: to fit into the columns, what matters least is shortened, then left out; what must stay
 * may still be wider. NULL: there is nothing to say. The caller frees.
 */
char *frame_head_text(enum head_line line, const struct viewer *w, const struct live_view *v,
	const struct head_wish *wish);

#endif
