/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of records in BASE_all.json. A profile may have a million call paths, and its JSON 20
 * members of each: what they have in common, keys and names, is made once.
 */
#include "nodeagent/report/columns.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/digits.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/report.h"

/* ---- what is made once -------------------------------------------------------------------- */

#define AHEAD 8u  /* records that are asked for before they are needed */
#define LISTS 64u /* a hash table of the lists whose keys are made */

/* A name as JSON has it, and the separator behind it. */
struct piece {
	const char *text;
	uint32_t bytes; /* with the separator */
};

/*
 * A stack. They are sorted by hash, so that those of a path are anywhere among a million; here
 * they stand in the order of their ids, callers close to what they call.
 */
struct frame {
	uint32_t parent; /* its place here, or PROFILE_NONE */
	uint32_t name;
	uint64_t id;
};

/* The path that was written last: most of it is that of the next one, too. */
struct last_path {
	uint32_t place; /* of its frame, or PROFILE_NONE */
	char *text;	/* at the end of so many bytes, and ends with a separator */
	size_t room, begin;
};

/* The columns of a list that JSON has. */
struct list_keys {
	const struct list *l;
	struct list_keys *next;
	size_t n;
	struct column_key {
		const struct column *c;
		void (*write)(struct json *j, const struct column *c, const struct row *row);
		struct json_key key;
	} of[];
};

struct columns_once {
	struct piece *pieces; /* by name, or NULL: not made yet */
	char *texts;	      /* of all of them */
	uint32_t separator;   /* bytes */
	struct frame *frames; /* by place, or NULL: not made yet */
	uint32_t *place;      /* by stack */
	struct last_path last;
	struct list_keys *lists[LISTS];
};

struct columns_once *columns_once_new(void)
{
	struct columns_once *once = xcalloc(1, sizeof(*once));

	once->last.place = PROFILE_NONE;
	return once;
}

void columns_once_free(struct columns_once *once)
{
	for (size_t i = 0; i < LISTS; i++)
		for (struct list_keys *k = once->lists[i], *next; k; k = next) {
			next = k->next;
			free(k);
		}
	free(once->last.text);
	free(once->frames);
	free(once->place);
	free(once->texts);
	free(once->pieces);
	free(once);
}

static void make_pieces(struct columns_once *once, const struct report *r)
{
	const size_t separator = strlen(r->separator), n = r->p->n_names;
	size_t bytes = JSON_PART;
	char *to;

	for (size_t i = 0; i < n; i++)
		bytes += 6 * (strlen(r->shown[i]) + separator);
	once->pieces = xcalloc(n, sizeof(*once->pieces));
	once->texts = to = xmalloc(bytes);
	for (size_t i = 0; i < n; i++) {
		char *const text = to, *const end = json_escape(to, r->shown[i]);

		to = json_escape(end, r->separator);
		once->separator = (uint32_t)(to - end);
		once->pieces[i] = (struct piece){text, (uint32_t)(to - text)};
	}
	memset(to, 0, JSON_PART); /* is copied, and not used */
}

static const struct piece *pieces_of(const struct report *r)
{
	if (!r->once->pieces)
		make_pieces(r->once, r);
	return r->once->pieces;
}

static void make_frames(struct columns_once *once, const struct report *r)
{
	const size_t n = r->p->n_stacks;

	once->place = xmalloc(n * sizeof(*once->place));
	once->frames = xmalloc(n * sizeof(*once->frames));
	for (uint32_t i = 0; i < n; i++)
		once->place[r->by_id[i]] = i;
	for (size_t i = 0; i < n; i++) {
		const uint32_t parent = r->parent[i];

		once->frames[once->place[i]] = (struct frame){
			.parent = parent == PROFILE_NONE ? PROFILE_NONE : once->place[parent],
			.name = r->p->stacks[i].name,
			.id = r->id[i],
		};
	}
}

static inline const struct frame *frame_of(const struct report *r, uint32_t stack)
{
	if (!r->once->frames)
		make_frames(r->once, r);
	return &r->once->frames[r->once->place[stack]];
}

/* The printed id of a stack's caller, or -1. A caller may have no printed number, which is another
 * thing than no caller. */
static inline int64_t parent_id(const struct report *r, uint32_t stack)
{
	const uint32_t parent = frame_of(r, stack)->parent;

	return parent == PROFILE_NONE ? -1 : (int64_t)r->once->frames[parent].id;
}

void columns_ahead(const struct report *r, uint32_t stack)
{
	if (r->once->place)
		__builtin_prefetch(&r->once->place[stack]);
}

/* The text of frames from one to before another one, which is a caller of it or PROFILE_NONE. */
static void write_frames(const struct columns_once *once, char *to, uint32_t from, uint32_t before)
{
	for (uint32_t at = from; at != before; at = once->frames[at].parent) {
		const struct piece *piece = &once->pieces[once->frames[at].name];

		to = mempcpy(to, piece->text, piece->bytes);
	}
}

/* Stands this frame behind the other one? PROFILE_NONE stands before all. */
static inline bool is_later(uint32_t place, uint32_t other)
{
	return place + 1 > other + 1;
}

/*
 * Brings the path of a frame to last.text. What it has in common with the path that stands there
 * stays; ids are above those of callers, or else nothing may be found to be common.
 */
static void last_path_becomes(struct columns_once *once, uint32_t place)
{
	const struct frame *frames = once->frames;
	struct last_path *last = &once->last;
	uint32_t old = last->place, at = place;
	size_t begin = last->begin, bytes = 0;

	while (at != old)
		if (is_later(old, at)) {
			begin += once->pieces[frames[old].name].bytes;
			old = frames[old].parent;
		} else {
			bytes += once->pieces[frames[at].name].bytes;
			at = frames[at].parent;
		}
	if (bytes > begin) {
		for (; at != PROFILE_NONE; at = frames[at].parent)
			bytes += once->pieces[frames[at].name].bytes;
		begin = last->room = 2 * bytes + 4096;
		last->text = xrealloc(last->text, last->room + JSON_PART);
		memset(last->text + last->room, 0, JSON_PART); /* is copied, and not used */
	}
	last->place = place;
	last->begin = begin - bytes;
	write_frames(once, last->text + last->begin, place, at);
}

static void write_name(struct json *j, const char *key, const struct report *r, uint32_t name)
{
	const struct piece *piece;

	if (json_is_handed(j)) {
		json_string(j, key, r->shown[name]);
		return;
	}
	piece = &pieces_of(r)[name];
	json_text_begin(j, key);
	json_text_add(j, piece->text, piece->bytes - r->once->separator);
	json_text_end(j);
}

static void write_path(struct json *j, const char *key, const struct report *r, uint32_t stack)
{
	struct columns_once *once = r->once;
	const struct piece *pieces;
	const struct frame *at;
	size_t begin;

	if (json_is_handed(j) || r->path_bytes[stack] > r->path_limit) {
		char *path = report_path(r, stack);

		json_string(j, key, path);
		free(path);
		return;
	}
	at = frame_of(r, stack);
	pieces = pieces_of(r);
	last_path_becomes(once, (uint32_t)(at - once->frames));
	begin = once->last.begin;
	/* as report_path(): no separator before there is anything to separate */
	for (; pieces[at->name].bytes == once->separator && at->parent != PROFILE_NONE;
		at = &once->frames[at->parent])
		begin += once->separator;
	json_text_begin(j, key);
	json_text_add(j, once->last.text + begin, once->last.room - begin - once->separator);
	json_text_end(j);
}

/* ---- in JSON ------------------------------------------------------------------------------ */

#define MEMBER(name, statement)                                                                    \
	static void member_##name(struct json *j, const struct column *c, const struct row *row)   \
	{                                                                                          \
		statement;                                                                         \
	}

MEMBER(count, json_uint(j, c->json, column_count(c, row)))
MEMBER(signed, json_int(j, c->json, column_signed(c, row)))
MEMBER(seconds, json_seconds(j, c->json, column_count(c, row)))
MEMBER(real, json_real(j, c->json, column_real(c, row)))
MEMBER(exact, json_exact(j, c->json, column_real(c, row)))
MEMBER(text, json_string(j, c->json, column_text(c, row)))
MEMBER(hex, json_hex(j, c->json, column_count(c, row)))
MEMBER(bool, json_bool(j, c->json, column_count(c, row)))
MEMBER(stack_id, json_uint(j, c->json, frame_of(row->r, column_stack(c, row))->id))
MEMBER(parent_id, json_int(j, c->json, parent_id(row->r, column_stack(c, row))))
MEMBER(written, c->get.write(j, c->json, row))
MEMBER(function, write_name(j, c->json, row->r, frame_of(row->r, column_stack(c, row))->name))

static void member_index(struct json *j, const struct column *c, const struct row *row)
{
	uint64_t value = column_count(c, row);

	json_int(j, c->json, value == PROFILE_NONE ? -1 : (int64_t)value);
}

static void member_optional(struct json *j, const struct column *c, const struct row *row)
{
	uint64_t value = column_count(c, row);

	if (value == PROFILE_NONE)
		json_string(j, c->json, NULL);
	else
		json_uint(j, c->json, value);
}

static void member_rank(struct json *j, const struct column *c, const struct row *row)
{
	uint32_t rank = (uint32_t)column_count(c, row);

	if (rank >= PROFILE_FAR)
		json_string(j, c->json, NULL);
	else
		json_uint(j, c->json, profile_rank_shown(row->r->p, rank));
}

static void member_made(struct json *j, const struct column *c, const struct row *row)
{
	char *text = c->get.made(row);

	json_string(j, c->json, text);
	free(text);
}

static void member_caller(struct json *j, const struct column *c, const struct row *row)
{
	const uint32_t parent = frame_of(row->r, column_stack(c, row))->parent;

	if (parent == PROFILE_NONE)
		json_string(j, c->json, NULL);
	else
		write_name(j, c->json, row->r, row->r->once->frames[parent].name);
}

MEMBER(path, write_path(j, c->json, row->r, column_stack(c, row)))

static void (*const members[COLUMN_TYPES])(
	struct json *j, const struct column *c, const struct row *row) = {
	[COLUMN_COUNT] = member_count,
	[COLUMN_SIGNED] = member_signed,
	[COLUMN_INDEX] = member_index,
	[COLUMN_OPTIONAL] = member_optional,
	[COLUMN_RANK] = member_rank,
	[COLUMN_SECONDS] = member_seconds,
	[COLUMN_US] = member_seconds,
	[COLUMN_MIB] = member_count,
	[COLUMN_REAL] = member_real,
	[COLUMN_EXACT] = member_exact,
	[COLUMN_SCIENTIFIC] = member_real,
	[COLUMN_TEXT] = member_text,
	[COLUMN_MADE] = member_made,
	[COLUMN_HEX] = member_hex,
	[COLUMN_BOOL] = member_bool,
	[COLUMN_FUNCTION] = member_function,
	[COLUMN_CALLER] = member_caller,
	[COLUMN_STACK_ID] = member_stack_id,
	[COLUMN_PARENT_ID] = member_parent_id,
	[COLUMN_PATH] = member_path,
	[COLUMN_WRITTEN] = member_written,
};

/* ---- in a run of members ------------------------------------------------------------------- */

static inline char *put_hex(char *to, uint64_t value)
{
	*to = '"';
	to = digits_hex(to + 1, value);
	*to++ = '"';
	return to;
}

static inline char *put_bool(char *to, bool value)
{
	return value ? mempcpy(to, "true", 4) : mempcpy(to, "false", 5);
}

static inline char *put_rank(char *to, const struct report *r, uint32_t rank)
{
	return rank >= PROFILE_FAR ? mempcpy(to, "null", 4)
				   : digits_uint(to, profile_rank_shown(r->p, rank));
}

static inline char *put_name(char *to, const struct report *r, uint32_t name)
{
	const struct piece *piece = &pieces_of(r)[name];

	if (piece->bytes - r->once->separator > JSON_PART)
		return NULL;
	*to++ = '"';
	memcpy(to, piece->text, JSON_PART);
	to += piece->bytes - r->once->separator;
	*to++ = '"';
	return to;
}

static inline char *put_caller(char *to, const struct report *r, uint32_t stack)
{
	const uint32_t parent = frame_of(r, stack)->parent;

	return parent == PROFILE_NONE ? mempcpy(to, "null", 4)
				      : put_name(to, r, r->once->frames[parent].name);
}

/* The value as the functions above write it, if it is short. Returns its end; NULL: it is for
 * them. */
static inline char *put_value(char *to, const struct column *c, const struct row *row)
{
	switch (c->type) {
	case COLUMN_COUNT:
		return digits_uint(to, column_count(c, row));
	case COLUMN_SECONDS:
		return digits_seconds(to, column_count(c, row));
	case COLUMN_REAL:
		return digits_fixed(to, column_real(c, row), DIGITS_DECIMALS);
	case COLUMN_HEX:
		return put_hex(to, column_count(c, row));
	case COLUMN_BOOL:
		return put_bool(to, column_count(c, row));
	case COLUMN_RANK:
		return put_rank(to, row->r, (uint32_t)column_count(c, row));
	case COLUMN_FUNCTION:
		return put_name(to, row->r, frame_of(row->r, column_stack(c, row))->name);
	case COLUMN_CALLER:
		return put_caller(to, row->r, column_stack(c, row));
	case COLUMN_PARENT_ID:
		return digits_int(to, parent_id(row->r, column_stack(c, row)));
	default:
		return NULL;
	}
}

/* ---- lists -------------------------------------------------------------------------------- */

static struct list_keys *make_keys(const struct list *l)
{
	struct list_keys *keys =
		xcalloc(1, sizeof(*keys) + l->n_columns * sizeof(struct column_key));

	keys->l = l;
	for (size_t i = 0; i < l->n_columns; i++)
		if (l->columns[i].json)
			keys->of[keys->n++] = (struct column_key){&l->columns[i],
				members[l->columns[i].type], json_key_of(l->columns[i].json)};
	return keys;
}

static const struct list_keys *keys_of(const struct report *r, const struct list *l)
{
	struct list_keys **at = &r->once->lists[(uintptr_t)l / 16 % LISTS];

	while (*at && (*at)->l != l)
		at = &(*at)->next;
	if (!*at)
		*at = make_keys(l);
	return *at;
}

/* Its end; NULL: the value is none of put_value(). */
static inline char *put_member(char *to, const struct column_key *k, const struct row *row)
{
	memcpy(to, k->key.text, JSON_KEY_BYTES);
	return put_value(to + k->key.bytes, k->c, row);
}

void columns_members(struct json *j, const struct list *l, const struct row *row)
{
	const struct list_keys *keys = keys_of(row->r, l);
	char *to = NULL; /* of a run, or NULL */

	EACH(const struct column_key, k, keys->of, keys->n) {
		char *end;

		if (k->c->where && !k->c->where(row))
			continue;
		end = to && k->key.bytes ? put_member(to, k, row) : NULL;
		if (end) {
			to = json_run_on(j, end);
			continue;
		}
		if (to)
			json_run_end(j, to);
		json_next(j, &k->key);
		k->write(j, k->c, row);
		to = json_run(j);
	}
	if (to)
		json_run_end(j, to);
	json_next(j, NULL);
}

void columns_object(struct json *j, const struct list *l, const struct row *row)
{
	json_object(j, NULL);
	columns_members(j, l, row);
	json_close(j);
}

static const struct column *column_of_key(const struct list *l, const char *key)
{
	return FIND(x, l->columns, l->n_columns, x->json && !strcmp(x->json, key));
}

static void write_member(struct json *j, const struct column *c, const struct row *row)
{
	if (c->json && (!c->where || c->where(row)))
		members[c->type](j, c, row);
}

/* Of the column that is asked for, of a record that is likely to be next. */
static void fetch_late(const struct columns_late *of, uint32_t index)
{
	const uint32_t k = index + AHEAD < of->n ? index + AHEAD : index;

	__builtin_prefetch(of->first + (of->order ? of->order[k] : k) * of->l->size +
			   (of->column ? of->column->offset : 0));
}

static void write_late(
	const struct json_late *late, struct json *j, uint32_t index, const char *key)
{
	struct columns_late *of = (struct columns_late *)late;
	const uint32_t k = of->order ? of->order[index] : index;
	const struct row row = {.r = of->r, .at = of->first + k * of->l->size, .index = k};

	if (!key) {
		columns_object(j, of->l, &row);
		return;
	}
	if (!of->column || strcmp(of->column->json, key))
		of->column = column_of_key(of->l, key);
	fetch_late(of, index);
	if (of->column)
		write_member(j, of->column, &row);
	else /* some of these write several members, of other names than theirs */
		for (size_t i = 0; i < of->l->n_columns; i++)
			if (of->l->columns[i].type == COLUMN_WRITTEN)
				write_member(j, &of->l->columns[i], &row);
}

static void hand_late(struct json *j, const struct report *r, const struct list *l)
{
	struct columns_late *of = r->late;
	size_t n;

	free(of->order);
	*of = (struct columns_late){{write_late}, r, l, columns_elements(r, l, &n), 0, NULL, NULL};
	of->n = n;
	of->order = l->json_order ? l->json_order(r) : NULL;
	json_array(j, l->json);
	for (uint32_t i = 0; i < n; i++)
		json_late_object(j, &of->late, i);
	json_close(j);
}

void columns_json(struct json *j, const struct report *r, const struct list *l)
{
	size_t n;
	const char *first = columns_elements(r, l, &n);
	uint32_t *order;

	if (l->late && json_is_handed(j)) {
		hand_late(j, r, l);
		return;
	}
	order = l->json_order ? l->json_order(r) : NULL;
	json_array(j, l->json);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t k = order ? order[i] : i;
		const struct row row = {.r = r, .at = first + k * l->size, .index = k};

		if (l->ahead && i + AHEAD < n)
			l->ahead(r, order ? order[i + AHEAD] : i + AHEAD);
		if (!l->json_shown || l->shown(&row))
			columns_object(j, l, &row);
	}
	json_close(j);
	free(order);
}
