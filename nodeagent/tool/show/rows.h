/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions, or the call paths, of a run as rows with the values of all columns. */
#ifndef VFTR_NODEAGENT_TOOL_SHOW_ROWS_H
#define VFTR_NODEAGENT_TOOL_SHOW_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nodeagent/tool/show/run.h"

#define ROW_UNKNOWN UINT64_MAX

/* Times are ns, summed over ranks unless they are of one. */
struct show_row {
	uint32_t stack; /* the call path; of a function its first one */
	uint64_t id;	/* of the call path in logs and JSON; ROW_UNKNOWN: of a function */
	uint64_t paths, calls, lost;
	uint64_t excl_ns, incl_ns;
	uint64_t call_ns; /* exclusive, per call; ROW_UNKNOWN: never called */
	/*
	 * Over the ranks that have the call path. What profiles do not tell of a function with
	 * several of them is ROW_UNKNOWN.
	 */
	uint64_t ranks, min_ns, max_ns, rank_min, rank_max;
	double percent;	  /* of all exclusive time */
	double imbalance; /* percent; of several call paths their mean, weighted by time */
	uint64_t rank;	  /* that causes it, as printed; of several call paths, in the one with the
			     greatest above_ns */
	/* time of the slowest rank beyond the mean; summed over call paths */
	uint64_t above_ns;
	bool estimated;	    /* its times are estimates, in part; if calls is 0, their number is not
			       known */
	bool own_estimated; /* its exclusive time is an estimate, in part: as above, or because it
			       makes calls that were counted */
};

struct show_request {
	bool by_path;	     /* rows are call paths, not functions */
	const char *sort;    /* name of an order, or NULL: exclusive time */
	const char *filter;  /* extended regular expression, or NULL */
	bool limited;	     /* limit is set; else a table has 20 rows, CSV and JSON all */
	uint64_t limit;	     /* most rows; 0: all */
	const char *columns; /* names of columns, as "calls,function", or NULL: the usual ones */
	bool csv, json;	     /* neither: a table */
};

struct show_rows {
	const struct run *run; /* must outlive the rows */
	bool by_path;
	bool whole;	       /* for programs: texts are not shortened */
	struct show_row *rows; /* in the order that is asked for */
	size_t n;
	size_t all;	      /* functions or call paths before the filter */
	uint64_t excl_ns;     /* of the rows */
	uint64_t all_excl_ns; /* of the run */
};

/* Makes the rows, to be freed by rows_free(). False after a message: the order or the expression is
 * wrong, and there is nothing to free. */
bool rows_make(struct show_rows *rows, const struct run *run, const struct show_request *request);
void rows_free(struct show_rows *rows);

/* print.c: as a table, CSV or JSON on standard output. False after a message: wrong columns. */
bool rows_print(const struct show_rows *rows, const struct show_request *request);

/*
 * columns.c: columns of rows. The value of one in a row is a time in ns, a number, a number that
 * names something (id, rank), a real number, or a text.
 */
enum show_type { SHOW_TIME, SHOW_COUNT, SHOW_NUMBER, SHOW_REAL, SHOW_TEXT };

struct show_column {
	const char *name;  /* for --columns */
	const char *title; /* of tables */
	const char *key;   /* in CSV and JSON; times are seconds there */
	enum show_type type;
	size_t offset; /* of the value in struct show_row; not of a text */
	/* makes a text, which the caller frees */
	char *(*text)(const struct show_rows *rows, const struct show_row *row);
};

#define SHOW_COLUMNS_MAX 24

struct show_columns {
	const struct show_column *at[SHOW_COLUMNS_MAX];
	size_t n;
};

/* Sets *columns to those of r->columns. False after a message: unknown, or too many. */
bool show_columns_choose(
	struct show_columns *columns, const struct show_rows *rows, const struct show_request *r);
/* Prints the names of all columns, for --help. */
void show_columns_help(FILE *f);

#endif
