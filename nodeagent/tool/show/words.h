/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, numbers and names for a person who reads a terminal. */
#ifndef VFTR_NODEAGENT_TOOL_SHOW_WORDS_H
#define VFTR_NODEAGENT_TOOL_SHOW_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_cuts;

#define WORDS_WIDTH 100 /* columns of a line, at most */

/* "1.23 s", "45.6 ms", "789 us", "12 ns", "3.21 h": mostly 7 columns at most. The caller frees. */
char *words_time(uint64_t ns);
/* The same with a ~ before it, if it is an estimate. The caller frees. */
char *words_time_marked(uint64_t ns, bool estimated);
/* "12345", "1.66M"; at most 5 columns. The caller frees. */
char *words_count(uint64_t n);

/* True if the terminal's text is UTF-8, as LC_ALL, LC_CTYPE and LANG say. */
bool words_utf8(void);
/*
 * Text from outside as plain text, in ASCII if !words_utf8(), of at most `columns' (>= 8), and cut
 * so that it reads like no other one of these cuts. The caller frees.
 */
char *words_name(struct text_cuts *cuts, const char *text, size_t columns);

#endif
