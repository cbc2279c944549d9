/* SPDX-License-Identifier: BSD-3-Clause */
/* The screen of `vftr top': views as they come, and what keys change. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_WATCH_H
#define VFTR_NODEAGENT_TOOL_TOP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct terminal_kind;
struct viewer;

/*
 * Until the job ends, or the user does; in a dumb terminal a block of lines for each view. Exit
 * status; what is wrong has been said.
 */
int watch_job(struct viewer *w, const struct terminal_kind *kind);

/*
 * True if a view that comes now is to be shown: another viewer may have wished for more than we
 * have. *due: of this function, first 0.
 */
bool view_is_due(const struct viewer *w, int64_t *due);

#endif
