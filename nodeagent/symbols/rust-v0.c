/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of Rust as RFC 2603 has them, by descent through their grammar. A reference back (B) is
 * read once more where it is to be written, which may take exponential time: so steps are counted.
 * Constants that are neither integers nor bool nor char are not known: rustc has them by unstable
 * features only. An identifier that is not ASCII is shown as it is encoded.
 */
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/symbols/rust-internal.h"

#define DEPTH_MOST  500u
#define STEPS_MOST  20000u
#define STEP_BYTES  32u
#define NUMBER_MOST (UINT64_MAX / 128)

struct v0 {
	const char *begin, *at; /* behind "_R": positions count from there */
	struct rust_text *text;
	unsigned depth, steps;
	unsigned quiet; /* > 0: what is read is not written */
	uint64_t bound; /* lifetimes that are named here */
	bool is_short;
	bool failed; /* it stays so, and nothing is read any more */
};

struct identifier {
	const char *name;
	size_t bytes;
	bool is_encoded; /* Punycode */
};

static void path(struct v0 *v, bool in_value);
static void type(struct v0 *v);
static void constant(struct v0 *v);

/* ---- characters -------------------------------------------------------------------------- */

static char v0_peek(const struct v0 *v)
{
	return v->failed ? '\0' : *v->at;
}

static bool v0_take(struct v0 *v, char c)
{
	if (v0_peek(v) != c)
		return false;
	v->at++;
	return true;
}

static void v0_want(struct v0 *v, char c)
{
	if (!v0_take(v, c))
		v->failed = true;
}

/* The next one, or 0, and it has failed. */
static char v0_next(struct v0 *v)
{
	char c = v0_peek(v);

	if (c)
		v->at++;
	else
		v->failed = true;
	return c;
}

/* One level more; false, and it has failed, if there are too many, or all took too long. */
static bool v0_enter(struct v0 *v)
{
	if (++v->depth > DEPTH_MOST || ++v->steps > STEPS_MOST || v->text->failed)
		v->failed = true;
	return !v->failed;
}

static void v0_leave(struct v0 *v)
{
	v->depth--;
}

static void write_text(struct v0 *v, const char *s)
{
	if (!v->quiet && !v->failed)
		rust_write(v->text, s);
}

/* Digits of base 62 up to a "_": "_" is 0, "0_" is 1. */
static uint64_t base_62(struct v0 *v)
{
	uint64_t n = 0;

	if (v0_take(v, '_'))
		return 0;
	while (isalnum((unsigned char)v0_peek(v))) {
		char c = *v->at++;

		n = n * 62 + (uint64_t)(isdigit((unsigned char)c)   ? c - '0'
					: islower((unsigned char)c) ? c - 'a' + 10
								    : c - 'A' + 36);
		if (n > NUMBER_MOST) /* a hash of a crate: nobody needs it */
			n = NUMBER_MOST;
	}
	v0_want(v, '_');
	return n + 1;
}

/* Behind a letter that may be missing: then 0. */
static uint64_t optional_62(struct v0 *v, char letter)
{
	return v0_take(v, letter) ? base_62(v) + 1 : 0;
}

static struct identifier v0_identifier(struct v0 *v)
{
	struct identifier i = {.is_encoded = v0_take(v, 'u')};

	if (!isdigit((unsigned char)v0_peek(v)))
		v->failed = true;
	if (!v0_take(v, '0'))
		while (isdigit((unsigned char)v0_peek(v)) && i.bytes < SIZE_MAX / 16)
			i.bytes = i.bytes * 10 + (size_t)(*v->at++ - '0');
	v0_take(v, '_'); /* before a digit or another "_" */
	if (v->failed)
		return (struct identifier){.name = ""};
	i.name = v->at;
	for (size_t n = 0; n < i.bytes && !v->failed; n++)
		if (!isalnum((unsigned char)v0_next(v)) && !(v->at > v->begin && v->at[-1] == '_'))
			v->failed = true;
	return i;
}

static void write_identifier(struct v0 *v, struct identifier i)
{
	if (v->quiet || v->failed)
		return;
	rust_write(v->text, i.is_encoded ? "punycode{" : "");
	rust_write_bytes(v->text, i.name, i.bytes);
	rust_write(v->text, i.is_encoded ? "}" : "");
}

/* ---- what others are made of ------------------------------------------------------------- */

/*
 * Behind a B: reads by `what` what is there once more, or not if nothing of it is written. How
 * long it was counts as steps too.
 */
static bool back(struct v0 *v, bool (*what)(struct v0 *))
{
	const char *b = v->at - 1, *behind;
	uint64_t to = base_62(v);
	bool result;

	if (!v->failed && to >= (uint64_t)(b - v->begin))
		v->failed = true;
	if (v->failed || v->quiet)
		return false;
	behind = v->at;
	v->at = v->begin + to;
	result = what(v);
	v->steps += (unsigned)(v->at - v->begin - (ptrdiff_t)to) / STEP_BYTES;
	v->at = behind;
	return result;
}

/* Up to an E. Returns how many. */
static unsigned list(struct v0 *v, void (*what)(struct v0 *), const char *between)
{
	unsigned n = 0;

	for (; !v->failed && !v0_take(v, 'E'); n++) {
		write_text(v, n ? between : "");
		what(v);
	}
	return n;
}

/* 0 has no name; 1 is the one named last. */
static void lifetime(struct v0 *v, uint64_t index)
{
	uint64_t at = v->bound - index;
	char text[32] = "'_";

	if (index > v->bound)
		v->failed = true;
	else if (index && at < 26)
		snprintf(text, sizeof(text), "'%c", (int)('a' + at));
	else if (index)
		snprintf(text, sizeof(text), "'_%llu", (unsigned long long)at);
	write_text(v, text);
}

/* Names lifetimes for what follows; the caller takes them back. */
static uint64_t bind_lifetimes(struct v0 *v)
{
	uint64_t n = optional_62(v, 'G');

	if (n > 64) { /* nobody writes so many */
		v->failed = true;
		return 0;
	}
	write_text(v, n ? "for<" : "");
	for (uint64_t i = 0; i < n; i++) {
		v->bound++;
		write_text(v, i ? ", " : "");
		lifetime(v, 1);
	}
	write_text(v, n ? "> " : "");
	return n;
}

static void generic_arg(struct v0 *v)
{
	if (v0_take(v, 'L'))
		lifetime(v, base_62(v));
	else if (v0_take(v, 'K'))
		constant(v);
	else
		type(v);
}

/* ---- types ------------------------------------------------------------------------------- */

static const char *basic(char letter)
{
	static const char *const names[26] = {"i8", "bool", "char", "f64", "str", "f32", NULL, "u8",
		"isize", "usize", NULL, "i32", "u32", "i128", "u128", "_", NULL, NULL, "i16", "u16",
		"()", "...", NULL, "i64", "u64", "!"};

	return letter >= 'a' && letter <= 'z' ? names[letter - 'a'] : NULL;
}

static void reference(struct v0 *v, bool is_mutable)
{
	uint64_t index = v0_take(v, 'L') ? base_62(v) : 0;

	write_text(v, "&");
	if (index) {
		lifetime(v, index);
		write_text(v, " ");
	}
	write_text(v, is_mutable ? "mut " : "");
	type(v);
}

static void function(struct v0 *v)
{
	uint64_t bound = bind_lifetimes(v);

	write_text(v, v0_take(v, 'U') ? "unsafe " : "");
	if (v0_take(v, 'K')) {
		write_text(v, "extern \"");
		if (v0_take(v, 'C'))
			write_text(v, "C");
		else
			write_identifier(v, v0_identifier(v));
		write_text(v, "\" ");
	}
	write_text(v, "fn(");
	list(v, type, ", ");
	write_text(v, ")");
	if (!v0_take(v, 'u')) {
		write_text(v, " -> ");
		type(v);
	}
	v->bound -= bound;
}

/* A path whose generic arguments, if it has some, are not closed yet: true. */
static bool open_path(struct v0 *v)
{
	bool is_open = false;

	if (v0_enter(v) && v0_take(v, 'B')) {
		is_open = back(v, open_path);
	} else if (v0_take(v, 'I')) {
		path(v, false);
		v->quiet += v->is_short;
		write_text(v, "<");
		list(v, generic_arg, ", ");
		v->quiet -= v->is_short;
		is_open = true;
	} else {
		path(v, false);
	}
	v0_leave(v);
	return is_open;
}

/* A trait, with what its types are. */
static void bound_trait(struct v0 *v)
{
	bool is_open = open_path(v);

	v->quiet += v->is_short;
	while (v0_take(v, 'p')) {
		write_text(v, is_open ? ", " : "<");
		is_open = true;
		write_identifier(v, v0_identifier(v));
		write_text(v, " = ");
		type(v);
	}
	write_text(v, is_open ? ">" : "");
	v->quiet -= v->is_short;
}

static void any_trait(struct v0 *v)
{
	uint64_t bound, index;

	write_text(v, "dyn ");
	bound = bind_lifetimes(v);
	list(v, bound_trait, " + ");
	v->bound -= bound;
	v0_want(v, 'L');
	index = base_62(v);
	if (index) {
		write_text(v, " + ");
		lifetime(v, index);
	}
}

static void array(struct v0 *v, bool has_length)
{
	write_text(v, "[");
	type(v);
	if (has_length) {
		write_text(v, "; ");
		constant(v);
	}
	write_text(v, "]");
}

static bool type_again(struct v0 *v)
{
	type(v);
	return true;
}

static void any_type(struct v0 *v)
{
	char c = v0_next(v);

	if (basic(c)) {
		write_text(v, basic(c));
	} else if (c == 'R' || c == 'Q') {
		reference(v, c == 'Q');
	} else if (c == 'P' || c == 'O') {
		write_text(v, c == 'P' ? "*const " : "*mut ");
		type(v);
	} else if (c == 'A' || c == 'S') {
		array(v, c == 'A');
	} else if (c == 'T') {
		write_text(v, "(");
		write_text(v, list(v, type, ", ") == 1 ? ",)" : ")");
	} else if (c == 'F') {
		function(v);
	} else if (c == 'D') {
		any_trait(v);
	} else if (c == 'B') {
		back(v, type_again);
	} else if (c) {
		v->at--;
		path(v, false);
	}
}

static void type(struct v0 *v)
{
	if (v0_enter(v))
		any_type(v);
	v0_leave(v);
}

/* ---- constants --------------------------------------------------------------------------- */

/* Digits of base 16 up to a "_". Writes them as they are if they are too many for a number. */
static bool v0_hexadecimal(struct v0 *v, uint64_t *n, const char **digits, size_t *bytes)
{
	*n = 0;
	*digits = v->at;
	for (*bytes = 0;
		isdigit((unsigned char)v0_peek(v)) || (v0_peek(v) >= 'a' && v0_peek(v) <= 'f');
		++*bytes) {
		char c = *v->at++;

		*n = *n << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
	}
	v0_want(v, '_');
	return *bytes <= 16;
}

static void number(struct v0 *v, char kind)
{
	bool is_negative = strchr("aslxni", kind) && v0_take(v, 'n'), fits;
	const char *digits;
	char text[32];
	size_t bytes;
	uint64_t n;

	fits = v0_hexadecimal(v, &n, &digits, &bytes);
	if (v->quiet || v->failed)
		return;
	write_text(v, is_negative ? "-" : "");
	if (!fits) {
		write_text(v, "0x");
		rust_write_bytes(v->text, digits, bytes);
	} else if (kind == 'b') {
		write_text(v, n ? "true" : "false");
	} else if (kind == 'c') {
		write_text(v, "'");
		rust_write_character(v->text, n <= 0x10ffff ? (unsigned)n : 0xfffd);
		write_text(v, "'");
	} else {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
		write_text(v, text);
	}
}

static bool constant_again(struct v0 *v)
{
	constant(v);
	return true;
}

static void constant(struct v0 *v)
{
	if (v0_enter(v)) {
		char c = v0_next(v);

		if (c == 'p')
			write_text(v, "_");
		else if (c == 'B')
			back(v, constant_again);
		else if (c && strchr("aslxnihtmyojbc", c))
			number(v, c);
		else
			v->failed = true;
	}
	v0_leave(v);
}

/* ---- paths ------------------------------------------------------------------------------- */

/* N, a name space, a path, and the identifier in it; that of a closure has a number. */
static void v0_nested(struct v0 *v, bool in_value)
{
	char space = v0_next(v), number[32];
	struct identifier i;
	uint64_t index;

	if (!isalpha((unsigned char)space))
		v->failed = true;
	path(v, in_value);
	index = optional_62(v, 's');
	i = v0_identifier(v);
	if (islower((unsigned char)space)) {
		write_text(v, i.bytes ? "::" : "");
		if (i.bytes)
			write_identifier(v, i);
		return;
	}
	snprintf(number, sizeof(number),
		space == 'C'   ? "closure"
		: space == 'S' ? "shim"
			       : "%c",
		space);
	write_text(v, "::{");
	write_text(v, number);
	write_text(v, i.bytes ? ":" : "");
	if (i.bytes)
		write_identifier(v, i);
	snprintf(number, sizeof(number), "#%llu}", (unsigned long long)index);
	write_text(v, number);
}

static void generic(struct v0 *v, bool in_value)
{
	path(v, in_value);
	v->quiet += v->is_short;
	write_text(v, in_value ? "::<" : "<");
	list(v, generic_arg, ", ");
	write_text(v, ">");
	v->quiet -= v->is_short;
}

/* M and X: where the implementation is, which is not shown; the type; of X and Y a trait. */
static void implementation(struct v0 *v, char kind)
{
	if (kind != 'Y') {
		v->quiet++;
		optional_62(v, 's');
		path(v, false);
		v->quiet--;
	}
	write_text(v, "<");
	type(v);
	if (kind != 'M') {
		write_text(v, " as ");
		path(v, false);
	}
	write_text(v, ">");
}

static bool value_again(struct v0 *v)
{
	path(v, true);
	return true;
}

static bool path_again(struct v0 *v)
{
	path(v, false);
	return true;
}

static void path(struct v0 *v, bool in_value)
{
	char c;

	if (v0_enter(v)) {
		c = v0_next(v);
		if (c == 'C') {
			optional_62(v, 's');
			write_identifier(v, v0_identifier(v));
		} else if (c == 'N') {
			v0_nested(v, in_value);
		} else if (c == 'I') {
			generic(v, in_value);
		} else if (c == 'M' || c == 'X' || c == 'Y') {
			implementation(v, c);
		} else if (c == 'B') {
			back(v, in_value ? value_again : path_again);
		} else {
			v->failed = true;
		}
	}
	v0_leave(v);
}

bool rust_v0(struct rust_text *text, const char *mangled, bool is_short, const char **end)
{
	struct v0 v = {.begin = mangled, .at = mangled, .text = text, .is_short = is_short};

	path(&v, true);
	if (isupper((unsigned char)v0_peek(
		    &v))) { /* the crate that wanted these generic arguments */
		v.quiet++;
		path(&v, false);
	}
	*end = v.at;
	return !v.failed;
}
