/* SPDX-License-Identifier: BSD-3-Clause */
/* The screen of `vftr top': views as they come, and what keys change. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_WATCH_H
#define VFTR_NODEAGENT_TOOL_TOP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct terminal_kind;
struct viewer;

/*
 * Shows views until the job ends or the user quits; on a dumb terminal as a block of lines for each
 * view. Returns 0, or 1 after a message, if the agent refuses.
 */
int watch_job(struct viewer *w, const struct terminal_kind *kind);

/*
 * True if a view that comes now is to be shown: if another viewer wants more views, an agent sends
 * all of them to this one, too. *due: memory of this function, 0 at first.
 */
bool view_is_due(const struct viewer *w, int64_t *due);

#endif
