/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole lists of a profile, by the rows of their fields. */
#include "nodeagent/profile/lists.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"

/* ---- freeing, copying ---------------------------------------------------------------- */

static void drop_texts(struct profile *p, const struct profile_schema *s)
{
	size_t n;
	char *at = profile_records(p, s, &n);

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		for (size_t i = 0; profile_is_text(f) && i < n; i++)
			free(*(char **)(void *)(at + i * s->bytes + f->offset));
}

void profile_drop_list(struct profile *p, enum profile_list which)
{
	const struct profile_schema *s = &profile_schema[which];

	drop_texts(p, s);
	if (which == PROFILE_RANK_RANGES)
		places_forget(p);
	if (!s->bytes)
		return;
	free(*profile_array(p, s));
	*profile_array(p, s) = NULL;
	*profile_n(p, s) = 0;
}

void profile_lists_free(struct profile *p)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++)
		profile_drop_list(p, i);
}

void profile_lists_copy(struct profile *c)
{
	for (const struct profile_schema *s = profile_schema; s < profile_schema + PROFILE_LISTS;
		s++) {
		size_t n;
		char *at = profile_records(c, s, &n);

		if (s->bytes) {
			at = xcalloc(n, s->bytes);
			if (n)
				memcpy(at, *profile_array(c, s), n * s->bytes);
			*profile_array(c, s) = at;
		}
		for (size_t i = 0; i < n; i++)
			profile_record_own_texts(s, at + i * s->bytes);
	}
}

void profile_move_list(struct profile *to, struct profile *from, enum profile_list which)
{
	const struct profile_schema *s = &profile_schema[which];

	profile_drop_list(to, which);
	*profile_n(to, s) = *profile_n(from, s);
	*profile_array(to, s) = *profile_array(from, s);
	*profile_n(from, s) = 0;
	*profile_array(from, s) = NULL;
}

/* ---- adding -------------------------------------------------------------------------- */

void *profile_add(struct profile *p, enum profile_list which)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t used = (*profile_n(p, s))++ * s->bytes, room = 1024;

	while (room < used + s->bytes) /* nothing moves while this stays the same */
		room *= 2;
	*profile_array(p, s) = xrealloc(*profile_array(p, s), room);
	return memset(*profile_array(p, s) + used, 0, s->bytes);
}

static int by_key(const void *a, const void *b, void *schema)
{
	return profile_record_cmp(schema, a, b);
}

void profile_combine_from(struct profile *p, enum profile_list which, size_t first)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n = *profile_n(p, s), kept = first;
	char *array = *profile_array(p, s);

	if (n <= first)
		return;
	qsort_r(array + first * s->bytes, n - first, s->bytes, by_key, (void *)s);
	for (size_t i = first + 1; i < n; i++) {
		char *last = array + kept * s->bytes, *at = array + i * s->bytes;

		if (!profile_record_cmp(s, last, at))
			profile_record_add(s, last, at);
		else if (++kept != i)
			memcpy(last + s->bytes, at, s->bytes);
	}
	*profile_n(p, s) = kept + 1;
}

void profile_combine(struct profile *p, enum profile_list which)
{
	profile_combine_from(p, which, 0);
}

static void merge_list(struct profile *a, struct profile *b, enum profile_list which)
{
	const struct profile_schema *s = &profile_schema[which];
	const size_t size = s->bytes, n_x = *profile_n(a, s), n_y = *profile_n(b, s);
	char *x = *profile_array(a, s), *x_end = x + n_x * size;
	char *y = *profile_array(b, s), *y_end = y + n_y * size;
	char *out, *to;

	if (!n_y)
		return;
	out = to = xcalloc(n_x + n_y, size);
	while (x < x_end || y < y_end) {
		const int order = x == x_end ? 1 : y == y_end ? -1 : profile_record_cmp(s, x, y);
		const bool same = order == 0 && s->rest != APART;

		memcpy(to, order <= 0 ? x : y, size);
		if (same)
			profile_record_add(s, to, y);
		x += order <= 0 ? size : 0;
		y += order > 0 || same ? size : 0;
		to += size;
	}
	free(*profile_array(a, s));
	free(*profile_array(b, s));
	*profile_array(a, s) = out;
	*profile_n(a, s) = (size_t)(to - out) / size;
	*profile_array(b, s) = NULL;
	*profile_n(b, s) = 0;
}

void profile_lists_merge(struct profile *a, struct profile *b, const uint32_t *renumber_a,
	const uint32_t *renumber_b)
{
	profile_pairs_join(a, b, PROFILE_PAIRS_MAX, PROFILE_PAIRS_GROUPED);
	places_open(a, b);
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		if (profile_schema[i].rest == OWN)
			continue;
		profile_renumber_stacks(a, i, renumber_a);
		profile_renumber_stacks(b, i, renumber_b);
		merge_list(a, b, i);
	}
	profile_waits_limit(a);
	profile_files_limit(a, PROFILE_FILES_MAX);
	places_join(a);
	profile_rank_times_limit(a, PROFILE_RANKS_MAX, PROFILE_EXTREMES);
	profile_memory_ranks_limit(a, PROFILE_RANKS_MAX, PROFILE_EXTREMES);
	profile_gpu_streams_limit(a, PROFILE_RANKS_MAX, PROFILE_EXTREMES);
	profile_gpu_devices_limit(a, PROFILE_RANKS_MAX, PROFILE_EXTREMES);
	profile_user_counters_limit(
		a, PROFILE_RANKS_MAX, PROFILE_COUNTER_EXTREMES, PROFILE_COUNTER_NAMES);
	profile_comms_limit(a, PROFILE_COMMS_MAX);
	profile_gpu_links_limit(a, PROFILE_LINKS_MAX, PROFILE_LINK_EXTREMES);
}

/* ---- renumbering --------------------------------------------------------------------- */

static bool is_wanted(enum profile_ref is, enum profile_ref wanted)
{
	return is == wanted || (is == ANY_RANK && wanted == RANK);
}

static bool is_lost(const struct profile_schema *s, const char *record, enum profile_ref what)
{
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		if (f->role == KEY && is_wanted(f->ref, what) &&
			*(const uint32_t *)(const void *)(record + f->offset) == PROFILE_NONE)
			return true;
	return false;
}

static void drop_lost(struct profile *p, const struct profile_schema *s, enum profile_ref what)
{
	size_t n, kept = 0;
	char *at = profile_records(p, s, &n);

	for (size_t i = 0; i < n; i++) {
		char *record = at + i * s->bytes;

		if (is_lost(s, record, what))
			profile_record_drop(s, record);
		else if (kept++ != i)
			memcpy(at + (kept - 1) * s->bytes, record, s->bytes);
	}
	*profile_n(p, s) = kept;
}

static bool is_lost_by(const struct profile_field *f, uint32_t number)
{
	return number == PROFILE_NONE && f->role == KEY;
}

/* Of 1 + a stack, or 0; PROFILE_NONE becomes 0. */
static void renumber_next(char *at, size_t n, size_t bytes, const uint32_t *to)
{
	for (; n--; at += bytes) {
		uint32_t *number = (uint32_t *)(void *)at;

		if (*number)
			*number = to[*number - 1] + 1;
	}
}

void profile_renumber_stacks(struct profile *p, enum profile_list which, const uint32_t *to)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n;
	char *at = profile_records(p, s, &n);
	bool lost = false;

	for (const struct profile_field *f = s->fields; n && f < s->fields + s->n_fields; f++) {
		for (size_t i = 0; f->ref == STACK && i < n; i++) {
			uint32_t *number = (uint32_t *)(void *)(at + i * s->bytes + f->offset);

			*number = to[*number];
			lost |= is_lost_by(f, *number);
		}
		if (f->ref == NEXT_STACK)
			renumber_next(at + f->offset, n, s->bytes, to);
	}
	if (lost)
		drop_lost(p, s, STACK);
}

void profile_renumber_ranks(struct profile *p, enum profile_list which,
	uint32_t (*to)(const void *arg, uint32_t rank), const void *arg)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n;
	char *at = profile_records(p, s, &n);
	bool lost = false;

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		for (size_t i = 0; is_wanted(f->ref, RANK) && i < n; i++) {
			uint32_t *number = (uint32_t *)(void *)(at + i * s->bytes + f->offset);

			*number = to(arg, *number);
			lost |= is_lost_by(f, *number);
		}
	if (lost)
		drop_lost(p, s, RANK);
}

void profile_settle_lists(struct profile *p, const uint32_t *to)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		if (profile_schema[i].rest == OWN)
			continue;
		profile_renumber_stacks(p, i, to);
		if (i != PROFILE_PAIRS)
			profile_combine(p, i);
	}
	profile_pairs_settle(p);
	profile_files_limit(p, PROFILE_FILES_MAX);
	places_join(p);
}

/* ---- making room ---------------------------------------------------------------------- */

#define ROOM 1024 /* records: fewer are not worth a look */

/* Of a late rank, or of its threads, all came at once: those with the most time stay the same. */
static void bound(struct profile *p, enum profile_list which)
{
	if (which == PROFILE_POSIX_FILES)
		profile_files_limit(p, 2 * PROFILE_FILES_MAX);
	if (which != PROFILE_WAITS)
		return;
	profile_combine(p, PROFILE_CAUSES);
	profile_waits_limit(p);
}

void profile_lists_make_room(struct profile *p, size_t after[PROFILE_LISTS])
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		const struct profile_schema *s = &profile_schema[i];

		if (s->rest == OWN || i == PROFILE_PAIRS || *profile_n(p, s) <= 2 * after[i] + ROOM)
			continue;
		profile_combine(p, i);
		bound(p, i);
		after[i] = *profile_n(p, s);
	}
}

/* ---- checking ------------------------------------------------------------------------ */

static bool is_rank(const struct profile *p, uint32_t rank)
{
	return rank < PROFILE_UNRANKED || rank - PROFILE_UNRANKED < p->unranked;
}

/* Whether what a record refers to is there. */
static bool is_complete(const struct profile *p, const struct profile_schema *s, const char *record)
{
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
		const void *at = record + f->offset;
		const uint32_t number = f->ref == PLAIN ? 0 : *(const uint32_t *)at;

		if ((f->kind == TEXT && !*(char *const *)at) ||
			(f->ref == STACK && number >= p->n_stacks) ||
			(f->ref == NEXT_STACK && number > p->n_stacks) ||
			(f->ref == RANK && !is_rank(p, number)) ||
			(f->ref == ANY_RANK && number != PROFILE_ELSEWHERE &&
				!rank_is_far(number) && !is_rank(p, number)))
			return false;
	}
	return true;
}

static const char *list_valid(const struct profile *p, const struct profile_schema *s)
{
	size_t n;
	const char *at = profile_records(p, s, &n), *why;

	for (size_t i = 0; i < n; i++, at += s->bytes) {
		if (s->wrong && !is_complete(p, s, at))
			return s->wrong;
		why = s->check ? s->check(p, at) : NULL;
		if (why)
			return why;
		if (i && s->rest != OWN && profile_record_cmp(s, at - s->bytes, at) >= 0)
			return "an array of communication or of threads is not sorted";
	}
	return NULL;
}

const char *profile_lists_valid(const struct profile *p)
{
	const char *why = profile_pairs_valid(p);

	for (enum profile_list i = 0; !why && i < PROFILE_LISTS; i++)
		why = list_valid(p, &profile_schema[i]);
	return why ? why : places_fault(p);
}
