/* SPDX-License-Identifier: BSD-3-Clause */
/* The screen of `vftr top': views as they come, and what keys change. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_WATCH_H
#define VFTR_NODEAGENT_TOOL_TOP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct terminal_kind;
struct viewer;

/*
 * Shows views until the job or the user ends it; on a dumb terminal as a block of lines for each
 * view. Returns the exit status, after a message if something is wrong.
 */
int watch_job(struct viewer *w, const struct terminal_kind *kind);

/*
 * True if a view that comes now is to be shown: agents send more views than this viewer wants if
 * another one wants more. *due: for this function only, 0 at first.
 */
bool view_is_due(const struct viewer *w, int64_t *due);

#endif
