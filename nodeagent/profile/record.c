/* SPDX-License-Identifier: BSD-3-Clause */
/* One record of a profile, by the rows of its fields. */
#include "nodeagent/profile/schema.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

static inline const void *at(const void *record, const struct profile_field *f)
{
	return (const char *)record + f->offset;
}

static inline void *member(void *record, const struct profile_field *f)
{
	return (char *)record + f->offset;
}

static inline char **text(void *record, const struct profile_field *f)
{
	return member(record, f);
}

/* Of all kinds but U128, reals, texts and those with a sign. */
static inline uint64_t word_of(const void *record, const struct profile_field *f)
{
	switch (f->kind) {
	case U32:
	case COUNT:
	case I32:
	case END:
		return *(const uint32_t *)at(record, f);
	case FLAG:
		return *(const bool *)at(record, f);
	default:
		return *(const uint64_t *)at(record, f);
	}
}

static int value_cmp(const struct profile_field *f, const void *a, const void *b)
{
	switch (f->kind) {
	case TEXT:
	case TEXT_OR_NULL:
		return strcmp(*(char *const *)at(a, f), *(char *const *)at(b, f));
	case I64:
		return ORDER(*(const int64_t *)at(a, f), *(const int64_t *)at(b, f));
	case REAL:
		return ORDER(*(const double *)at(a, f), *(const double *)at(b, f));
	default:
		return ORDER(word_of(a, f), word_of(b, f));
	}
}

int profile_record_cmp(const struct profile_schema *s, const void *a, const void *b)
{
	const struct profile_field *last = NULL;

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
		int order = 0;

		if (f->role == KEY && f->kind == U32) /* most are */
			order = ORDER(*(const uint32_t *)at(a, f), *(const uint32_t *)at(b, f));
		else if (f->role == KEY)
			order = value_cmp(f, a, b);
		else if (f->role == LAST_KEY)
			last = f;
		if (order)
			return order;
	}
	return last ? value_cmp(last, a, b) : 0;
}

static void add_value(const struct profile_field *f, void *to, const void *from)
{
	if (f->kind == U64)
		*(uint64_t *)member(to, f) += *(const uint64_t *)at(from, f);
	else if (f->kind == U128)
		*(unsigned __int128 *)member(to, f) += *(const unsigned __int128 *)at(from, f);
	else
		*(uint32_t *)member(to, f) += *(const uint32_t *)at(from, f);
}

static size_t bytes_of(const struct profile_field *f)
{
	switch (f->kind) {
	case U128:
		return sizeof(unsigned __int128);
	case U32:
	case COUNT:
	case I32:
	case END:
		return sizeof(uint32_t);
	case FLAG:
		return sizeof(bool);
	default:
		return sizeof(uint64_t);
	}
}

static void join_texts(char **to, char **from)
{
	if (!*to || (*from && strcmp(*from, *to) < 0)) {
		free(*to);
		*to = *from;
	} else {
		free(*from);
	}
	*from = NULL;
}

void profile_record_add(const struct profile_schema *s, void *to, void *from)
{
	if (s->fold)
		s->fold(to, from);
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
		if (f->role == SUM && f->kind == U64) { /* most are */
			*(uint64_t *)member(to, f) += *(const uint64_t *)at(from, f);
			continue;
		}
		switch (f->role) {
		case SUM:
		case SIZE:
			add_value(f, to, from);
			break;
		case MIN:
			if (value_cmp(f, from, to) < 0)
				memcpy(member(to, f), at(from, f), bytes_of(f));
			break;
		case MAX:
		case SPAN:
			if (value_cmp(f, from, to) > 0)
				memcpy(member(to, f), at(from, f), bytes_of(f));
			break;
		case KEY:
		case JOIN:
			if (profile_is_text(f))
				join_texts(text(to, f), text(from, f));
			break;
		case SELF:
		case LAST_KEY:
			break;
		}
	}
}

static bool subtract_wide(unsigned __int128 *now, const unsigned __int128 *before)
{
	if (before)
		*now -= *before < *now ? *before : *now;
	return *now;
}

bool profile_record_subtract(const struct profile_schema *s, void *now, const void *before)
{
	bool left = false;

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
		const void *was = before ? at(before, f) : NULL;
		uint64_t *is = member(now, f);

		if (f->role != SUM && f->role != SPAN)
			continue;
		if (f->kind == U128) {
			left |= subtract_wide(member(now, f), was);
			continue;
		}
		if (was)
			*is -= *(const uint64_t *)was < *is ? *(const uint64_t *)was : *is;
		left |= *is != 0;
	}
	return left;
}

void profile_record_drop(const struct profile_schema *s, void *record)
{
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		if (profile_is_text(f))
			free(*text(record, f));
}

void profile_record_own_texts(const struct profile_schema *s, void *record)
{
	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		if (profile_is_text(f) && *text(record, f))
			*text(record, f) = xstrdup(*text(record, f));
}
