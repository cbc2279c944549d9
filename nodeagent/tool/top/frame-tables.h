/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a frame as text. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_FRAME_TABLES_H
#define VFTR_NODEAGENT_TOOL_TOP_FRAME_TABLES_H

#include <stddef.h>

struct frame_wish;
struct live_view;

/*
 * The table that is wished: a line with its titles, then one for each row, all of them. Of nodes
 * and ranks whole columns are left out where the terminal is too narrow; other rows are as wide as
 * they are. v may be NULL if that is the help. The caller frees.
 */
char *frame_table_text(const struct live_view *v, const struct frame_wish *wish);

/* The path in the first row that is to be seen, or empty; belongs to the view. */
const char *frame_top_path(const struct live_view *v, const struct frame_wish *wish);

#define SHORT_BYTES 16

/* A number in at most five characters, such as 12.5k; "----" if it is not known. */
void short_count(char to[SHORT_BYTES], double n);
/* A time such as 98n, 3.2u, 41m, 1.5s. */
void short_time(char to[SHORT_BYTES], double ns);

#endif
