/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes HTML, element by element. Texts and values of attributes may be anything: they are
 * escaped, and control characters and bytes that are no UTF-8 become '?'. Names of elements and
 * attributes are ours. Output errors are seen by ferror() at the end.
 */
#ifndef VFTR_NODEAGENT_HTML_HTML_H
#define VFTR_NODEAGENT_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct html;

/* The caller closes f after html_free(), which closes open elements. */
struct html *html_new(FILE *f);
void html_free(struct html *h);

/* Pairs of an attribute's name and its value, then NULL; one whose value is NULL is left out. The
 * element's name is static. */
void html_open(struct html *h, const char *element, ...) __attribute__((sentinel));
/* Closes the innermost element. */
void html_close(struct html *h);
/* One without contents: "meta". */
void html_void(struct html *h, const char *element, ...) __attribute__((sentinel));
/* One with a text only. */
void html_element(struct html *h, const char *element, const char *text, ...)
	__attribute__((sentinel));
void html_text(struct html *h, const char *text);
void html_format(struct html *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In text, of HTML or SVG, to any stream. */
void html_escape(FILE *f, const char *text);

/* Our own style or script, and JSON, as they are; in JSON '<' is escaped, so that no text of it
 * ends the element. */
void html_own(struct html *h, const char *element, const char *text, size_t bytes);
void html_json(struct html *h, const char *id, const char *text, size_t bytes);

/* ---- tables ---------------------------------------------------------------------------- */

/* A table with its caption; then a head for each column, then rows. The script lets readers
 * sort it, and, if it has more than a few rows, search it. */
void html_table(struct html *h, const char *caption);
void html_head(struct html *h, const char *title, bool is_number);
/* Begins a row; html_close() ends each, html_table_end() the table. */
void html_row(struct html *h);
void html_table_end(struct html *h);
/* A cell of text; the first of a row can be its head (scope), unless it is empty. Cut at HTML_TEXT columns. */
#define HTML_TEXT 160
void html_cell(struct html *h, const char *text, bool is_head);
/* exact: the number as the JSON has it; shown: as people read it. */
void html_number(struct html *h, const char *exact, const char *shown);

#endif
