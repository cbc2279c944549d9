/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a JSON stream, without a tree in memory: the counterpart of json-write.h. The
 * caller asks for the values that it expects. The first error is kept with its line;
 * from then on every function fails at once, so that checking json_in_end() is
 * enough. The input is not trusted: any bytes give values or an error.
 *
 *	json_in_object(&j);
 *	while ((key = json_in_member(&j)))
 *		if (!strcmp(key, "calls"))
 *			calls = json_in_uint(&j);
 *		else
 *			json_in_skip(&j);
 */
#ifndef VFTR_NODEAGENT_BASE_JSON_READ_H
#define VFTR_NODEAGENT_BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_IN_DEPTH_MAX 64
#define JSON_IN_KEY_MAX	  64 /* longer keys are cut */

struct json_in {
	FILE *f;
	unsigned char *buf;
	size_t at, end;
	unsigned long line;
	unsigned depth;
	char close[JSON_IN_DEPTH_MAX];
	bool filled[JSON_IN_DEPTH_MAX];
	char key[JSON_IN_KEY_MAX];
	char *error; /* "line 3: why" */
};

/* Texts, one after the other, each with its NUL. Begins as zeros; free(bytes). */
struct text_store {
	char *bytes;
	size_t n, cap;
};

/* The caller closes f, after json_in_end(). */
void json_in_begin(struct json_in *j, FILE *f);
/*
 * Ends the reading; bytes after the value are an error. NULL, or the first error, which
 * the caller frees. Frees the memory of j.
 */
char *json_in_end(struct json_in *j);

void json_in_object(struct json_in *j);
/* The next member's key, valid until the next call; NULL after the last. */
const char *json_in_member(struct json_in *j);
void json_in_array(struct json_in *j);
/* True if there is another element. */
bool json_in_element(struct json_in *j);

/* Values. null is 0 or "". A negative number or one with a fraction is no uint: an error. */
uint64_t json_in_uint(struct json_in *j);
double json_in_real(struct json_in *j);
/* Appends a text and a NUL; returns its offset in bytes. A NUL in it becomes '?'. */
size_t json_in_text(struct json_in *j, struct text_store *to);
/* A value that is neither object nor array. */
enum json_in_kind { JSON_IN_NULL, JSON_IN_BOOL, JSON_IN_INTEGER, JSON_IN_REAL, JSON_IN_TEXT };
struct json_in_value {
	enum json_in_kind kind;
	int64_t integer; /* of INTEGER; BOOL: 0 or 1 */
	double real;	 /* of REAL: a number with a fraction or exponent, or beyond int64_t */
	size_t text;	 /* of TEXT: offset in bytes */
};
/* The first byte of the next value, `{' `[' `"' t f n - or a digit; 0 after an error. */
int json_in_next(struct json_in *j);
/* Reads one of any kind; a text is appended to `to` as by json_in_text(). Errors: NULL. */
struct json_in_value json_in_value(struct json_in *j, struct text_store *to);
/* Skips a value of any kind. */
void json_in_skip(struct json_in *j);
/* Sets the caller's own error, "line N: WHY"; the first error stays. */
void json_in_fail(struct json_in *j, const char *why);

/* Makes room for n more bytes; it grows by half, so that little is unused. */
void text_store_room(struct text_store *to, size_t n);
/* Appends n bytes. */
void text_store_add(struct text_store *to, const char *bytes, size_t n);

#endif
