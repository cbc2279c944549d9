/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a frame as text. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_FRAME_TABLES_H
#define VFTR_NODEAGENT_TOOL_TOP_FRAME_TABLES_H

struct frame_wish;
struct live_view;

/*
 * The table wish->table: a line with its titles, then one for each row, all of them. Tables of
 * nodes and ranks leave whole columns out where the terminal is too narrow; other lines may be
 * wider than it. v may be NULL for the help. The caller frees.
 */
char *frame_table_text(const struct live_view *v, const struct frame_wish *wish);

/* The path in the first row of that table that is to be seen, of the view; "": there is none. */
const char *frame_top_path(const struct live_view *v, const struct frame_wish *wish);

#define SHORT_BYTES 16

/* Writes a number, 0 or more, mostly in up to four characters, such as 12k; "----" for NAN. */
void short_count(char to[SHORT_BYTES], double n);
/* Writes a time of ns, such as 98n, 3.2u, 41m, 1.5s; "----" for NAN. */
void short_time(char to[SHORT_BYTES], double ns);

#endif
