/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a mangled C++ name: what itanium.c and itanium-types.c share. */
#ifndef VFTR_NODEAGENT_SYMBOLS_INTERNAL_H
#define VFTR_NODEAGENT_SYMBOLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

/* What S_, S0_ ... stand for: a place in the name, read again where it is to be written. */
struct mangled_part {
	const char *from, *to;
	bool is_prefix; /* components without N and E; else a type */
};

struct mangled {
	const char *at, *end;
	unsigned depth;
	bool failed;	/* it stays so, and nothing is read any more */
	unsigned quiet; /* > 0: what is read is not written */
	unsigned again; /* > 0: a part is read once more, and makes none of its own */
	char *out;	/* what was written, not terminated */
	size_t n_out, cap_out;
	size_t last, last_bytes; /* in out: the component before, for constructors */
	bool lambda;		 /* that was one */
	struct mangled_part *parts;
	size_t n_parts, cap_parts;
};

struct mangled_operator {
	char code[3];
	char operands; /* in an expression: '1' to '3' expressions, 't' a type, 'c' both */
	const char *text;
};

/* ---- itanium.c: characters and names */

/* The character at the place, or 0 at the end and after a failure. */
static inline char mangled_peek(const struct mangled *m)
{
	return m->failed || m->at >= m->end ? '\0' : *m->at;
}

static inline char mangled_peek_2(const struct mangled *m)
{
	return m->failed || m->end - m->at < 2 ? '\0' : m->at[1];
}

static inline bool mangled_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void mangled_fail(struct mangled *m);
/* Skips what is there; false if something else is. */
bool mangled_take(struct mangled *m, char c);
bool mangled_take_2(struct mangled *m, const char *two);
/* Fails if something else is there. */
void mangled_want(struct mangled *m, char c);
/* A number; fails if there is none, or if it is greater than any text is long. */
size_t mangled_number(struct mangled *m);
/* What follows the letter of S4_ or T4_: "_" is 0, "0_" is 1. */
size_t mangled_index(struct mangled *m);
/* One level more; false, and it has failed, if there are too many. */
bool mangled_enter(struct mangled *m);
void mangled_leave(struct mangled *m);
void mangled_write(struct mangled *m, const char *text);
/* From there to the place is now the next S_. */
void mangled_add_part(struct mangled *m, const char *from, bool is_prefix);
/* A name, nested or local or neither, with its template arguments. */
void mangled_name(struct mangled *m);
/* One component of the name that begins at `base` of the output: identifier, operator ... */
void mangled_component(struct mangled *m, size_t base);
void mangled_source_name(struct mangled *m);
/* S_, St, Sa ... */
void mangled_substitution(struct mangled *m);
/* A function with its types, up to an E, which stays. */
void mangled_encoding(struct mangled *m);

/* ---- itanium-types.c: types, template arguments and expressions */

/* The operator at the place, or NULL. */
const struct mangled_operator *mangled_operator(const struct mangled *m);
void mangled_type(struct mangled *m);
void mangled_template_param(struct mangled *m);
/* These are read quietly; the last two up to an E, which they take. */
void mangled_expression(struct mangled *m);
void mangled_template_args(struct mangled *m);
void mangled_types(struct mangled *m);

#endif
