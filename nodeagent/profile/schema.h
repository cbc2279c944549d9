/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fields of all records of a profile: one row per field has its form in a file, its role
 * when two records of one key are added, and what its numbers refer to.
 * Comparing, adding, subtracting, renumbering, checking, copying, freeing, storing and
 * reading walk these rows. For profile/ and profile/limits/ only; other rooms use lists.h.
 */
#ifndef VFTR_NODEAGENT_PROFILE_SCHEMA_H
#define VFTR_NODEAGENT_PROFILE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/profile/lists.h"

struct profile;

/*
 * The type of a member; in a file each is one 64-bit word, U128 two. COUNT: a uint32_t of
 * processes or threads; REAL: a double, not negative; END: an enum process_end; a text is
 * the number of one in the file, and owned by the record.
 */
enum profile_kind { U64, U128, U32, COUNT, I32, I64, REAL, FLAG, END, TEXT, TEXT_OR_NULL };

/* The way in which a field is added, and in which an earlier record is subtracted from it. */
enum profile_role {
	SELF,	  /* by the list's fold() only */
	KEY,	  /* both are equal; lists are sorted by their keys in the order of the rows */
	LAST_KEY, /* a KEY that is compared after all others */
	SUM,	  /* added; U64 or U128. The earlier value is subtracted, down to 0 */
	SIZE,	  /* added; nothing is subtracted */
	SPAN,	  /* the greater one; the earlier value is subtracted, as for SUM */
	MIN,	  /* the lesser one */
	MAX,	  /* the greater one */
	JOIN,	  /* the text that is first in the alphabet, so that the order does not matter */
};

/* The thing that a uint32_t numbers: a stack of the profile, a rank, a rank or
 * PROFILE_ELSEWHERE; NEXT_STACK: 1 + a stack, or 0 for none. */
enum profile_ref { PLAIN, STACK, RANK, ANY_RANK, NEXT_STACK };

struct profile_field {
	enum profile_kind kind : 8;
	enum profile_role role : 8;
	enum profile_ref ref : 8;
	uint32_t offset : 32; /* in the record in memory */
};

/*
 * ALWAYS: each file has it; LATER: files of earlier versions have none; FILLED: nor have files
 * in which it would be empty.
 */
enum profile_presence { ALWAYS, LATER, FILLED };

/* The part of a list that profile_subtract() leaves. All but OWN are keyed. */
enum profile_rest {
	OWN,	 /* by code of its own */
	PROCESS, /* the difference, for each process */
	NODE,	 /* nothing: profile_subtract_node() does it */
	GONE,	 /* nothing */
	APART,	 /* its records; merging, too, leaves records of one key apart */
	KEPT,	 /* all of it */
};

struct profile_schema {
	char tag[8]; /* of its section in a file */
	const struct profile_field *fields;
	size_t n_fields;
	size_t bytes;	     /* of a record in memory; 0: struct profile itself */
	size_t count, array; /* offsets in struct profile */
	enum profile_presence presence;
	enum profile_rest rest;
	/* Adds SELF fields; before all others are, so that these have their old values. */
	void (*fold)(void *to, const void *from);
	/* NULL, or a static text on what is wrong with a record. The record before it is valid. */
	const char *(*check)(const struct profile *p, const void *record);
	/* error if a number or TEXT of a record is not in the profile; NULL: no check */
	const char *wrong;
};

extern const struct profile_schema profile_schema[PROFILE_LISTS];

/* ---- where the records are ----------------------------------------------------------- */

static inline size_t *profile_n(struct profile *p, const struct profile_schema *s)
{
	return (size_t *)(void *)((char *)p + s->count);
}

static inline char **profile_array(struct profile *p, const struct profile_schema *s)
{
	return (char **)(void *)((char *)p + s->array);
}

/* The first of *n records; also for a list that is part of struct profile itself (*n = 1). */
static inline char *profile_records(
	const struct profile *p, const struct profile_schema *s, size_t *n)
{
	struct profile *at = (struct profile *)p;

	*n = s->bytes ? *profile_n(at, s) : 1;
	return s->bytes ? *profile_array(at, s) : (char *)at;
}

static inline bool profile_is_text(const struct profile_field *f)
{
	return f->kind == TEXT || f->kind == TEXT_OR_NULL;
}

/* ---- record.c: one record ------------------------------------------------------------ */

/* Compares the keys: less than, equal to or greater than 0. */
int profile_record_cmp(const struct profile_schema *s, const void *a, const void *b);
/* Adds `from`, which loses its texts, unless they are SELF. */
void profile_record_add(const struct profile_schema *s, void *to, void *from);
/* Subtracts `before` (NULL: nothing). True if anything is left. */
bool profile_record_subtract(const struct profile_schema *s, void *now, const void *before);
/* Frees the texts of a record; replaces them by copies. */
void profile_record_drop(const struct profile_schema *s, void *record);
void profile_record_own_texts(const struct profile_schema *s, void *record);

/* ---- lists.c: all of a profile ------------------------------------------------------- */

/* Frees all lists of lists.def, but not p. */
void profile_lists_free(struct profile *p);
/* For a flat copy c of a profile: copies its texts and arrays. */
void profile_lists_copy(struct profile *c);
/* NULL, or what is wrong with a list. Stacks and names of p must be valid. */
const char *profile_lists_valid(const struct profile *p);
/*
 * Moves the keyed lists of b to a; stack i of each is renumber_a[i] or renumber_b[i] of the result.
 * Any order of merging gives the same, but for who is told apart of more than PROFILE_LATE_MAX
 * late ranks, and which of more than PROFILE_FILES_MAX files.
 */
void profile_lists_merge(struct profile *a, struct profile *b, const uint32_t *renumber_a,
	const uint32_t *renumber_b);

#endif
