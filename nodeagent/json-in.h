/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads JSON as it comes, without a tree in memory: the counterpart of json.h.
 * The caller asks for what it expects. The first error is kept with its line;
 * from then on every function fails at once, so that checking json_in_end() is
 * enough. What is read is not trusted: any bytes end in values or an error.
 *
 *	json_in_object(&j);
 *	while ((key = json_in_member(&j)))
 *		if (!strcmp(key, "calls"))
 *			calls = json_in_uint(&j);
 *		else
 *			json_in_skip(&j);
 */
#ifndef VFTR_NODEAGENT_JSON_IN_H
#define VFTR_NODEAGENT_JSON_IN_H

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

/* Texts one behind the other, each with its NUL. All zero is empty; free(bytes). */
struct text_store {
	char *bytes;
	size_t n, cap;
};

/* f stays the caller's and must live as long as j. */
void json_in_begin(struct json_in *j, FILE *f);
/*
 * Nothing may follow the value. NULL if all was well, else what was wrong (caller
 * frees). Frees what j holds.
 */
char *json_in_end(struct json_in *j);

void json_in_object(struct json_in *j);
/* The next member's key, which lives until the next call; NULL behind the last. */
const char *json_in_member(struct json_in *j);
void json_in_array(struct json_in *j);
/* Is there another element? */
bool json_in_element(struct json_in *j);

/* Values. null is 0 or "". A negative number or one with a fraction is no uint: an error. */
uint64_t json_in_uint(struct json_in *j);
double json_in_real(struct json_in *j);
/* Appends the text and a NUL; the place where it begins. A NUL in it becomes '?'. */
size_t json_in_text(struct json_in *j, struct text_store *to);
/* Any value. */
void json_in_skip(struct json_in *j);
/* The caller's own objection, as "line N: WHY"; the first error stays. */
void json_in_fail(struct json_in *j, const char *why);

/* Appends n bytes. Room grows by half, so that little is in vain. */
void text_store_add(struct text_store *to, const char *bytes, size_t n);

#endif
