/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as a tree in memory, to be read only: what a page needs of a profile. Functions take NULL
 * for a value that is not there, and then give NULL, 0, NAN or "". Objects that are handed over
 * late (json-write.h) are read when they are asked for their members; they are const all the same.
 * One thread at a time.
 */
#ifndef VFTR_NODEAGENT_HTML_JSON_TREE_H
#define VFTR_NODEAGENT_HTML_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_tree;
struct value;
struct json;

/*
 * The tree of the JSON that write() writes, as a reader of its text would get it: so pages have the
 * numbers that programs get. What write() hands over late must live as long as the tree. NULL with
 * *error, which the caller frees: it failed.
 */
struct json_tree *json_tree_of(
	void (*write)(struct json *j, const void *what), const void *what, char **error);
void json_tree_free(struct json_tree *all);
/* The outermost value. */
const struct value *json_tree_root(const struct json_tree *all);

enum value_kind {
	VALUE_NONE, /* null, or not there */
	VALUE_BOOL,
	VALUE_INTEGER,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_OBJECT,
	VALUE_ARRAY
};
enum value_kind value_kind(const struct value *v);

/* A member of an object, or one of a member. */
const struct value *value_member(
	const struct json_tree *all, const struct value *v, const char *key);
/* Members or elements: the first, and the one after v; NULL: there is none. */
const struct value *value_first(const struct json_tree *all, const struct value *v);
const struct value *value_next(const struct json_tree *all, const struct value *v);
size_t value_count(const struct value *v);
/* "": an element of an array. Valid as long as all. */
const char *value_key(const struct json_tree *all, const struct value *v);

bool value_is_true(const struct value *v);
const char *value_text(const struct json_tree *all, const struct value *v);
/* The value of a number; NAN for another value. */
double value_real(const struct value *v);
/*
 * value_real() of a member. This and value_short_text() read only that member of an object that is
 * handed over late.
 */
double value_real_of(const struct json_tree *all, const struct value *v, const char *key);
/*
 * Copies a member that is a text of less than VALUE_DIGITS bytes to text, and returns that; "" if
 * there is none.
 */
const char *value_short_text(
	const struct json_tree *all, const struct value *v, const char *key, char *text);
/*
 * Writes a number with as many digits as are needed to read the same value back to text, which has
 * room for VALUE_DIGITS bytes, and returns text; NULL: v is no number.
 */
#define VALUE_DIGITS 32
const char *value_exact(const struct value *v, char *text);
/*
 * Writes a value as JSON, without elements of arrays for which keep() is false. Texts are cut to
 * `columns' columns of a terminal.
 */
struct value_writing {
	bool (*keep)(const struct value *array, const struct value *element, size_t index,
		const void *to);
	const void *to;
	size_t columns;
};
void value_write(const struct json_tree *all, const struct value *v, struct json *j,
	const struct value_writing *how);

#endif
