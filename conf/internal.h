/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of conf/ only. */
#ifndef VFTR_CONF_INTERNAL_H
#define VFTR_CONF_INTERNAL_H

#include <cjson/cJSON.h>

#include "conf/conf.h"

#define CONF_DEPTH 100 /* deepest nesting of a file */
#define CONF_QUOTE 80  /* longest piece of user text in a message, in bytes */

/* malloc'ed text, or NULL if there is no memory. */
char *text_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* As text_of(); sets *why, frees what was there, returns -1. */
int fail(char **why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * User text, which ends in NUL further on, fit for a message: printable, on one line, cut when
 * long. The result lies in buf.
 */
#define QUOTE_BYTES (4 * CONF_QUOTE + 8)
const char *quoted(char buf[static QUOTE_BYTES], const char *s, size_t bytes);
/* Position of the first byte that is not UTF-8, or NUL, or bytes; s[bytes] is NUL. */
size_t utf8_span(const char *s, size_t bytes);

/*
 * value.c: one value. On error the field is unchanged, *why says why and *bad
 * is the piece of json that is wrong.
 */
int value_from_json(
	const struct conf_option *o, void *field, const cJSON *json, const cJSON **bad, char **why);
int value_from_text(const struct conf_option *o, void *field, const char *text, char **why);
void value_free(const struct conf_option *o, void *field);
/* show.c */
void value_print(const struct conf_option *o, const void *field, int indent, FILE *f);
void string_print(const char *s, FILE *f);
/* A value of cJSON for a message; the result lies in buf or is static. */
const char *json_shown(char buf[static QUOTE_BYTES], const cJSON *json);

/* list.c: hwprof.counters and hwprof.observables. */
/* Keys of one element, ended by NULL. */
const char *const *list_keys(enum conf_type type);
int list_from_json(enum conf_type type, struct conf_list *field, const cJSON *json,
	const cJSON **bad, char **why);
void list_free(enum conf_type type, struct conf_list *list);
void list_print(enum conf_type type, const struct conf_list *list, int indent, FILE *f);

/* regex.c: 0, or -1 and a cause. */
int regex_check(const char *pattern, char **why);

/* tags.c: 0, or -1 and a cause. */
int tags_check(const char *list, char **why);

/* patterns.c: 0, or -1 and a cause. */
int patterns_check(const char *list, char **why);

/*
 * locate.c: strict JSON in, a line number for each value out (cJSON keeps
 * none, and lets through what is not JSON).
 */
struct lines {
	size_t n, cap;
	struct line_pair {
		int key, value;
	} * at; /* in the order in which the values begin in the text */
};
/* 0, or -1 with *line and *why. text[bytes] is NUL. */
int lines_scan(struct lines *l, const char *text, size_t bytes, int *line, char **why);
/* Ties each item below root to its lines; false if the two don't match. */
bool lines_bind(const struct lines *l, cJSON *root);
int line_of_key(const struct lines *l, const cJSON *item);
int line_of_value(const struct lines *l, const cJSON *item);
void lines_free(struct lines *l);

/* parse.c: a file, at most CONF_FILE_MAX + 1 bytes; the caller frees. NULL and errno on error. */
char *file_text(const char *file, size_t *bytes);

/* check.c: checks keys against each other; results as of conf_check_paths(). */
int check_whole(const struct conf *c, char **error);

/* advise.c: the names of one level, and the one most like a word of the user. */
struct names {
	size_t n;
	const char *at[64]; /* need not be terminated: bytes[] says the length */
	size_t bytes[64];
};
/* Children of a section ("" is the top level, else "mpi.sort_table."). */
void names_of_section(struct names *names, const char *prefix);
void names_of_list(struct names *names, enum conf_type type);
/* Index of the name that equals key in any case, or -1. */
int names_find(const struct names *names, const char *key, size_t bytes);
/* Index of the first name of the least edit distance; n if none is like it. */
size_t names_nearest(const struct names *names, const char *key);

#endif
