/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A new SQLite database, filled row by row. Tables get their columns as these are met:
 * a row is gathered first and inserted at its end, so that a column may be new in the
 * middle of it. The first error is kept, as a sentence for database_end(); from then on nothing
 * is written any more. For one thread.
 */
#ifndef VFTR_NODEAGENT_EXPORT_DATABASE_H
#define VFTR_NODEAGENT_EXPORT_DATABASE_H

#include <stdbool.h>

#include "nodeagent/base/json-read.h"

struct database;
struct database_table;

/*
 * Makes path, under a temporary name until database_end(). Returns NULL and *error, a sentence
 * (caller frees), if there is no SQLite or no file; else *error is NULL.
 */
struct database *database_new(const char *path, char **error);
/*
 * Frees d. good: the database gets the name path, in place of a file that had it; if there was an
 * error, or if not good, nothing remains. Returns the first error (caller frees), or NULL.
 */
char *database_end(struct database *d, bool good);
/* True after the first error. */
bool database_failed(const struct database *d);
/* Runs SQL statements that give no result. */
void database_run(struct database *d, const char *sql);

/*
 * The table of this name below `in' (NULL: at the top), which d owns; it is made if it is new. Its
 * first column is `row', the number of a row, from 0; below another table `in_row' follows, the
 * number of the row of `in' that holds it. columns: names with blanks between for a new table, or
 * NULL.
 */
struct database_table *database_table(
	struct database *d, struct database_table *in, const char *name, const char *columns);

/*
 * A row: begin, set, end. One of each table may be open at a time; that of a table below another
 * one is part of the row which is open there, or was last.
 */
void database_row_begin(struct database *d, struct database_table *t);
/* text: the value if v is a text, copied; else it is not looked at, and v->text never. */
void database_row_set(struct database *d, struct database_table *t, const char *column,
	const struct json_in_value *v, const char *text);
void database_row_end(struct database *d, struct database_table *t);

#endif
