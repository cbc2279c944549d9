/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of something long has been done, on standard error where that is a terminal. */
#ifndef VFTR_NODEAGENT_TOOL_SHOW_PROGRESS_BAR_H
#define VFTR_NODEAGENT_TOOL_SHOW_PROGRESS_BAR_H

#include <stdbool.h>

struct progress_bar {
	const char *name; /* what stands before it: its first 40 bytes */
	bool quiet;	  /* nothing is drawn */
	int shown;	  /* parts of it on the screen; 0 at first */
};

/* Draws it if it has grown; part: of the whole, 0 to 1. bar: struct progress_bar. */
void progress_bar_draw(void *bar, double part);
/* Takes it off the screen; harmless if it is not there. */
void progress_bar_clear(struct progress_bar *bar);

#endif
