/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a JSON stream, without a tree in memory. The caller opens and
 * closes in the right order; commas, quotes and escapes are made here. key is
 * NULL inside arrays. Output errors are seen by ferror() at the end. What is
 * written reaches the stream when the outermost object, array or value ends.
 *
 * In place of a stream there may be somebody who takes the values, just as a reader of the
 * stream would get them; of a long list only what is asked for.
 */
#ifndef VFTR_NODEAGENT_BASE_JSON_WRITE_H
#define VFTR_NODEAGENT_BASE_JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH_MAX 8

struct json;

enum json_kind {
	JSON_NULL,
	JSON_BOOL,    /* integer: 0 or 1 */
	JSON_INTEGER, /* without a fraction or exponent, and of int64_t */
	JSON_REAL,
	JSON_TEXT,
	JSON_OBJECT, /* it begins ... */
	JSON_ARRAY,
	JSON_CLOSE, /* ... and ends */
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
	char kept[32768];
};

void json_begin(struct json *j, FILE *f, unsigned lines);
/* The values are given to take(). */
void json_hand(struct json *j, json_take *take, void *ctx);
/* Does somebody take them? */
bool json_is_handed(const struct json *j);
/* An element: in a stream it is written now; who takes values may have it written as long as
 * `late` is there. */
void json_late_object(struct json *j, const struct json_late *late, uint32_t index);
/* Copies what a reader gets of a text, without its NUL: bytes that are no UTF-8 are replaced. `to`
 * has room for 3 bytes for each one. Returns the end. */
char *json_text(char *to, const char *text);

struct json_key json_key_of(const char *key);
/* If the member written next has just this key, the same pointer, its text is taken from there.
 * NULL: no key. It must live until another one is given. */
static inline void json_next(struct json *j, const struct json_key *key)
{
	j->next = key;
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
/* The same, and not more of them, if nine decimals are enough; and faster then. */
void json_shortest(struct json *j, const char *key, double value);
/* Nanoseconds, written as seconds without rounding. */
void json_seconds(struct json *j, const char *key, uint64_t ns);
/* 16 hexadecimal digits, as a text. */
void json_hex(struct json *j, const char *key, uint64_t value);
/* NULL becomes null; each byte that is no UTF-8 becomes U+FFFD. */
void json_string(struct json *j, const char *key, const char *text);

/*
 * A text that is written many times, alone or as a part of others, is escaped once: as it stands
 * in a stream, without quotes and NUL. `to` has room for 6 bytes for each one of `text`, and the
 * end is returned. It may be a part of another text if that goes on with ASCII, or ends.
 */
char *json_escape(char *to, const char *text);
/* A text of such parts, for streams only: it begins, parts are added, it ends. JSON_PART bytes can
 * be read at `escaped`, also if it has fewer. */
#define JSON_PART 32
void json_text_begin(struct json *j, const char *key);
void json_text_add(struct json *j, const char *escaped, size_t bytes);
void json_text_end(struct json *j);

#endif
