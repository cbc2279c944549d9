/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A new SQLite database, filled row by row. Tables get their columns as these are met:
 * a row is gathered first and inserted at its end, so that a column may be new in the
 * middle of it. The first error is kept, as a sentence; from then on all functions do
 * nothing.
 */
#ifndef VFTR_NODEAGENT_EXPORT_DATABASE_H
#define VFTR_NODEAGENT_EXPORT_DATABASE_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent/base/json-read.h"

struct database;
struct database_table;

/*
 * Makes path, under a temporary name until database_end(). NULL: *error says why (caller
 * frees).
 */
struct database *database_new(const char *path, char **error);
/*
 * good: path becomes the database; else nothing remains. NULL or the first error (caller
 * frees). Frees d.
 */
char *database_end(struct database *d, bool good);
bool database_failed(const struct database *d);
/* Runs statements without a result. */
void database_run(struct database *d, const char *sql);

/*
 * The table of this name below `in` (NULL: at the top); made if it is new. Its first
 * column is `row`, the number of a row, from 0; below another table `in_row` follows, the
 * row that holds it. columns: names with blanks between, or NULL.
 */
struct database_table *database_table(
	struct database *d, struct database_table *in, const char *name, const char *columns);

/* A row: begin, set, end. One of each table may be open at a time. */
void database_row_begin(struct database *d, struct database_table *t);
/* text: where v->text is; copied. */
void database_row_set(struct database *d, struct database_table *t, const char *column,
	const struct json_in_value *v, const char *text);
void database_row_end(struct database *d, struct database_table *t);

#endif
