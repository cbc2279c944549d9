/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads are, as JSON and as text: vftr-where(1) has the members. */
#ifndef VFTR_NODEAGENT_TOOL_WHERE_PRINT_H
#define VFTR_NODEAGENT_TOOL_WHERE_PRINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct live_view;
struct viewer;

/*
 * w->where is sorted, and came with v. lines: JSON on several lines, for people; else on one line.
 * Errors of output are seen by ferror().
 */
void where_json(FILE *f, const struct viewer *w, const struct live_view *v, bool lines);
void where_text(FILE *f, const struct viewer *w, const struct live_view *v);

#endif
