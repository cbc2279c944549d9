/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text tables. Cells are added row by row, from left to right; the widths
 * follow from the contents when the table is printed. Control characters and
 * bytes that are no UTF-8 become '?', so that no cell can break the frame.
 */
#ifndef VFTR_NODEAGENT_BASE_TABLE_H
#define VFTR_NODEAGENT_BASE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct table;

/* What is kept of a text that is cut: as much of its end as of its beginning, or the beginning. */
enum text_end { TEXT_BOTH_ENDS, TEXT_BEGINNING };

enum table_style {
	TABLE_FRAMED, /* +---+ lines, titles centred */
	TABLE_LIST,   /* no lines, titles aligned as the cells */
};

enum table_align { TABLE_RIGHT, TABLE_LEFT };

/* What numbers of a column count: seconds, bytes, bytes a second. */
enum table_unit { TABLE_NO_UNIT, TABLE_SECONDS, TABLE_BYTES, TABLE_RATE };

struct table *table_new(enum table_style style);
void table_free(struct table *t);

/* All columns are named before the first cell. */
void table_column(struct table *t, const char *title, enum table_align align);
/*
 * A column of table_quantity(), all in one unit, that of the greatest; the title tells
 * it: "t_excl[ms]".
 */
void table_column_of(
	struct table *t, const char *title, enum table_align align, enum table_unit unit);
/* The last column named is left out before others where there is no room; see table_limit(). */
void table_spare(struct table *t);
/*
 * Lines have at most so many columns of a terminal; 0: any. Long texts are cut in the middle, then
 * spare columns are left out, then the last ones that have numbers only.
 */
void table_limit(struct table *t, size_t columns);
/*
 * The last column named has at most so many columns of a terminal (>= 8), or those of its title:
 * longer texts are cut there, so that none of the column reads like another one.
 */
void table_most(struct table *t, size_t columns, enum text_end kept);

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

/* Of a column that has a unit: in s, B or B/s. NAN and infinite values become ----. */
void table_quantity(struct table *t, double value);
/* The next cell, a number that is added without a width, gets a ~ before it: it is an estimate. */
void table_mark(struct table *t);
/* True if the next cell is in a column with a unit. */
bool table_takes_quantity(const struct table *t);

size_t table_rows(const struct table *t);
/*
 * A last row that is not complete is left out. Returns the number of columns for which there was
 * no room. Ends the table: no cell may follow.
 */
size_t table_print(struct table *t, FILE *f);

/* Columns of a terminal that text takes in a table. */
size_t text_columns(const char *text);
/* True if text is printable ASCII that text_plain() would not change. */
bool text_is_plain(const char *text);
/*
 * What is shown of a text from outside, wherever a person reads it: '?' for a control of one byte
 * and for what is no UTF-8, "\u202e" for others that nobody sees or that turn the direction of
 * writing (utf8_is_visible()). A copy, which the caller frees.
 */
char *text_plain(const char *text);
/*
 * text_plain() cut to at most `columns` (>= 8) by "..." in the middle, never
 * inside a character; the caller frees.
 */
char *text_short(const char *text, size_t columns);
/* The same with `tail` columns behind the dots, at most columns - 3. */
char *text_short_at(const char *text, size_t columns, size_t tail);
/*
 * Texts of one list that are cut so that none reads like another one: with more of the beginning
 * or of the end, or with a number, "...(2)". The same text is cut in the same way each time.
 */
struct text_cuts;
struct text_cuts *text_cuts_new(enum text_end kept);
void text_cuts_free(struct text_cuts *cuts);
/* A text that is shown whole; before any is cut. */
void text_cuts_whole(struct text_cuts *cuts, const char *text);
/* text_plain(), of at most so many columns (>= 8); the caller frees. */
char *text_cut(struct text_cuts *cuts, const char *text, size_t columns);
/* Its first columns, of plain text; the caller frees. */
char *text_first(const char *text, size_t columns);
/*
 * A stream to a descriptor, which stays open when the stream is closed. It writes text_plain() of
 * what it gets, but keeps tabs and newlines: for the output of tools, which may have texts from a
 * foreign file in it.
 */
FILE *text_stream(int fd);
/* Writes text_plain() of it as a field of CSV, in quotes (RFC 4180). */
void text_put_csv(FILE *f, const char *text);

#endif
