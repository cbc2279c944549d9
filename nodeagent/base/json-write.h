/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a JSON stream, without a tree in memory. The caller opens and closes in the right order;
 * commas, quotes and escapes are made here. key is NULL inside arrays. Output errors are seen by
 * ferror() at the end. What is written reaches the stream when the outermost object, array or value
 * ends.
 *
 * In place of a stream there may be a function that takes the values, as a reader of the stream
 * would get them; of a long list it can ask for some elements only.
 */
#ifndef VFTR_NODEAGENT_BASE_JSON_WRITE_H
#define VFTR_NODEAGENT_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 8
#define JSON_ROOM      128u	   /* bytes: for a key, a number and what is between them */
#define JSON_PIECE     (32u << 10) /* bytes that the stream gets at once, but for the last ones */

struct json;

enum json_kind {
	JSON_NULL,
	JSON_BOOL,    /* integer: 0 or 1 */
	JSON_INTEGER, /* without a fraction or exponent, and of int64_t */
	JSON_REAL,
	JSON_TEXT,
	JSON_OBJECT, /* begin of an object */
	JSON_ARRAY,
	JSON_CLOSE, /* end of an object or array */
	JSON_LATE   /* an object that is not written yet */
};
struct json_late;
struct json_value {
	enum json_kind kind;
	union {
		int64_t integer;
		double real;
		const char *text; /* until the function returns; not always UTF-8: json_text() */
		struct {
			const struct json_late *late;
			uint32_t index;
		};
	};
};
/*
 * A list of objects. write() writes object number `index`, or, if key is not NULL, the members
 * among which that of this name is, if it has one: any number of times, and in any order.
 */
struct json_late {
	void (*write)(
		const struct json_late *late, struct json *j, uint32_t index, const char *key);
};
typedef void json_take(void *ctx, const char *key, const struct json_value *v);

/* A member's key with the punctuation around it: many objects have it. */
#define JSON_KEY_BYTES 32
struct json_key {
	const char *key;
	uint8_t bytes;		       /* of text; 0: it is written the common way */
	char text[JSON_KEY_BYTES + 1]; /* ,"key": */
};

struct json {
	FILE *f;
	json_take *take; /* or NULL */
	void *ctx;
	unsigned depth;
	unsigned lines; /* elements down to this depth stand on lines of their own */
	bool filled[JSON_DEPTH_MAX];
	char close[JSON_DEPTH_MAX];
	const struct json_key *next; /* or NULL */
	size_t bytes;		     /* kept, not yet in the stream */
	char kept[JSON_PIECE + JSON_ROOM];
};

void json_begin(struct json *j, FILE *f, unsigned lines);
/* The values are given to take(). */
void json_hand(struct json *j, json_take *take, void *ctx);
/* True if values are given to a function. */
bool json_is_handed(const struct json *j);
/*
 * An element of an array. To a stream it is written now; a function that takes values may have it
 * written later, as long as `late` is valid.
 */
void json_late_object(struct json *j, const struct json_late *late, uint32_t index);
/*
 * Copies a text as a reader of the stream gets it, without a NUL: bytes that are no UTF-8 are
 * replaced. `to` has room for 3 bytes for each byte of text. Returns the end.
 */
char *json_text(char *to, const char *text);

struct json_key json_key_of(const char *key);
/* That of all elements of an array. */
extern const struct json_key json_element;
/*
 * Sets the key that the next member is likely to have: if that has the same pointer as key, the
 * text is copied from here. NULL: none. *key must live until the next call.
 */
static inline void json_next(struct json *j, const struct json_key *key)
{
	j->next = key;
}

/*
 * A run of members that are written without a call for each. json_run() returns where the first one
 * begins, with its json_key.text; the caller writes it and its value there, of JSON_ROOM bytes
 * together, and tells json_run_on() where that ends, which returns where the next one begins. At
 * last json_run_end() is told where that would be. NULL: members are to be written by the functions
 * below, as values are handed over, or this one is the first or begins a line.
 */
char *json_run(struct json *j);
void json_run_end(struct json *j, const char *to);
static inline char *json_run_on(struct json *j, char *to)
{
	if ((size_t)(j->kept + sizeof(j->kept) - to) >= JSON_ROOM)
		return to;
	json_run_end(j, to);
	return json_run(j);
}

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);

void json_uint(struct json *j, const char *key, uint64_t value);
void json_int(struct json *j, const char *key, int64_t value);
void json_bool(struct json *j, const char *key, bool value);
/* 9 decimals; infinite values and NAN become null. */
void json_real(struct json *j, const char *key, double value);
/* As many digits as are needed to read the same value back. */
void json_exact(struct json *j, const char *key, double value);
/* As json_exact(), but at most 9 decimals where these are enough, which is faster. */
void json_shortest(struct json *j, const char *key, double value);
/* Nanoseconds, written as seconds without rounding. */
void json_seconds(struct json *j, const char *key, uint64_t ns);
/* 16 hexadecimal digits, as a text. */
void json_hex(struct json *j, const char *key, uint64_t value);
/* NULL becomes null; each byte that is no UTF-8 becomes U+FFFD. */
void json_string(struct json *j, const char *key, const char *text);

/*
 * Escapes a text that is written many times, alone or as a part of others: as it stands in a
 * stream, without quotes and NUL. `to` has room for 6 bytes for each byte of `text`. Returns the
 * end. It can be a part of another text if ASCII, or the end, follows it.
 */
char *json_escape(char *to, const char *text);
/*
 * Writes a text of such parts to a stream: begin, add parts, end. JSON_PART bytes must be readable
 * at `escaped`, even if `bytes' is less.
 */
#define JSON_PART 32
void json_text_begin(struct json *j, const char *key);
void json_text_add(struct json *j, const char *escaped, size_t bytes);
void json_text_end(struct json *j);

#endif
