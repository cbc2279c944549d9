/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of records as tables in the logs and as arrays in BASE_all.json. Each list has one
 * table of columns: a row has the names of a value in both, its type and its source. Logs
 * and JSON follow the order of the rows; a value with another position in one of them has
 * a row for each.
 */
#ifndef VFTR_NODEAGENT_REPORT_COLUMNS_H
#define VFTR_NODEAGENT_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "nodeagent/base/json-write.h"

struct forest;
struct profile;
struct report;
struct table;

#define COLUMN_NOTHING "----"
#define COLUMN_NAME    60 /* columns of a terminal that a name is cut to */
#define COLUMN_ROWS    50 /* rows of a table in a log; JSON has all */

/* A record of a list, to be shown. */
struct row {
	const struct report *r;
	const void *at;	  /* the record */
	uint32_t index;	  /* of the record in the list */
	uint32_t level;	  /* depth of the record in a tree, if the table is one */
	const void *more; /* columns_print_tree()'s parameter, or NULL */
};

/*
 * Each type has a form in logs and one in JSON, in this order below. The value of a type for stacks
 * is the number of the stack, or, without a member, the row's index. In layout run, numbers whose
 * title ends with [s], [us], [B], [MiB] or [B/s] are shown in the unit that suits their column
 * (table_column_of()).
 */
enum column_type {
	COLUMN_COUNT,	   /* 12; 12 */
	COLUMN_SIGNED,	   /* -1; -1 */
	COLUMN_INDEX,	   /* 12, ---- for PROFILE_NONE; 12, -1 for PROFILE_NONE */
	COLUMN_OPTIONAL,   /* 12, ---- for PROFILE_NONE; 12, null for PROFILE_NONE */
	COLUMN_RANK,	   /* rank as printed; null for PROFILE_ELSEWHERE */
	COLUMN_SECONDS,	   /* ns as 1.234; with 9 decimals */
	COLUMN_US,	   /* ns as 1234.50; seconds with 9 decimals */
	COLUMN_MIB,	   /* bytes as 1.50; bytes */
	COLUMN_REAL,	   /* 1.234; with 9 decimals. ---- and null for NAN and infinite values */
	COLUMN_EXACT,	   /* as COLUMN_REAL; in JSON with all digits */
	COLUMN_SCIENTIFIC, /* 1.234e+05; as COLUMN_REAL */
	COLUMN_TEXT,	   /* ---- and null for NULL */
	COLUMN_MADE,	   /* as COLUMN_TEXT, of get.made() */
	COLUMN_HEX,	   /* 16 hexadecimal digits */
	COLUMN_BOOL,	   /* JSON only */
	COLUMN_FUNCTION,   /* name of a stack */
	COLUMN_CALLER,	   /* name of the stack above, or ---- and null */
	COLUMN_STACK_ID,   /* printed number, or ---- */
	COLUMN_PARENT_ID,  /* JSON only: that of the stack above, or -1 */
	COLUMN_PATH,	   /* cut to a line; whole */
	COLUMN_WRITTEN,	   /* JSON only, by get.write() */
	COLUMN_TYPES
};

struct column {
	const char *title; /* in the logs, or NULL: not there */
	const char *run;   /* in those of layout run, if that is another one */
	const char *json;  /* in BASE_all.json, or NULL */
	enum column_type type;
	/* of the record's member that has the value, if get is not set */
	size_t offset, size;
	unsigned only; /* bits; the log has this column only if `asked` has all of them */
	bool left;     /* aligned; else right */
	bool spare;   /* is left out first where there is no room for all columns (table_limit()) */
	int decimals; /* 0: as above */
	unsigned width; /* of a number, padded; of a text, cut */
	/* which rows have the value; in others it is ---- and is left out. NULL: all */
	bool (*where)(const struct row *row);
	/* the same for the log only */
	bool (*log_where)(const struct row *row);
	/* in which rows the log has a ~ before the number, as it is an estimate. NULL: none */
	bool (*mark)(const struct row *row);
	union {
		uint64_t (*count)(const struct row *row);
		double (*real)(const struct row *row);
		const char *(*text)(const struct row *row);
		char *(*made)(const struct row *row); /* is freed */
		void (*write)(struct json *j, const char *key, const struct row *row);
	} get;
};

/* COLUMN("Calls", "calls", COUNT, struct profile_gpu, calls, .only = ...) */
#define COLUMN(log_, json_, type_, record, member, ...)                                            \
	{                                                                                          \
		.title = (log_), .json = (json_), .type = COLUMN_##type_,                          \
		.offset = offsetof(record, member), .size = sizeof(((record *)0)->member),         \
		##__VA_ARGS__                                                                      \
	}
/* COLUMN_GET("t_avg[s]", "t_avg_s", REAL, real, mean, .decimals = 6): of get.real = mean */
#define COLUMN_GET(log_, json_, type_, kind, function, ...)                                        \
	{                                                                                          \
		.title = (log_), .json = (json_), .type = COLUMN_##type_, .get.kind = (function),  \
		##__VA_ARGS__                                                                      \
	}

/* For get: static TYPE name(row), the value of a struct RECORD *at. */
#define ROW_VALUE(type, name, record, value)                                                       \
	static type name(const struct row *row)                                                    \
	{                                                                                          \
		const struct record *at = row->at;                                                 \
                                                                                                   \
		return value;                                                                      \
	}

struct list {
	const struct column *columns;
	size_t n_columns;
	size_t offset, n_offset, size; /* in struct profile: elements, their number; of each */
	const char *title;	       /* above the table in the logs */
	bool sum;		       /* over ranks: layout run says so in the title */
	const char *json;	       /* key in BASE_all.json */
	/* "communicators": the first COLUMN_ROWS are shown, then how many more; NULL: all */
	const char *things;
	/* order in the log: by falling weight, or this one; neither: that of the list */
	uint64_t (*weight)(const struct profile *p, uint32_t i);
	uint32_t *(*order)(const struct report *r, size_t *n); /* n indices, to be freed */
	uint32_t *(*json_order)(const struct report *r); /* the same of all, in JSON, or NULL */
	bool (*shown)(const struct row *row);		 /* in the log; NULL: all */
	/* the log has at most profile_table.max_rows, for lists that grow with call paths */
	bool limited;
	/*
	 * with `limited': exclusive time of a row in ns, if rows below profile_table.min_percent
	 * are left out, too; or NULL
	 */
	uint64_t (*time)(const struct row *row);
	/*
	 * prefetches record i, which JSON writes soon, where the order is not that of the list; or
	 * NULL
	 */
	void (*ahead)(const struct report *r, uint32_t i);
	/*
	 * elements are handed over when they are asked for (struct columns_late), as a page asks
	 * for few of them; each key is of one column
	 */
	bool late;
};

/* A list whose elements are written when they are asked for; valid as long as its report. */
struct columns_late {
	struct json_late late; /* the first member */
	const struct report *r;
	const struct list *l;
	const char *first;
	size_t n;
	uint32_t *order;	     /* or NULL */
	const struct column *column; /* the last one that was asked for, or NULL */
};

/*
 * Rows of a table in a log: number of those in the list that are to be shown, and of those that
 * limits have left out.
 */
struct columns_rows {
	size_t n, left;
	uint64_t left_ns;
};

/* LIST(columns, comms, .title = ...): of p->comms[0 .. p->n_comms) */
#define LIST(table, member, ...)                                                                   \
	{                                                                                          \
		.columns = (table), .n_columns = sizeof(table) / sizeof(*(table)),                 \
		.offset = offsetof(struct profile, member),                                        \
		.n_offset = offsetof(struct profile, n_##member),                                  \
		.size = sizeof(*((struct profile *)0)->member), ##__VA_ARGS__                      \
	}
/* For records that are no list of a profile. */
#define LIST_OF(table, record, ...)                                                                \
	{                                                                                          \
		.columns = (table), .n_columns = sizeof(table) / sizeof(*(table)),                 \
		.size = sizeof(record), ##__VA_ARGS__                                              \
	}

/* Prints the table of a list, if it has rows; asked: bits of column.only. */
void columns_print(FILE *f, const struct report *r, const struct list *l, unsigned asked);
/* The same for n records at `records`: all of them, in this order. */
void columns_print_of(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	const void *records, size_t n);
/*
 * The first `most` records in the order of a tree over all of them, with row.level, and
 * row.more as given. Returns how many are left. It may have no rows.
 */
size_t columns_print_tree(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	struct forest *tree, const void *more, size_t most);
/* Where the records of a list begin, and how many there are. */
const char *columns_elements(const struct report *r, const struct list *l, size_t *n);
/* Writes the list's array in JSON: all elements in their order, or that of json_order. */
void columns_json(struct json *j, const struct report *r, const struct list *l);

/*
 * Parts of the functions above. columns_fill(): a table with its rows; columns_table(): a table
 * with titles only; columns_row(): adds a row; columns_end(): prints the table and frees it;
 * columns_object(): writes an object.
 */
struct table *columns_fill(
	const struct report *r, const struct list *l, unsigned asked, struct columns_rows *rows);
struct table *columns_table(const struct report *r, const struct list *l, unsigned asked);
/* A table without columns, with the limits of these logs. */
struct table *columns_begin(const struct report *r);
void columns_row(struct table *t, const struct list *l, unsigned asked, const struct row *row);
/* is_sum: over ranks, as in list.sum */
void columns_end(FILE *f, const struct report *r, struct table *t, const char *title, bool is_sum);
/* columns_end() below a title that the caller has printed. */
void columns_close(FILE *f, const struct report *r, struct table *t);
void columns_object(struct json *j, const struct list *l, const struct row *row);
/* Writes the members of an object that the caller opens and closes. */
void columns_members(struct json *j, const struct list *l, const struct row *row);
/* "... and 3 communicators more", if n are more than COLUMN_ROWS. */
void columns_more(FILE *f, size_t n, const char *things);
/* True if the limits leave out a row of this time (UINT64_MAX: unknown); then it is counted. */
bool columns_leave(const struct report *r, struct columns_rows *rows, uint64_t ns);
/* "... 28 740 rows with together 3.1 % (0.21 s) are in the JSON file", if rows are left out. */
void columns_left(FILE *f, const struct report *r, const struct columns_rows *rows);
/* "... and 1 thread more", if n are left. */
void columns_rest(FILE *f, size_t n, const char *one, const char *many);

/*
 * Texts for JSON that are made once for a report (columns-json.c): escaped names and call paths,
 * keys with their punctuation.
 */
struct columns_once;
struct columns_once *columns_once_new(void);
void columns_once_free(struct columns_once *once);

/* Prefetches these texts of a stack. */
void columns_ahead(const struct report *r, uint32_t stack);

/*
 * column_count() and so on: the value of a column in a row, by its type. column_caller(): the name
 * of a stack's caller, or PROFILE_NONE.
 */
static inline uint64_t column_count(const struct column *c, const struct row *row)
{
	const char *at = (const char *)row->at + c->offset;
	uint32_t narrow;
	uint64_t wide;

	if (c->get.count)
		return c->get.count(row);
	if (c->size == 1)
		return *(const bool *)at;
	if (c->size == sizeof(narrow)) {
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

static inline int64_t column_signed(const struct column *c, const struct row *row)
{
	uint64_t value = column_count(c, row);

	return c->size == sizeof(int32_t) ? (int32_t)value : (int64_t)value;
}

static inline double column_real(const struct column *c, const struct row *row)
{
	double value;

	if (c->get.real)
		return c->get.real(row);
	memcpy(&value, (const char *)row->at + c->offset, sizeof(value));
	return value;
}

static inline const char *column_text(const struct column *c, const struct row *row)
{
	const char *value;

	if (c->get.text)
		return c->get.text(row);
	memcpy(&value, (const char *)row->at + c->offset, sizeof(value));
	return value;
}

static inline uint32_t column_stack(const struct column *c, const struct row *row)
{
	return c->size || c->get.count ? (uint32_t)column_count(c, row) : row->index;
}

uint32_t column_caller(const struct report *r, uint32_t stack);

#endif
