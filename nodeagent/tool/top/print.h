/* SPDX-License-Identifier: BSD-3-Clause */
/* A view as JSON and as text. Errors of output are seen by ferror(). */
#ifndef VFTR_NODEAGENT_TOOL_TOP_PRINT_H
#define VFTR_NODEAGENT_TOOL_TOP_PRINT_H

#include <stdbool.h>
#include <stdio.h>

struct live_view;
struct viewer;

/* lines: true: JSON on several lines, for people; else on one line. vftr-top(1) has the members. */
void view_json(FILE *f, const struct viewer *w, const struct live_view *v, bool lines);
void view_text(FILE *f, const struct viewer *w, const struct live_view *v);

#endif
