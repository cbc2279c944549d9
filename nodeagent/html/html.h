/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes HTML, element by element. Texts and values of attributes may be anything: they are
 * escaped, and plain as text_plain() makes them. Names of elements and attributes come from us. At
 * most 32 elements may be open. Output errors are seen by ferror() at the end. For one thread.
 */
#ifndef VFTR_NODEAGENT_HTML_HTML_H
#define VFTR_NODEAGENT_HTML_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct html;

/* html_free() closes the elements that are open; then the caller closes f. */
struct html *html_new(FILE *f);
void html_free(struct html *h);

/*
 * Opens an element. Behind its name, a static text, come pairs of an attribute's name and its
 * value, then NULL; an attribute whose value is NULL is left out.
 */
void html_open(struct html *h, const char *element, ...) __attribute__((sentinel));
/* Closes the innermost element that is open. */
void html_close(struct html *h);
/* Writes an element that has no contents and no end: "meta". */
void html_void(struct html *h, const char *element, ...) __attribute__((sentinel));
/* Writes an element with a text only. */
void html_element(struct html *h, const char *element, const char *text, ...)
	__attribute__((sentinel));
void html_text(struct html *h, const char *text);
void html_format(struct html *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes a text, plain and escaped for HTML and SVG, to any stream. */
void html_escape(FILE *f, const char *text);

/*
 * html_own(): an element with our own style or script, as it is. html_json(): one with JSON, as it
 * is but for '<', which is escaped, so that no text in it ends the element.
 */
void html_own(struct html *h, const char *element, const char *text, size_t bytes);
void html_json(struct html *h, const char *id, const char *text, size_t bytes);

/* ---- tables ---------------------------------------------------------------------------- */

/*
 * A table: html_table() with its caption, html_head() for each column, rows, html_table_end(). The
 * script lets readers sort it, and search it if it has more than a few rows.
 */
void html_table(struct html *h, const char *caption);
void html_head(struct html *h, const char *title, bool is_number);
/* Begins a row; html_close() ends it. */
void html_row(struct html *h);
void html_table_end(struct html *h);
/*
 * A cell of text, cut to HTML_TEXT columns of a terminal. is_head: it is the head of its row
 * (scope), unless it is empty.
 */
#define HTML_TEXT 160
void html_cell(struct html *h, const char *text, bool is_head);
/* A cell of a number. exact: as in the JSON, or NULL: shows "----"; shown: as people read it. */
void html_number(struct html *h, const char *exact, const char *shown);

#endif
