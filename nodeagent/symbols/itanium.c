/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the Itanium C++ ABI, by descent through their grammar. What a short name leaves out
 * is read, but not written. A part that is to be written once more (S_) is read once more; as
 * only the first component of a name may be one, that takes no more time than the name is long.
 */
#include "nodeagent/symbols/itanium.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/symbols/internal.h"

#define DEPTH_MOST  1000u /* levels; each takes less than 1 KiB of stack */
#define NUMBER_MOST (SIZE_MAX / 64)

/* ---- characters -------------------------------------------------------------------------- */

void mangled_fail(struct mangled *m)
{
	m->failed = true;
}

bool mangled_take(struct mangled *m, char c)
{
	if (mangled_peek(m) != c)
		return false;
	m->at++;
	return true;
}

bool mangled_take_2(struct mangled *m, const char *two)
{
	if (mangled_peek(m) != two[0] || mangled_peek_2(m) != two[1])
		return false;
	m->at += 2;
	return true;
}

void mangled_want(struct mangled *m, char c)
{
	if (!mangled_take(m, c))
		mangled_fail(m);
}

size_t mangled_number(struct mangled *m)
{
	size_t n = 0;

	if (!mangled_is_digit(mangled_peek(m)))
		mangled_fail(m);
	while (mangled_is_digit(mangled_peek(m))) {
		n = n * 10 + (size_t)(*m->at++ - '0');
		if (n > NUMBER_MOST)
			mangled_fail(m);
	}
	return n;
}

size_t mangled_index(struct mangled *m)
{
	size_t n = 0;
	char c;

	if (mangled_take(m, '_'))
		return 0;
	while (c = mangled_peek(m), mangled_is_digit(c) || (c >= 'A' && c <= 'Z')) {
		n = n * 36 + (size_t)(mangled_is_digit(c) ? c - '0' : c - 'A' + 10);
		m->at++;
		if (n > NUMBER_MOST)
			mangled_fail(m);
	}
	mangled_want(m, '_');
	return n + 1;
}

bool mangled_enter(struct mangled *m)
{
	if (++m->depth > DEPTH_MOST)
		mangled_fail(m);
	return !m->failed;
}

void mangled_leave(struct mangled *m)
{
	m->depth--;
}

/* ---- what is written --------------------------------------------------------------------- */

static void write_bytes(struct mangled *m, const char *text, size_t bytes)
{
	if (m->quiet || m->failed || !bytes)
		return;
	if (m->n_out + bytes > m->cap_out) {
		m->cap_out = 2 * (m->n_out + bytes) + 64;
		m->out = xrealloc(m->out, m->cap_out);
	}
	memcpy(m->out + m->n_out, text, bytes);
	m->n_out += bytes;
}

void mangled_write(struct mangled *m, const char *text)
{
	write_bytes(m, text, strlen(text));
}

void mangled_add_part(struct mangled *m, const char *from, bool is_prefix)
{
	if (m->again || m->failed)
		return;
	*LIST_ADD(m, parts) = (struct mangled_part){from, m->at, is_prefix};
}

/* ---- components -------------------------------------------------------------------------- */

static void begin_component(struct mangled *m, size_t base)
{
	if (m->quiet)
		return;
	if (m->n_out > base)
		mangled_write(m, "::");
	m->last = m->n_out;
	m->lambda = false;
}

static void end_component(struct mangled *m)
{
	if (!m->quiet)
		m->last_bytes = m->n_out - m->last;
}

static bool is_anonymous(const char *name, size_t bytes)
{
	return bytes >= 10 && !memcmp(name, "_GLOBAL_", 8) && strchr("._$", name[8]) &&
	       name[9] == 'N';
}

void mangled_source_name(struct mangled *m)
{
	size_t bytes = mangled_number(m);
	const char *name = m->at;

	if (m->failed || !bytes || bytes > (size_t)(m->end - m->at)) {
		mangled_fail(m);
		return;
	}
	m->at += bytes;
	if (is_anonymous(name, bytes))
		mangled_write(m, "(anonymous)");
	else
		write_bytes(m, name, bytes);
}

/* Namespaces that tell versions of a library apart, and nothing to a reader. */
static bool take_inline_namespace(struct mangled *m)
{
	static const char *const names[] = {"7__cxx11", "3__1"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t bytes = strlen(names[i]);

		if ((size_t)(m->end - m->at) > bytes && !memcmp(m->at, names[i], bytes)) {
			m->at += bytes;
			return true;
		}
	}
	return false;
}

/* Ty, Tn and a type, Tk and a concept, Tp and one of these, Tt and some with an E: what a lambda
 * says of its own template parameters, before its parameters. */
static void template_param_declarations(struct mangled *m)
{
	char what;

	while (what = mangled_peek_2(m), mangled_peek(m) == 'T' && what && strchr("ynkpt", what)) {
		m->at += 2;
		if (what == 'n')
			mangled_type(m);
		else if (what == 'k')
			mangled_name(m);
		if (what != 't')
			continue;
		if (mangled_enter(m))
			template_param_declarations(m);
		mangled_leave(m);
		if (mangled_take(m, 'Q'))
			mangled_expression(m);
		mangled_want(m, 'E');
	}
}

/* Ul, its parameters, E, and a number; or Ut and a number. */
static void unnamed(struct mangled *m)
{
	bool is_lambda = m->at[1] == 'l';
	char text[48];

	m->at += 2;
	if (is_lambda) {
		m->quiet++;
		template_param_declarations(m);
		m->quiet--;
		mangled_types(m);
	}
	snprintf(text, sizeof(text), "{%s#%zu}", is_lambda ? "lambda" : "unnamed type",
		mangled_index(m) + 1);
	mangled_write(m, text);
	if (!m->quiet)
		m->lambda = is_lambda;
}

/* A constructor is called as the component before it, a destructor too, behind a tilde. */
static void structor(struct mangled *m, size_t last, size_t bytes)
{
	bool is_destructor = *m->at++ == 'D', is_inherited = mangled_take(m, 'I');
	char *name;

	if (!mangled_is_digit(mangled_peek(m))) {
		mangled_fail(m);
		return;
	}
	m->at++;
	if (is_inherited) {
		m->quiet++;
		mangled_type(m);
		m->quiet--;
	}
	if (m->quiet || m->failed)
		return;
	name = xasprintf("%s%.*s", is_destructor ? "~" : "", (int)bytes, m->out + last);
	mangled_write(m, name);
	free(name);
}

/* Names of variables that take one value apart: DC, identifiers, E. */
static void structured_binding(struct mangled *m)
{
	m->at += 2;
	mangled_write(m, "{");
	for (bool first = true; mangled_peek(m) && mangled_peek(m) != 'E'; first = false) {
		mangled_write(m, first ? "" : ",");
		mangled_source_name(m);
	}
	mangled_want(m, 'E');
	mangled_write(m, "}");
}

static void operator_name(struct mangled *m)
{
	const struct mangled_operator *o = mangled_operator(m);

	mangled_write(m, "operator");
	if (mangled_take_2(m, "cv")) {
		mangled_write(m, " ");
		mangled_type(m);
	} else if (mangled_take_2(m, "li")) {
		mangled_write(m, "\"\" ");
		mangled_source_name(m);
	} else if (mangled_peek(m) == 'v' && mangled_is_digit(mangled_peek_2(m))) {
		m->at += 2;
		mangled_write(m, " ");
		mangled_source_name(m);
	} else if (o) {
		m->at += 2;
		mangled_write(m, o->text[0] >= 'a' ? " " : "");
		mangled_write(m, o->text);
	} else {
		mangled_fail(m);
	}
}

static void any_component(struct mangled *m, size_t last, size_t last_bytes)
{
	char c = mangled_peek(m), next = mangled_peek_2(m);

	if (mangled_is_digit(c))
		mangled_source_name(m);
	else if (c == 'U' && (next == 'l' || next == 't'))
		unnamed(m);
	else if (c == 'D' && next == 'C')
		structured_binding(m);
	else if (c == 'C' || c == 'D')
		structor(m, last, last_bytes);
	else
		operator_name(m);
}

void mangled_component(struct mangled *m, size_t base)
{
	size_t last = m->last, last_bytes = m->last_bytes;

	if (mangled_is_digit(mangled_peek(m)) && take_inline_namespace(m))
		return;
	if (m->lambda && !m->quiet && mangled_take_2(m, "cl")) {
		m->lambda = false; /* "{lambda#1}" says enough without "::operator()" */
	} else {
		mangled_take(m, 'L'); /* static */
		mangled_take(m, 'F'); /* a friend */
		begin_component(m, base);
		any_component(m, last, last_bytes);
		end_component(m);
	}
	m->quiet++;
	while (mangled_take(m, 'B')) /* ABI tags */
		mangled_source_name(m);
	m->quiet--;
}

/* ---- names ------------------------------------------------------------------------------- */

/* One step of a nested name. False: it is no part of its own that S_ may stand for. */
static bool nested_step(struct mangled *m, size_t base, bool is_first)
{
	char c = mangled_peek(m), next = mangled_peek_2(m);

	if (c == 'S') {
		if (is_first)
			mangled_substitution(m);
		else
			mangled_fail(m);
		return false;
	}
	if (c == 'M') { /* a lambda in the initializer of a member */
		m->at++;
		return false;
	}
	if (c == 'I') {
		mangled_template_args(m);
	} else if (c == 'T') {
		begin_component(m, base);
		mangled_template_param(m);
		end_component(m);
	} else if (c == 'D' && (next == 't' || next == 'T')) {
		begin_component(m, base);
		mangled_type(m);
		end_component(m);
	} else {
		mangled_component(m, base);
	}
	return true;
}

/* Up to an E, or to the end of a part. */
static void nested(struct mangled *m, size_t base)
{
	const char *from = m->at;

	for (bool first = true; mangled_peek(m) && mangled_peek(m) != 'E'; first = false)
		if (nested_step(m, base, first) && mangled_peek(m) != 'E')
			mangled_add_part(m, from, true);
}

static void name_behind(struct mangled *m, size_t base);

/* Of several things of one name in a function: _3, or __12_. */
static void discriminator(struct mangled *m)
{
	char next = mangled_peek_2(m);

	if (mangled_peek(m) != '_' || !(next == '_' || mangled_is_digit(next)))
		return;
	m->at++;
	if (mangled_take(m, '_')) {
		mangled_number(m);
		mangled_want(m, '_');
	} else {
		m->at++;
	}
}

/* Z, a function, E, and what is in it. */
static void local(struct mangled *m, size_t base)
{
	m->at++;
	mangled_encoding(m);
	mangled_want(m, 'E');
	if (!mangled_take(m, 's')) {	    /* a string */
		if (mangled_take(m, 'd')) { /* a default argument */
			if (mangled_is_digit(mangled_peek(m)))
				mangled_number(m);
			mangled_want(m, '_');
		}
		name_behind(m, base);
	}
	discriminator(m);
}

static void qualifiers(struct mangled *m)
{
	while (mangled_take(m, 'r') || mangled_take(m, 'V') || mangled_take(m, 'K') ||
		mangled_take(m, 'R') || mangled_take(m, 'O') || mangled_take(m, 'H'))
		;
}

static void unscoped(struct mangled *m, size_t base)
{
	const char *from = m->at;
	bool is_part = mangled_peek(m) == 'S' && mangled_peek_2(m) != 't';

	if (mangled_peek(m) == 'S')
		mangled_substitution(m);
	if (!is_part)
		mangled_component(m, base);
	if (mangled_peek(m) != 'I')
		return;
	if (!is_part)
		mangled_add_part(m, from, true);
	mangled_template_args(m);
}

/* Behind what has been written since base, as a component of the same name. */
static void name_behind(struct mangled *m, size_t base)
{
	if (mangled_enter(m)) {
		if (mangled_take(m, 'N')) {
			qualifiers(m);
			nested(m, base);
			mangled_want(m, 'E');
		} else if (mangled_peek(m) == 'Z') {
			local(m, base);
		} else {
			unscoped(m, base);
		}
	}
	mangled_leave(m);
}

void mangled_name(struct mangled *m)
{
	name_behind(m, m->n_out);
}

static void read_again(struct mangled *m, const struct mangled_part *part)
{
	const char *at = m->at, *end = m->end;

	if (mangled_enter(m)) {
		m->at = part->from;
		m->end = part->to;
		m->again++;
		if (part->is_prefix)
			nested(m, m->n_out);
		else
			mangled_type(m);
		m->again--;
	}
	mangled_leave(m);
	m->at = at;
	m->end = end;
}

void mangled_substitution(struct mangled *m)
{
	static const struct {
		char letter;
		const char *name;
	} known[] = {{'t', NULL}, {'a', "allocator"}, {'b', "basic_string"}, {'s', "string"},
		{'i', "istream"}, {'o', "ostream"}, {'d', "iostream"}};
	size_t base = m->n_out, i;

	m->at++;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (!mangled_take(m, known[i].letter))
			continue;
		mangled_write(m, "std");
		if (known[i].name) {
			begin_component(m, base);
			mangled_write(m, known[i].name);
			end_component(m);
		}
		return;
	}
	i = mangled_index(m);
	if (m->quiet || m->failed)
		return;
	if (i < m->n_parts)
		read_again(m, &m->parts[i]);
	else
		mangled_fail(m);
}

/* ---- functions --------------------------------------------------------------------------- */

/* h12_, or v12_n3_: what a thunk adds to the pointer. */
static void call_offset(struct mangled *m)
{
	bool is_virtual = mangled_take(m, 'v');

	if (!is_virtual)
		mangled_want(m, 'h');
	for (int i = is_virtual ? 2 : 1; i; i--) {
		mangled_take(m, 'n');
		mangled_number(m);
		mangled_want(m, '_');
	}
}

/* What is made for a function or a class. Returns the words for it, or NULL. */
static const char *special(struct mangled *m)
{
	static const struct {
		char code[3];
		char what; /* t type, n name, f function; h v c f with call offsets */
		const char *words;
	} table[] = {{"Th", 'h', " [thunk]"}, {"Tv", 'v', " [thunk]"}, {"Tc", 'c', " [thunk]"},
		{"TV", 't', " [vtable]"}, {"TT", 't', " [VTT]"}, {"TI", 't', " [typeinfo]"},
		{"TS", 't', " [typeinfo name]"}, {"TW", 'n', " [TLS wrapper]"},
		{"TH", 'n', " [TLS init]"}, {"GV", 'n', " [guard]"}, {"GR", 'n', " [reference]"}};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!mangled_take_2(m, table[i].code))
			continue;
		if (table[i].what == 'h' || table[i].what == 'v')
			m->at--;
		for (int k = 0;
			k < (table[i].what == 'c' ? 2 : strchr("hv", table[i].what) != NULL); k++)
			call_offset(m);
		if (table[i].what == 't')
			mangled_type(m);
		else
			mangled_name(m);
		return table[i].words;
	}
	if (mangled_take_2(m, "GT")) {
		m->at += mangled_peek(m) != '\0';
		mangled_name(m);
		return " [transaction]";
	}
	return NULL;
}

void mangled_encoding(struct mangled *m)
{
	char c = mangled_peek(m);
	unsigned quiet = m->quiet;

	if (!mangled_enter(m) || ((c == 'T' || c == 'G') && !special(m)))
		mangled_fail(m);
	else if (c != 'T' && c != 'G')
		mangled_name(m);
	m->quiet++;
	while (mangled_peek(m) && mangled_peek(m) != 'E') {
		if (mangled_take(m, 'Q')) /* what it requires */
			mangled_expression(m);
		else
			mangled_type(m);
	}
	m->quiet = quiet;
	mangled_leave(m);
}

/* The types of the parameters are not looked into: that they may be some is enough. */
static bool may_be_types(const char *s, const char *end)
{
	for (; s < end; s++)
		if ((unsigned char)*s <= ' ' || (*s < '0' && *s != '$') || (*s > '9' && *s < 'A') ||
			(*s > 'Z' && *s < 'a' && *s != '_') || *s > 'z')
			return false;
	return true;
}

char *itanium_short(const char *mangled)
{
	struct mangled m = {.at = mangled + 2};
	const char *clone, *words = NULL;
	char *name = NULL;

	if (strncmp(mangled, "_Z", 2))
		return NULL;
	m.end = m.at + strlen(m.at);
	if (*m.at == 'T' || *m.at == 'G') {
		words = special(&m);
		if (!words)
			mangled_fail(&m);
	} else {
		mangled_name(&m);
	}
	clone = m.failed ? NULL : memchr(m.at, '.', (size_t)(m.end - m.at));
	if (!m.failed && m.n_out && may_be_types(m.at, clone ? clone : m.end))
		name = xasprintf("%.*s%s%s%s%s", (int)m.n_out, m.out, words ? words : "",
			clone ? " [clone " : "", clone ? clone : "", clone ? "]" : "");
	free(m.out);
	free(m.parts);
	return name;
}
