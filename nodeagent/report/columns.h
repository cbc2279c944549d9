/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of records as tables in the logs and as arrays in BASE_all.json. Each list has one table of
 * columns: a row of it has the names of a value in both, its type and its source. Logs and JSON
 * follow the order of these rows; a value with another position in one of them has a row for each.
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
	const void *more; /* what the caller gives to the functions of columns, or NULL */
};

/*
 * Each type has a form in logs and one in JSON, which stand below in this order. The value of a
 * type for stacks is the number of the stack, or, without a member, the row's index. In layout run,
 * numbers whose title ends with [s], [us], [B], [MiB] or [B/s] are shown in the unit that suits
 * their column (table_column_of()).
 */
enum column_type {
	COLUMN_COUNT,	   /* 12; 12 */
	COLUMN_SIGNED,	   /* -1; -1 */
	COLUMN_INDEX,	   /* 12, ---- for PROFILE_NONE; 12, -1 for PROFILE_NONE */
	COLUMN_OPTIONAL,   /* 12, ---- for PROFILE_NONE; 12, null for PROFILE_NONE */
	COLUMN_RANK,	   /* rank as printed; null from PROFILE_FAR on */
	COLUMN_SECONDS,	   /* ns as 1.234; with 9 decimals */
	COLUMN_US,	   /* ns as 1234.50; seconds with 9 decimals */
	COLUMN_MIB,	   /* bytes as 1.50; bytes */
	COLUMN_REAL,	   /* 1.234; with 9 decimals. ---- and null for NAN and infinite values */
	COLUMN_EXACT,	   /* as COLUMN_REAL; in JSON with all digits */
	COLUMN_SCIENTIFIC, /* 1.234e+05; as COLUMN_REAL */
	COLUMN_TEXT,	   /* ---- and null for NULL */
	COLUMN_MADE,	   /* as COLUMN_TEXT; get.made() makes the text */
	COLUMN_HEX,	   /* 16 hexadecimal digits */
	COLUMN_BOOL,	   /* JSON only: true or false */
	COLUMN_FUNCTION,   /* name of a stack's function, shortened; whole */
	COLUMN_CALLER,	   /* the same of the stack above, or ---- and null */
	COLUMN_STACK_ID,   /* printed number of a stack, or ----; the number */
	COLUMN_PARENT_ID,  /* JSON only: number of the stack above, or -1 */
	COLUMN_PATH,	   /* path of a stack, cut to a line; whole (report_path()) */
	COLUMN_WRITTEN,	   /* JSON only: get.write() writes it, under any key */
	COLUMN_TYPES
};

struct column {
	const char *title; /* in the logs, or NULL: not there */
	const char *run;   /* in those of layout run, if that is another one */
	const char *json;  /* key in BASE_all.json, or NULL: not there */
	enum column_type type;
	/* of the record's member that has the value, if get is not set; size: 1, 4 or 8 bytes */
	size_t offset, size;
	unsigned only; /* bits; the log has this column only if `asked' has all of them */
	bool left;     /* aligned to the left; else to the right */
	bool spare;   /* is left out first where there is no room for all columns (table_limit()) */
	int decimals; /* of a number in the logs; 0: as above */
	unsigned width; /* columns of a terminal: a number is padded to it, a text is cut to it */
	/* true: the row has the value; else logs have ----, JSON no member. NULL: all have it */
	bool (*where)(const struct row *row);
	/* the same for the log only */
	bool (*log_where)(const struct row *row);
	/* true: the log has a ~ before the number, as it is an estimate. NULL: never */
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
	/* "communicators": the log has COLUMN_ROWS rows, then how many more; NULL: all rows */
	const char *things;
	/* order in the log: by falling weight, or that of order(); neither: that of the list */
	uint64_t (*weight)(const struct profile *p, uint32_t i);
	/* sets *n to how many are shown; returns their indices, which are freed; NULL if *n is 0 */
	uint32_t *(*order)(const struct report *r, size_t *n);
	/* order in JSON, indices of all records, which are freed; or NULL: that of the list */
	uint32_t *(*json_order)(const struct report *r);
	bool (*shown)(const struct row *row); /* true: the log has the row; NULL: it has all */
	bool json_shown; /* JSON, too, has only rows that are shown */
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
	 * true: elements are handed over when they are asked for (struct columns_late), as a page
	 * asks for few of them; each key is of one column. One list of a report may have this.
	 */
	bool late;
};

/* A list whose elements are written when they are asked for; valid as long as its report. */
struct columns_late {
	struct json_late late; /* the first member */
	const struct report *r;
	const struct list *l;
	const char *first; /* record */
	size_t n;
	uint32_t *order;	     /* json_order(), or NULL */
	const struct column *column; /* the last one that was asked for, or NULL */
};

/*
 * Rows of a table in a log, which begin as zeros: n: how many there are but for list.shown; left:
 * how many of these the limits have left out, and their exclusive time in ns, as far as it is
 * known.
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
/* LIST_OF(columns, struct wait_place, ...): of records that are no list of a profile. */
#define LIST_OF(table, record, ...)                                                                \
	{                                                                                          \
		.columns = (table), .n_columns = sizeof(table) / sizeof(*(table)),                 \
		.size = sizeof(record), ##__VA_ARGS__                                              \
	}

/* Prints the table of a list, if it has rows; asked: bits of column.only. */
void columns_print(FILE *f, const struct report *r, const struct list *l, unsigned asked);
/* The same of n records at `records', in their order: weight and order are not used. */
void columns_print_of(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	const void *records, size_t n);
/*
 * Prints the first `most' records in the order of a tree over all of them, with row.level, and
 * row.more as given; also a table without rows. Returns how many records are left.
 */
size_t columns_print_tree(FILE *f, const struct report *r, const struct list *l, unsigned asked,
	struct forest *tree, const void *more, size_t most);
/* The first record of a list in the profile of r; sets *n to their number. */
const char *columns_elements(const struct report *r, const struct list *l, size_t *n);
/* Writes the list's array in JSON: all records in their order, or that of json_order. */
void columns_json(struct json *j, const struct report *r, const struct list *l);

/*
 * Parts of the functions above. columns_fill(): makes a table with its rows, and sets *rows;
 * columns_table(): makes a table with titles only; columns_row(): adds a row; columns_end(): prints
 * the title and the table, and frees the table; columns_object(): writes an object, an element of
 * the array that is open. A table that is not printed is freed with table_free().
 */
struct table *columns_fill(
	const struct report *r, const struct list *l, unsigned asked, struct columns_rows *rows);
struct table *columns_table(const struct report *r, const struct list *l, unsigned asked);
/* A table without columns, with the limits of these logs. */
struct table *columns_begin(const struct report *r);
void columns_row(struct table *t, const struct list *l, unsigned asked, const struct row *row);
/* is_sum: over ranks, as in list.sum */
void columns_end(FILE *f, const struct report *r, struct table *t, const char *title, bool is_sum);
/* Prints and frees a table, whose title the caller has printed. */
void columns_close(FILE *f, const struct report *r, struct table *t);
void columns_object(struct json *j, const struct list *l, const struct row *row);
/* Writes the members of an object that the caller opens and closes. */
void columns_members(struct json *j, const struct list *l, const struct row *row);
/* Prints "... and 3 communicators more" and where they are, if n is more than COLUMN_ROWS. */
void columns_more(FILE *f, size_t n, const char *things);
/*
 * True if the limits leave out the next row, of this exclusive time (UINT64_MAX: unknown); then
 * left and left_ns are counted. The caller counts each row in rows->n, behind this call.
 */
bool columns_leave(const struct report *r, struct columns_rows *rows, uint64_t ns);
/* Prints "... 28 740 rows with together 3.1 % (0.21 s) are in the JSON file", if left is not 0. */
void columns_left(FILE *f, const struct report *r, const struct columns_rows *rows);
/* Prints "... and 1 thread more", if n is not 0. */
void columns_rest(FILE *f, size_t n, const char *one, const char *many);

/*
 * Texts for JSON that are made once for a report (columns-json.c): escaped names and call paths,
 * keys with their punctuation.
 */
struct columns_once;
struct columns_once *columns_once_new(void);
void columns_once_free(struct columns_once *once);

/* Prefetches what leads to these texts of a stack. */
void columns_ahead(const struct report *r, uint32_t stack);

/*
 * column_count() and so on: the value of a column in a row, by its type. column_caller(): the name
 * of a stack's caller, an index into names[], or PROFILE_NONE.
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
