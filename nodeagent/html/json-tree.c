/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/html/json-tree.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nodeagent/base/json-read.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

/* Its first member or element stands behind it. */
struct value {
	uint32_t key;	/* index into keys[] */
	uint32_t next;	/* index of the next one of the same parent, or 0 */
	uint32_t count; /* of members or elements */
	uint32_t kind;
	union {
		int64_t integer;
		double real;
		size_t text; /* offset */
	};
};

#define BUFFER_BYTES (256u << 10)
#define KEY_SLOTS    4096u /* there are some hundred keys; more than half of it: an error */

struct json_tree {
	struct value *at;
	size_t n_at, cap_at;
	struct text_store texts;
	char *keys[KEY_SLOTS];
	uint8_t bytes[KEY_SLOTS];  /* of each key */
	uint16_t after[KEY_SLOTS]; /* which key came after it the last time, or 0 */
	size_t n_keys;
};

/* ---- reading --------------------------------------------------------------------------- */

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

static uint32_t find_key(
	struct json_tree *all, struct json_in *in, const char *key, uint32_t before)
{
	const uint32_t slot = key_slot(all, key);

	all->after[before] = (uint16_t)slot;
	if (all->keys[slot])
		return slot;
	if (all->n_keys >= KEY_SLOTS / 2) {
		all->after[before] = 0;
		json_in_fail(in, "too many different keys");
		return 0;
	}
	all->n_keys++;
	all->keys[slot] = xstrdup(key);
	all->bytes[slot] = (uint8_t)strlen(key);
	return slot;
}

_Static_assert(JSON_IN_KEY_MAX <= UINT8_MAX, "the length of a key has room");

/* before: the key of the member before it, or 0. Objects of an array mostly have the same keys, in
 * the same order. False: an error. */
static bool read_key(struct json_tree *all, struct json_in *in, uint32_t before, uint32_t *slot)
{
	const char *key;

	*slot = all->after[before];
	if (*slot && json_in_key_is(in, all->keys[*slot], all->bytes[*slot]))
		return true;
	key = json_in_key(in);
	if (key)
		*slot = find_key(all, in, key, before);
	return key;
}

static size_t read_value(struct json_tree *all, struct json_in *in, uint32_t key);

/* Links the child that was read last; returns its index. */
static void link_child(struct json_tree *all, size_t parent, size_t *last, size_t child)
{
	if (*last)
		all->at[*last].next = (uint32_t)child;
	*last = child;
	all->at[parent].count++;
}

static void read_members(struct json_tree *all, struct json_in *in, size_t at)
{
	size_t last = 0;
	uint32_t k = 0;

	json_in_object(in);
	while (json_in_element(in) && read_key(all, in, k, &k))
		link_child(all, at, &last, read_value(all, in, k));
}

static void read_elements(struct json_tree *all, struct json_in *in, size_t at)
{
	size_t last = 0;

	json_in_array(in);
	while (json_in_element(in))
		link_child(all, at, &last, read_value(all, in, 0));
}

static void read_plain(struct json_tree *all, struct json_in *in, struct value *to)
{
	static const uint32_t kinds[] = {
		[JSON_IN_NULL] = VALUE_NONE,
		[JSON_IN_BOOL] = VALUE_BOOL,
		[JSON_IN_INTEGER] = VALUE_INTEGER,
		[JSON_IN_REAL] = VALUE_REAL,
		[JSON_IN_TEXT] = VALUE_TEXT,
	};
	const struct json_in_value v = json_in_value(in, &all->texts);

	to->kind = kinds[v.kind];
	if (v.kind == JSON_IN_TEXT)
		to->text = v.text;
	else if (v.kind == JSON_IN_REAL)
		to->real = v.real;
	else
		to->integer = v.integer;
}

/* JSON_IN_DEPTH_MAX bounds the recursion. */
static size_t read_value(struct json_tree *all, struct json_in *in, uint32_t key)
{
	const size_t at = all->n_at;
	const int next = json_in_next(in);

	*LIST_ADD(all, at) = (struct value){.key = key};
	if (at == UINT32_MAX) {
		json_in_fail(in, "too many values");
	} else if (next == '{') {
		all->at[at].kind = VALUE_OBJECT;
		read_members(all, in, at);
	} else if (next == '[') {
		all->at[at].kind = VALUE_ARRAY;
		read_elements(all, in, at);
	} else {
		struct value v = all->at[at];

		read_plain(all, in, &v);
		all->at[at] = v;
	}
	return at;
}

struct json_tree *json_tree_read(FILE *f, char **error)
{
	struct json_tree *all = xcalloc(1, sizeof(*all));
	struct json_in in;

	all->keys[0] = xstrdup("");
	all->n_keys = 1;
	json_in_begin(&in, f);
	read_value(all, &in, 0);
	*error = json_in_end(&in);
	if (!*error)
		return all;
	json_tree_free(all);
	return NULL;
}

struct json_tree *json_tree_of(
	void (*write)(FILE *f, const void *what), const void *what, char **error)
{
	struct json_tree *all = NULL;
	/* not open_memstream(), which copies all of it each time it grows */
	const int fd = memfd_create("vftr-json", MFD_CLOEXEC);
	FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;

	*error = NULL;
	if (f) {
		setvbuf(f, NULL, _IOFBF, BUFFER_BYTES);
		write(f, what);
		if (!fflush(f) && !ferror(f)) {
			rewind(f);
			all = json_tree_read(f, error);
		}
	}
	if (!all && !*error)
		*error = xasprintf("no memory for its JSON: %m");
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return all;
}

void json_tree_free(struct json_tree *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < KEY_SLOTS; i++)
		free(all->keys[i]);
	free(all->texts.bytes);
	free(all->at);
	free(all);
}

/* ---- the tree -------------------------------------------------------------------------- */

const struct value *json_tree_root(const struct json_tree *all)
{
	return all->at;
}

enum value_kind value_kind(const struct value *v)
{
	return v ? v->kind : VALUE_NONE;
}

const struct value *value_first(const struct json_tree *all, const struct value *v)
{
	(void)all;
	return v && v->count ? v + 1 : NULL;
}

const struct value *value_next(const struct json_tree *all, const struct value *v)
{
	return v->next ? &all->at[v->next] : NULL;
}

size_t value_count(const struct value *v)
{
	return v ? v->count : 0;
}

const char *value_key(const struct json_tree *all, const struct value *v)
{
	return all->keys[v->key];
}

const struct value *value_member(
	const struct json_tree *all, const struct value *v, const char *key)
{
	uint32_t slot;

	if (value_kind(v) != VALUE_OBJECT)
		return NULL;
	slot = key_slot(all, key);
	for (const struct value *m = value_first(all, v); m; m = value_next(all, m))
		if (m->key == slot)
			return m;
	return NULL;
}

const char *value_text(const struct json_tree *all, const struct value *v)
{
	return value_kind(v) == VALUE_TEXT ? all->texts.bytes + v->text : "";
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
	return value_real(value_member(all, v, key));
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

	switch ((enum value_kind)v->kind) {
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
		if (v->kind == VALUE_OBJECT || how->keep(v, m, index, how->to))
			value_write(all, m, j, how);
	json_close(j);
}
