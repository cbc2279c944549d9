/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON as a tree in memory, to be read only: what a page needs of a profile. Functions take NULL
 * for a value that is not there, and then return NULL, 0, NAN or "" (value_next(), value_key() and
 * value_write() want a value). Objects that are handed over late (json-write.h) are read when their
 * members are asked for, though the tree is const; so one thread at a time may use a tree. It owns
 * all values and texts.
 */
#ifndef VFTR_NODEAGENT_HTML_JSON_TREE_H
#define VFTR_NODEAGENT_HTML_JSON_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct json_tree;
struct value;
struct json;

/*
 * The tree of the JSON that write(j, what) writes, as a reader of its text would get it: so pages
 * have the numbers that programs get. What write() hands over late must live as long as the tree.
 * Returns NULL and *error, a sentence (caller frees), if there are too many values or different
 * keys; else *error is NULL.
 */
struct json_tree *json_tree_of(
	void (*write)(struct json *j, const void *what), const void *what, char **error);
void json_tree_free(struct json_tree *all);
/* The outermost value; NULL: write() wrote none. */
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

/* The first member of v that has this key; NULL: there is none, or v is no object. */
const struct value *value_member(
	const struct json_tree *all, const struct value *v, const char *key);
/* The first member or element of v. */
const struct value *value_first(const struct json_tree *all, const struct value *v);
/* The member or element after v; NULL: v is the last one. */
const struct value *value_next(const struct json_tree *all, const struct value *v);
/* The number of members or elements; 0 of other values. */
size_t value_count(const struct value *v);
/* The key of a member; "" of an element of an array. */
const char *value_key(const struct json_tree *all, const struct value *v);

/* False for a value that is no bool. */
bool value_is_true(const struct value *v);
/* "" for a value that is no text. */
const char *value_text(const struct json_tree *all, const struct value *v);
/* NAN for a value that is no number. */
double value_real(const struct value *v);
/*
 * value_real() of a member. Of an object that is handed over late, this and value_short_text() read
 * that member alone.
 */
double value_real_of(const struct json_tree *all, const struct value *v, const char *key);
/*
 * Copies a member, if it is a text of less than VALUE_DIGITS bytes, to text, which has room for
 * VALUE_DIGITS, and returns text; else text becomes "".
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
 * Writes a value as JSON; of arrays only the elements for which keep(array, element, index, to) is
 * true. Texts of more than `columns' bytes are cut to so many columns of a terminal.
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
