/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text tables. Cells are added row by row, from left to right; the widths
 * follow from the contents when the table is printed. Control characters and
 * bytes that are no UTF-8 become '?', so that no cell can break the frame.
 */
#ifndef VFTR_NODEAGENT_BASE_TABLE_H
#define VFTR_NODEAGENT_BASE_TABLE_H

#include <stdint.h>
#include <stdio.h>

struct table;

enum table_style {
	TABLE_FRAMED, /* +---+ lines, titles centred */
	TABLE_LIST,   /* no lines, titles aligned as the cells */
};

enum table_align { TABLE_RIGHT, TABLE_LEFT };

struct table *table_new(enum table_style style);
void table_free(struct table *t);

/* All columns are named before the first cell. */
void table_column(struct table *t, const char *title, enum table_align align);

void table_text(struct table *t, const char *text);
void table_uint(struct table *t, uint64_t value);
/* NAN and infinite values become ----; from 1e15 on there is an exponent. */
void table_real(struct table *t, int width, int decimals, double value);
/* 1.234e+05 */
void table_scientific(struct table *t, int decimals, double value);
/*
 * At most five characters: 1023, 9.77K, 488M; "." for 0. base 1000 (k, M,
 * G ...) or 1024 (K, M, G ...).
 */
void table_compact(struct table *t, unsigned base, uint64_t value);

size_t table_rows(const struct table *t);
/* A last row that is not complete is left out. */
void table_print(const struct table *t, FILE *f);

/* Columns of a terminal that text takes in a table. */
size_t text_columns(const char *text);
/* Copy without control characters and invalid UTF-8; the caller frees. */
char *text_plain(const char *text);
/*
 * text_plain() cut to at most `columns` (>= 8) by "..." in the middle, never
 * inside a character; the caller frees.
 */
char *text_short(const char *text, size_t columns);
/* Its first columns, of plain text; the caller frees. */
char *text_first(const char *text, size_t columns);

#endif
