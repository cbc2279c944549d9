/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The streaming JSON reader. Files of 100 000 call paths are read in a fraction
 * of a second: texts are copied in runs, numbers are made from their digits, and
 * what nobody asks for is only walked over.
 */
#include "nodeagent/base/json-read.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define BUFFER_BYTES (64u << 10)
#define NUMBER_MAX   400 /* characters; doubles as %f are shorter */

void text_store_room(struct text_store *to, size_t n)
{
	if (to->cap - to->n >= n)
		return;
	to->cap += to->cap / 2 + n + 4096;
	to->bytes = xrealloc(to->bytes, to->cap);
}

void text_store_add(struct text_store *to, const char *bytes, size_t n)
{
	text_store_room(to, n);
	memcpy(to->bytes + to->n, bytes, n);
	to->n += n;
}

void json_in_begin(struct json_in *j, FILE *f)
{
	*j = (struct json_in){.f = f, .buf = xmalloc(BUFFER_BYTES), .line = 1};
}

void json_in_fail(struct json_in *j, const char *why)
{
	if (!j->error)
		j->error = xasprintf("line %lu: %s", j->line, why);
	j->at = j->end = 0;
}

/* False at the end of the file, and after an error. */
static bool refill(struct json_in *j)
{
	if (j->error)
		return false;
	j->at = 0;
	j->end = fread(j->buf, 1, BUFFER_BYTES, j->f);
	if (!j->end && ferror(j->f))
		j->error = xasprintf("it can't be read: %s", strerror(errno));
	return j->end > 0;
}

static inline int peek(struct json_in *j)
{
	return j->at < j->end || refill(j) ? j->buf[j->at] : EOF;
}

static inline int next(struct json_in *j)
{
	return j->at < j->end || refill(j) ? j->buf[j->at++] : EOF;
}

static int next_token(struct json_in *j)
{
	int c;

	while ((c = peek(j)) == ' ' || c == '\n' || c == '\t' || c == '\r') {
		j->line += c == '\n';
		j->at++;
	}
	return c;
}

static void unexpected(struct json_in *j, const char *wanted)
{
	char *why;
	int c = peek(j);

	if (j->error)
		return;
	if (c == EOF)
		why = xasprintf("the file ends where %s should be", wanted);
	else if (c > ' ' && c < 0x7f)
		why = xasprintf("`%c' where %s should be", c, wanted);
	else
		why = xasprintf("byte 0x%02x where %s should be", (unsigned)c, wanted);
	json_in_fail(j, why);
	free(why);
}

/* First byte of the next value: { [ " t f n, a digit or -; 0 after an error. */
static int next_type(struct json_in *j)
{
	int c = next_token(j);

	return c == EOF ? 0 : c;
}

int json_in_next(struct json_in *j)
{
	return next_type(j);
}

static bool open_level(struct json_in *j, char open, char close, const char *wanted)
{
	if (next_token(j) != open) {
		unexpected(j, wanted);
		return false;
	}
	j->at++;
	if (j->depth + 1 == JSON_IN_DEPTH_MAX) {
		json_in_fail(j, "it is nested too deeply");
		return false;
	}
	j->depth++;
	j->filled[j->depth] = false;
	j->close[j->depth] = close;
	return true;
}

/* True if the innermost level has another element; else leaves the level. */
static bool another(struct json_in *j)
{
	int c = next_token(j);

	if (j->error || !j->depth)
		return false;
	if (c == j->close[j->depth]) {
		j->at++;
		j->depth--;
		return false;
	}
	if (j->filled[j->depth]) {
		if (c != ',') {
			unexpected(j, j->close[j->depth] == '}' ? "`,' or `}'" : "`,' or `]'");
			return false;
		}
		j->at++;
		next_token(j);
	}
	j->filled[j->depth] = true;
	return !j->error;
}

void json_in_object(struct json_in *j)
{
	open_level(j, '{', '}', "an object");
}

void json_in_array(struct json_in *j)
{
	open_level(j, '[', ']', "an array");
}

bool json_in_element(struct json_in *j)
{
	return another(j);
}

/* ---- texts ------------------------------------------------------------------- */

static unsigned hex4(struct json_in *j)
{
	unsigned code = 0;

	for (int i = 0; i < 4; i++) {
		int c = next(j);

		code <<= 4;
		if (c >= '0' && c <= '9')
			code |= (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			code |= (unsigned)((c | 0x20) - 'a' + 10);
		else
			json_in_fail(j, "\\u without four hexadecimal digits");
	}
	return code;
}

static size_t utf8_put(char *to, unsigned code)
{
	if (code < 0x80) {
		to[0] = (char)(code ? code : '?');
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

/* Reads the digits after \u. Half of a surrogate pair becomes U+FFFD. */
static unsigned unicode(struct json_in *j)
{
	unsigned code = hex4(j), low;

	if (code < 0xd800 || code > 0xdfff)
		return code;
	if (code > 0xdbff || peek(j) != '\\')
		return 0xfffd;
	j->at++;
	if (next(j) != 'u') {
		json_in_fail(j, "half a pair of \\u escapes");
		return 0xfffd;
	}
	low = hex4(j);
	if (low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

/* Reads an escape after its backslash; returns the number of bytes written to `to`. */
static size_t escape(struct json_in *j, char *to)
{
	static const char from[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	int c = next(j);
	const char *known = c > 0 ? strchr(from, c) : NULL;

	if (c == 'u')
		return utf8_put(to, unicode(j));
	if (!known || !*known) {
		json_in_fail(j, "an escape that JSON does not have");
		return 0;
	}
	*to = plain[known - from];
	return 1;
}

static inline bool is_plain(unsigned char c)
{
	return c != '"' && c != '\\' && c >= 0x20;
}

/* Whether 8 bytes are plain, as is_plain(); by bit 7 of each byte, which bytes from 0x80 have, too,
 * so that those are looked at one by one. */
static inline bool are_plain(const unsigned char *bytes)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t all, quote, escape;

	memcpy(&all, bytes, sizeof(all));
	quote = all ^ ones * '"';
	escape = all ^ ones * '\\';
	return !((all | (all - ones * 0x20) | (quote - ones) | (escape - ones)) & ones * 0x80);
}

static void skip_plain(struct json_in *j)
{
	while (j->end - j->at >= 8 && are_plain(j->buf + j->at))
		j->at += 8;
	while (j->at < j->end && is_plain(j->buf[j->at]))
		j->at++;
}

/* Reads a text; put(bytes, n) takes its parts, where `to` is not NULL. */
static void read_text(struct json_in *j, struct text_store *to)
{
	if (next_token(j) != '"') {
		unexpected(j, "a text");
		return;
	}
	j->at++;
	for (;;) {
		size_t from;
		char code[4];
		int c = peek(j);

		if (c == EOF) {
			json_in_fail(j, "the file ends inside of a text");
			return;
		}
		from = j->at;
		skip_plain(j);
		if (to && j->at > from)
			text_store_add(to, (char *)j->buf + from, j->at - from);
		if (j->at == j->end)
			continue;
		c = next(j);
		if (c == '"')
			return;
		if (c != '\\') {
			json_in_fail(j, "a control character inside of a text");
			return;
		}

		size_t n = escape(j, code);

		if (to && n)
			text_store_add(to, code, n);
	}
}

static const char *read_key(struct json_in *j)
{
	struct text_store key = {0};
	size_t n;

	/* most keys lie in the buffer as they are */
	if (j->at < j->end && j->buf[j->at] == '"') {
		for (n = 1; j->at + n < j->end && is_plain(j->buf[j->at + n]); n++)
			;
		if (j->at + n < j->end && j->buf[j->at + n] == '"' && n <= sizeof(j->key)) {
			memcpy(j->key, j->buf + j->at + 1, n - 1);
			j->key[n - 1] = '\0';
			j->at += n + 1;
			goto colon;
		}
	}
	read_text(j, &key);
	n = key.n < sizeof(j->key) ? key.n : sizeof(j->key) - 1;
	if (n)
		memcpy(j->key, key.bytes, n);
	j->key[n] = '\0';
	free(key.bytes);
colon:
	if (next_token(j) != ':') {
		unexpected(j, "`:'");
		return NULL;
	}
	j->at++;
	return j->key;
}

const char *json_in_member(struct json_in *j)
{
	return another(j) ? read_key(j) : NULL;
}

static bool read_word(struct json_in *j, const char *w)
{
	for (; *w; w++)
		if (next(j) != *w) {
			json_in_fail(j, "a word that JSON does not have");
			return false;
		}
	return true;
}

size_t json_in_text(struct json_in *j, struct text_store *to)
{
	size_t at = to->n;

	if (next_type(j) == 'n')
		read_word(j, "null");
	else
		read_text(j, to);
	text_store_add(to, "", 1);
	return at;
}

/* ---- numbers ------------------------------------------------------------------ */

static bool in_number(int c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* False for null, which is 0, and after an error. */
static bool read_number(struct json_in *j, char *digits)
{
	size_t n = 0;
	int c = next_type(j);

	if (c == 'n') {
		read_word(j, "null");
		return false;
	}
	if (c != '-' && (c < '0' || c > '9')) {
		unexpected(j, "a number");
		return false;
	}
	/* most numbers lie in the buffer as they are */
	while (n < 32 && j->at < j->end && in_number(j->buf[j->at]))
		digits[n++] = (char)j->buf[j->at++];
	while (in_number(peek(j)) && n < NUMBER_MAX)
		digits[n++] = (char)j->buf[j->at++];
	digits[n] = '\0';
	if (n == NUMBER_MAX)
		json_in_fail(j, "a number of 400 characters or more");
	return !j->error;
}

uint64_t json_in_uint(struct json_in *j)
{
	char digits[NUMBER_MAX + 1];
	uint64_t value = 0;

	if (!read_number(j, digits))
		return 0;
	for (const char *s = digits; *s; s++) {
		unsigned digit = (unsigned)(*s - '0');

		if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
			json_in_fail(j, "a number that is no count of 64 bits");
			return 0;
		}
		value = value * 10 + digit;
	}
	return value;
}

/* DIGITS.DIGITS with at most 19 digits; everything else is left to strtod(). */
static bool simple(const char *s, double *value)
{
	static const double power[] = {
		1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
	uint64_t all = 0;
	size_t digits = 0, behind = 0;
	bool point = false;

	for (; *s; s++) {
		if (*s == '.' && !point) {
			point = true;
			continue;
		}
		if (*s < '0' || *s > '9' || ++digits > 18)
			return false;
		all = all * 10 + (uint64_t)(*s - '0');
		behind += point;
	}
	if (behind >= ARRAY_SIZE(power) || all >> 53)
		return false;
	*value = (double)all / power[behind];
	return true;
}

double json_in_real(struct json_in *j)
{
	char digits[NUMBER_MAX + 1], *end;
	double value;

	if (!read_number(j, digits))
		return 0.0;
	if (simple(digits, &value))
		return value;
	value = strtod(digits, &end);
	if (*end || !isfinite(value)) {
		json_in_fail(j, "something that is no number");
		return 0.0;
	}
	return value;
}

static bool long_integer(const char *digits, int64_t *value)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(digits, &end, 10);
	if (errno || *end)
		return false;
	*value = n;
	return true;
}

/* Whether these are an integer of 64 bits with its sign. */
static bool integer(const char *digits, int64_t *value)
{
	const bool minus = *digits == '-';
	const char *s = digits + minus;
	uint64_t n = 0;

	for (; *s >= '0' && *s <= '9' && s - digits < 18; s++)
		n = 10 * n + (uint64_t)(*s - '0');
	if (!*s && s > digits + minus) {
		*value = minus ? -(int64_t)n : (int64_t)n;
		return true;
	}
	return !strpbrk(s, ".eE") && long_integer(digits, value);
}

/* As integer() or simple() of what lies in the buffer; most numbers do. False: it is left there. */
static bool plain_number(struct json_in *j, struct json_in_value *v)
{
	static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
	const unsigned char *s = j->buf + j->at, *const end = s + 18, *point = NULL, *from;
	const bool minus = *s == '-';
	size_t behind;
	uint64_t n = 0;

	if (j->end - j->at < 32)
		return false;
	s += minus;
	for (from = s; s < end; s++)
		if (*s >= '0' && *s <= '9')
			n = 10 * n + (uint64_t)(*s - '0');
		else if (*s == '.' && !point)
			point = s;
		else
			break;
	behind = point ? (size_t)(s - point - 1) : 0;
	if (s == from || in_number(*s) ||
		(point && (!behind || point == from || behind >= ARRAY_SIZE(power) || n >> 53)))
		return false;
	v->kind = point ? JSON_IN_REAL : JSON_IN_INTEGER;
	if (point)
		v->real = (minus ? -1.0 : 1.0) * ((double)n / power[behind]);
	else
		v->integer = minus ? -(int64_t)n : (int64_t)n;
	j->at += (size_t)(s - (j->buf + j->at));
	return true;
}

struct json_in_value json_in_value(struct json_in *j, struct text_store *to)
{
	struct json_in_value v = {.kind = JSON_IN_NULL};
	char digits[NUMBER_MAX + 1], *end;
	const int c = next_type(j);

	if (c == '"') {
		v.text = json_in_text(j, to);
		v.kind = JSON_IN_TEXT;
	} else if (c == 't' || c == 'f') {
		v.integer = read_word(j, c == 't' ? "true" : "false") && c == 't';
		v.kind = JSON_IN_BOOL;
	} else if (!plain_number(j, &v) && read_number(j, digits)) {
		v.kind = integer(digits, &v.integer) ? JSON_IN_INTEGER : JSON_IN_REAL;
		if (v.kind == JSON_IN_INTEGER || simple(digits, &v.real))
			return v;
		v.real = strtod(digits, &end);
		if (*end || !isfinite(v.real))
			json_in_fail(j, "something that is no number");
	}
	return v;
}

/* ---- the rest ------------------------------------------------------------------- */

static void skip_level(struct json_in *j, bool members)
{
	if (members) {
		json_in_object(j);
		while (json_in_member(j))
			json_in_skip(j);
	} else {
		json_in_array(j);
		while (json_in_element(j))
			json_in_skip(j);
	}
}

void json_in_skip(struct json_in *j)
{
	int c = next_type(j);

	switch (c) {
	case '{':
	case '[':
		skip_level(j, c == '{');
		break;
	case '"':
		read_text(j, NULL);
		break;
	case 't':
		read_word(j, "true");
		break;
	case 'f':
		read_word(j, "false");
		break;
	case 'n':
		read_word(j, "null");
		break;
	default:
		if (c != '-' && (c < '0' || c > '9')) {
			unexpected(j, "a value");
			break;
		}
		while (in_number(peek(j)))
			j->at++;
	}
}

char *json_in_end(struct json_in *j)
{
	char *error;

	if (!j->error && j->depth)
		json_in_fail(j, "it is not complete");
	if (next_token(j) != EOF)
		unexpected(j, "the end of the file");
	error = j->error;
	free(j->buf);
	*j = (struct json_in){0};
	return error;
}
