/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/html/json-tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-read.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

/* Kinds beside those of enum value_kind: an object that is not read yet, one that was. */
enum { VALUE_LATE = VALUE_ARRAY + 1, VALUE_READ };

/* Its first member or element stands behind it, that of VALUE_READ at `members`. */
struct value {
	uint32_t key;	/* index into keys[] */
	uint32_t next;	/* how far behind it the next one of the same parent is, or 0 */
	uint32_t count; /* of members or elements; of VALUE_LATE: its index */
	uint32_t kind;
	union {
		int64_t integer;
		double real;
		size_t offset; /* of a text, while values are being made */
		const char *text;
		struct late_list *list;	     /* of VALUE_LATE */
		const struct value *members; /* of VALUE_READ */
	};
};

struct late_list {
	const struct json_late *late;
	struct json_tree *all;
	struct late_list *next;
};

/* Values that were made together; their texts do not move any more. */
struct block {
	struct value *at;
	char *texts;
};

#define KEY_SLOTS 4096u /* there are some hundred keys; more than half of it: an error */

struct json_tree {
	struct block *blocks; /* the first has the root; then one for each object that came late */
	size_t n_blocks, cap_blocks;
	struct late_list *late;
	char *keys[KEY_SLOTS];
	uint16_t after[KEY_SLOTS]; /* which key came after it the last time, or 0 */
	size_t n_keys;
};

/* ---- making ---------------------------------------------------------------------------- */

/* The object or array that is open at a depth. */
struct level {
	size_t at, last; /* its index, that of its last child or 0 */
	uint32_t key;	 /* of the last child, or 0 */
};

struct maker {
	struct json_tree *all;
	struct value *at;
	size_t n_at, cap_at;
	struct text_store texts;
	struct level open[JSON_DEPTH_MAX + 1];
	unsigned depth;
	const char *error; /* or NULL */
};

/* Where it is, or where it would be. */
static uint32_t key_slot(const struct json_tree *all, const char *key)
{
	uint32_t slot = 2166136261u;

	for (const char *s = key; *s; s++)
		slot = (slot ^ (unsigned char)*s) * 16777619u;
	slot %= KEY_SLOTS;
	while (all->keys[slot] && strcmp(all->keys[slot], key))
		slot = (slot + 1) % KEY_SLOTS;
	return slot;
}

/* before: the key of the member before it, or 0. */
static uint32_t find_key(struct maker *m, const char *key, uint32_t before)
{
	struct json_tree *all = m->all;
	char *known = xmalloc(3 * strlen(key) + 1);
	uint32_t slot;

	*json_text(known, key) = '\0';
	slot = key_slot(all, known);
	if (!all->keys[slot] && all->n_keys >= KEY_SLOTS / 2) {
		m->error = "too many different keys";
		slot = 0;
	} else if (!all->keys[slot]) {
		all->n_keys++;
		all->keys[slot] = known;
		known = NULL;
	}
	all->after[before] = (uint16_t)slot;
	free(known);
	return slot;
}

/* Objects of an array mostly have the same keys, in the same order. */
static uint32_t key_of(struct maker *m, const char *key, uint32_t before)
{
	const uint32_t slot = m->all->after[before];

	return slot && !strcmp(m->all->keys[slot], key) ? slot : find_key(m, key, before);
}

/* Links a value to what it is in; returns its index. */
static size_t add_child(struct maker *m, const char *key)
{
	struct level *in = &m->open[m->depth];
	const size_t at = m->n_at;

	if (at == UINT32_MAX)
		m->error = "too many values";
	if (m->error)
		return 0;
	if (key)
		in->key = key_of(m, key, in->key);
	*LIST_ADD(m, at) = (struct value){.key = key ? in->key : 0};
	if (!at)
		return at;
	if (in->last)
		m->at[in->last].next = (uint32_t)(at - in->last);
	in->last = at;
	m->at[in->at].count++;
	return at;
}

static size_t add_text(struct text_store *texts, const char *text)
{
	const size_t at = texts->n, n = strlen(text);

	text_store_room(texts, 3 * n + 1);
	texts->n = (size_t)(json_text(texts->bytes + at, text) - texts->bytes);
	texts->bytes[texts->n++] = '\0';
	return at;
}

static struct late_list *list_of(struct json_tree *all, const struct json_late *late)
{
	if (!all->late || all->late->late != late) {
		struct late_list *list = xcalloc(1, sizeof(*list));

		*list = (struct late_list){late, all, all->late};
		all->late = list;
	}
	return all->late;
}

static void take_value(void *ctx, const char *key, const struct json_value *v)
{
	static const uint32_t kinds[] = {
		[JSON_NULL] = VALUE_NONE,
		[JSON_BOOL] = VALUE_BOOL,
		[JSON_INTEGER] = VALUE_INTEGER,
		[JSON_REAL] = VALUE_REAL,
		[JSON_TEXT] = VALUE_TEXT,
		[JSON_OBJECT] = VALUE_OBJECT,
		[JSON_ARRAY] = VALUE_ARRAY,
		[JSON_LATE] = VALUE_LATE,
	};
	struct maker *m = ctx;
	struct value *to;
	size_t at;

	if (v->kind == JSON_CLOSE) {
		m->depth--;
		return;
	}
	at = add_child(m, key);
	if (v->kind == JSON_OBJECT || v->kind == JSON_ARRAY)
		m->open[++m->depth] = (struct level){.at = at};
	if (m->error)
		return;
	to = &m->at[at];
	to->kind = kinds[v->kind];
	if (v->kind == JSON_TEXT)
		to->offset = add_text(&m->texts, v->text);
	else if (v->kind == JSON_REAL)
		to->real = v->real;
	else if (v->kind == JSON_INTEGER || v->kind == JSON_BOOL)
		to->integer = v->integer;
	else if (v->kind == JSON_LATE) {
		to->count = v->index;
		to->list = list_of(m->all, v->late);
	}
}

/* The values become part of the tree. */
static const struct value *keep_block(struct maker *m)
{
	if (m->texts.n)
		m->texts.bytes = xrealloc(m->texts.bytes, m->texts.n);
	for (size_t i = 0; i < m->n_at; i++)
		if (m->at[i].kind == VALUE_TEXT)
			m->at[i].text = m->texts.bytes + m->at[i].offset;
	*LIST_ADD(m->all, blocks) = (struct block){m->at, m->texts.bytes};
	return m->at;
}

struct json_tree *json_tree_of(
	void (*write)(struct json *j, const void *what), const void *what, char **error)
{
	struct maker m = {.all = xcalloc(1, sizeof(*m.all))};
	struct json j;

	m.all->keys[0] = xstrdup("");
	m.all->n_keys = 1;
	json_hand(&j, take_value, &m);
	write(&j, what);
	keep_block(&m);
	*error = m.error ? xstrdup(m.error) : NULL;
	if (!*error)
		return m.all;
	json_tree_free(m.all);
	return NULL;
}

void json_tree_free(struct json_tree *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < KEY_SLOTS; i++)
		free(all->keys[i]);
	for (size_t i = 0; i < all->n_blocks; i++) {
		free(all->blocks[i].at);
		free(all->blocks[i].texts);
	}
	free(all->blocks);
	for (struct late_list *list = all->late, *next; list; list = next) {
		next = list->next;
		free(list);
	}
	free(all);
}

/* ---- what comes late ------------------------------------------------------------------- */

/* There was no error when the others were made, so there is none now but for too many keys; then
 * it has the members before them. */
static void read_late(const struct value *late)
{
	struct value *v = (struct value *)late;
	struct maker m = {.all = v->list->all};
	const struct value *object;
	struct json j;

	json_hand(&j, take_value, &m);
	v->list->late->write(v->list->late, &j, v->count, NULL);
	object = keep_block(&m);
	v->kind = VALUE_READ;
	v->count = object->count;
	v->members = object + 1;
}

/* A member of an object, without the others. */
struct one {
	const char *key;
	unsigned depth; /* of what is open in it */
	double real;
	char *text; /* VALUE_DIGITS bytes, or NULL */
};

/* As a reader gets it, which may be three bytes for one. */
static void copy_short(char *to, const char *text)
{
	char read[3 * VALUE_DIGITS];

	if (strlen(text) >= VALUE_DIGITS)
		return;
	*json_text(read, text) = '\0';
	if (strlen(read) < VALUE_DIGITS)
		strcpy(to, read);
}

static void take_one(void *ctx, const char *key, const struct json_value *v)
{
	struct one *one = ctx;
	const bool is = !one->depth && key && !strcmp(key, one->key);

	if (v->kind == JSON_OBJECT || v->kind == JSON_ARRAY)
		one->depth++;
	else if (v->kind == JSON_CLOSE)
		one->depth--;
	else if (is && v->kind == JSON_INTEGER)
		one->real = (double)v->integer;
	else if (is && v->kind == JSON_REAL)
		one->real = v->real;
	else if (is && v->kind == JSON_TEXT && one->text)
		copy_short(one->text, v->text);
}

static void read_one(const struct value *late, struct one *one)
{
	struct json j;

	json_hand(&j, take_one, one);
	late->list->late->write(late->list->late, &j, late->count, one->key);
}

/* ---- the tree -------------------------------------------------------------------------- */

const struct value *json_tree_root(const struct json_tree *all)
{
	return all->blocks[0].at;
}

enum value_kind value_kind(const struct value *v)
{
	const uint32_t kind = v ? v->kind : VALUE_NONE;

	return kind > VALUE_ARRAY ? VALUE_OBJECT : (enum value_kind)kind;
}

const struct value *value_first(const struct json_tree *all, const struct value *v)
{
	if (v && v->kind == VALUE_LATE)
		read_late(v);
	if (!v || !v->count)
		return NULL;
	return v->kind == VALUE_READ ? v->members : v + 1;
}

const struct value *value_next(const struct json_tree *all, const struct value *v)
{
	return v->next ? v + v->next : NULL;
}

size_t value_count(const struct value *v)
{
	if (v && v->kind == VALUE_LATE)
		read_late(v);
	return v ? v->count : 0;
}

const char *value_key(const struct json_tree *all, const struct value *v)
{
	return all->keys[v->key];
}

const struct value *value_member(
	const struct json_tree *all, const struct value *v, const char *key)
{
	const struct value *m = value_kind(v) == VALUE_OBJECT ? value_first(all, v) : NULL;
	uint32_t slot;

	if (!m)
		return NULL;
	slot = key_slot(all, key);
	for (;; m += m->next)
		if (m->key == slot || !m->next)
			return m->key == slot ? m : NULL;
}

const char *value_text(const struct json_tree *all, const struct value *v)
{
	return value_kind(v) == VALUE_TEXT ? v->text : "";
}

bool value_is_true(const struct value *v)
{
	return value_kind(v) == VALUE_BOOL && v->integer;
}

double value_real(const struct value *v)
{
	switch (value_kind(v)) {
	case VALUE_INTEGER:
		return (double)v->integer;
	case VALUE_REAL:
		return v->real;
	default:
		return NAN;
	}
}

double value_real_of(const struct json_tree *all, const struct value *v, const char *key)
{
	struct one one = {.key = key, .real = NAN};

	if (!v || v->kind != VALUE_LATE)
		return value_real(value_member(all, v, key));
	read_one(v, &one);
	return one.real;
}

const char *value_short_text(
	const struct json_tree *all, const struct value *v, const char *key, char *text)
{
	struct one one = {.key = key, .text = text};
	const char *known;

	*text = '\0';
	if (v && v->kind == VALUE_LATE) {
		read_one(v, &one);
		return text;
	}
	known = value_text(all, value_member(all, v, key));
	return strlen(known) < VALUE_DIGITS ? strcpy(text, known) : text;
}

const char *value_exact(const struct value *v, char *text)
{
	if (value_kind(v) == VALUE_INTEGER) {
		snprintf(text, VALUE_DIGITS, "%" PRId64, v->integer);
		return text;
	}
	if (value_kind(v) != VALUE_REAL)
		return NULL;
	for (int digits = 9; digits <= 17; digits += 2) {
		snprintf(text, VALUE_DIGITS, "%.*g", digits, v->real);
		if (strtod(text, NULL) == v->real)
			break;
	}
	return text;
}

/* ---- writing --------------------------------------------------------------------------- */

static void write_text(
	const struct json_tree *all, const struct value *v, struct json *j, size_t columns)
{
	const char *key = v->key ? all->keys[v->key] : NULL, *text = value_text(all, v);
	char *cut = strlen(text) > columns ? text_short(text, columns) : NULL;

	json_string(j, key, cut ? cut : text);
	free(cut);
}

void value_write(const struct json_tree *all, const struct value *v, struct json *j,
	const struct value_writing *how)
{
	const char *key = v->key ? all->keys[v->key] : NULL;
	size_t index = 0;

	switch (value_kind(v)) {
	case VALUE_NONE:
		json_string(j, key, NULL);
		return;
	case VALUE_BOOL:
		json_bool(j, key, v->integer);
		return;
	case VALUE_INTEGER:
		json_int(j, key, v->integer);
		return;
	case VALUE_REAL:
		json_shortest(j, key, v->real);
		return;
	case VALUE_TEXT:
		write_text(all, v, j, how->columns);
		return;
	case VALUE_OBJECT:
		json_object(j, key);
		break;
	case VALUE_ARRAY:
		json_array(j, key);
		break;
	}
	for (const struct value *m = value_first(all, v); m; m = value_next(all, m), index++)
		if (v->kind != VALUE_ARRAY || how->keep(v, m, index, how->to))
			value_write(all, m, j, how);
	json_close(j);
}
