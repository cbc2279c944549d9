/* SPDX-License-Identifier: BSD-3-Clause */
/* The streaming JSON writer. */
#include "nodeagent/base/json-write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/utf8.h"
#include "nodeagent/base/digits.h"

static __attribute__((noinline)) void flush(struct json *j)
{
	const size_t n = j->bytes < JSON_PIECE ? j->bytes : JSON_PIECE;

	fwrite_unlocked(j->kept, 1, n, j->f);
	j->bytes -= n;
	memcpy(j->kept, j->kept + n, j->bytes); /* JSON_ROOM or less */
}

static void put_char(struct json *j, char c)
{
	if (j->bytes == sizeof(j->kept))
		flush(j);
	j->kept[j->bytes++] = c;
}

static void put_bytes(struct json *j, const char *text, size_t n)
{
	while (n > sizeof(j->kept) - j->bytes) {
		const size_t part = sizeof(j->kept) - j->bytes;

		memcpy(j->kept + j->bytes, text, part);
		j->bytes += part;
		text += part;
		n -= part;
		flush(j);
	}
	memcpy(j->kept + j->bytes, text, n);
	j->bytes += n;
}

static void put_word(struct json *j, const char *word)
{
	put_bytes(j, word, strlen(word));
}

/* Room for JSON_ROOM bytes; the caller sets j->bytes to where they end. */
static inline char *kept_room(struct json *j)
{
	if (__builtin_expect(sizeof(j->kept) - j->bytes < JSON_ROOM, 0))
		flush(j);
	return j->kept + j->bytes;
}

static void end_at(struct json *j, const char *end)
{
	j->bytes = (size_t)(end - j->kept);
}

static bool is_plain(char c)
{
	static const bool plain[256] = {
		[' ' ... '!'] = true, ['#' ... '['] = true, [']' ... '~'] = true};

	return plain[(unsigned char)c];
}

#define EIGHT_OF(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Has one of eight bytes the value 0? Warren, Hacker's Delight, 6-1. */
static uint64_t has_zero(uint64_t bytes)
{
	return (bytes - EIGHT_OF(1)) & ~bytes & EIGHT_OF(0x80);
}

static bool are_plain(const char *text)
{
	uint64_t bytes;

	memcpy(&bytes, text, sizeof(bytes));
	return !((bytes & EIGHT_OF(0x80)) | ((bytes - EIGHT_OF(0x20)) & ~bytes & EIGHT_OF(0x80)) |
		 has_zero(bytes ^ EIGHT_OF('"')) | has_zero(bytes ^ EIGHT_OF('\\')) |
		 has_zero(bytes ^ EIGHT_OF(0x7f)));
}

/* Bytes of n that text begins with and that are written as they are. */
static size_t plain_bytes(const char *text, size_t n)
{
	size_t i = 0;

	while (n - i >= sizeof(uint64_t) && are_plain(text + i))
		i += sizeof(uint64_t);
	while (i < n && is_plain(text[i]))
		i++;
	return i;
}

/* What is not written as it is: *text begins with it, and goes on behind it. Returns the end. */
static char *escape_one(char *to, const char **text)
{
	uint32_t code;
	const size_t n = utf8_length(*text, &code);

	if (!n) {
		++*text;
		return mempcpy(to, "\\ufffd", 6);
	}
	if (code == '"' || code == '\\') {
		*to++ = '\\';
	} else if (!utf8_is_visible(code)) { /* the same text for who parses it */
		const uint32_t pair = code - 0x10000;

		*text += n;
		if (code < 0x10000)
			return to + sprintf(to, "\\u%04x", (unsigned)code);
		return to + sprintf(to, "\\u%04x\\u%04x", 0xd800u | (unsigned)(pair >> 10),
				    0xdc00u | (unsigned)(pair & 0x3ff));
	}
	to = mempcpy(to, *text, n);
	*text += n;
	return to;
}

char *json_escape(char *to, const char *text)
{
	const char *const end = text + strlen(text);

	while (text < end) {
		const size_t n = plain_bytes(text, (size_t)(end - text));

		to = mempcpy(to, text, n);
		text += n;
		if (text < end)
			to = escape_one(to, &text);
	}
	return to;
}

static void put_text(struct json *j, const char *text)
{
	const char *const end = text + strlen(text);

	put_char(j, '"');
	while (text < end) {
		const size_t n = plain_bytes(text, (size_t)(end - text));

		put_bytes(j, text, n);
		text += n;
		if (text < end)
			end_at(j, escape_one(kept_room(j), &text));
	}
	put_char(j, '"');
}

static void put_key(struct json *j, const char *key)
{
	put_text(j, key);
	put_char(j, ':');
}

/* ---- values that are handed over: what a reader makes of their texts ----------------------- */

/* None of this is on the way of what a stream gets. */
#define ASIDE __attribute__((noinline, cold))

static ASIDE void hand(struct json *j, const char *key, struct json_value v)
{
	j->take(j->ctx, key, &v);
}

static struct json_value integer_value(int64_t value)
{
	return (struct json_value){.kind = JSON_INTEGER, .integer = value};
}

static struct json_value real_value(double value)
{
	return isfinite(value) ? (struct json_value){.kind = JSON_REAL, .real = value}
			       : (struct json_value){.kind = JSON_NULL};
}

static ASIDE void hand_integer(struct json *j, const char *key, int64_t value)
{
	hand(j, key, integer_value(value));
}

static ASIDE void hand_real(struct json *j, const char *key, double value)
{
	hand(j, key, real_value(value));
}

/* As %.17g, which writes integers below 1e17 without a point. */
static struct json_value number_value(double value)
{
	return fabs(value) < 1e17 && rint(value) == value ? integer_value((int64_t)value)
							  : real_value(value);
}

static ASIDE void hand_uint(struct json *j, const char *key, uint64_t value)
{
	hand(j, key, value > INT64_MAX ? real_value((double)value) : integer_value((int64_t)value));
}

static ASIDE void hand_bool(struct json *j, const char *key, bool value)
{
	hand(j, key, (struct json_value){.kind = JSON_BOOL, .integer = value});
}

static ASIDE void hand_text(struct json *j, const char *key, const char *text)
{
	hand(j, key, (struct json_value){.kind = text ? JSON_TEXT : JSON_NULL, .text = text});
}

static ASIDE void hand_hex(struct json *j, const char *key, uint64_t value)
{
	char text[17];

	*digits_hex(text, value) = '\0';
	hand_text(j, key, text);
}

static ASIDE void hand_number(struct json *j, const char *key, double value)
{
	hand(j, key, number_value(value));
}

/*
 * As %.9f. n / 1e9 is rounded as a reader rounds the digits of n, below 2^53. value * 1e9 is off by
 * at most 2^-11 below 2^43, so that it is rounded to the same n as those digits, unless it is next
 * to a half.
 */
static ASIDE double nine_decimals(double value)
{
	const double n = value * 1e9, whole = rint(n);
	char text[352];

	if (!isfinite(value))
		return value;
	if (fabs(n) < 0x1p43 && fabs(fabs(n - whole) - 0.5) > 1e-3)
		return whole / 1e9;
	snprintf(text, sizeof(text), "%.9f", value);
	return strtod(text, NULL);
}

static ASIDE double seconds_of(uint64_t ns)
{
	char text[DIGITS_MOST + 1];

	if (ns < (uint64_t)1 << 53)
		return (double)ns / 1e9;
	*digits_seconds(text, ns) = '\0';
	return strtod(text, NULL);
}

char *json_text(char *to, const char *text)
{
	const char *const end = text + strlen(text);

	while (text < end) {
		const size_t n = plain_bytes(text, (size_t)(end - text));
		uint32_t code;
		size_t more;

		to = mempcpy(to, text, n);
		text += n;
		if (text == end)
			break;
		more = utf8_length(text, &code);
		to = more ? mempcpy(to, text, more) : mempcpy(to, "\xef\xbf\xbd", 3);
		text += more ?: 1;
	}
	return to;
}

/* -------------------------------------------------------------------------------------------- */

static void new_line(struct json *j)
{
	put_char(j, '\n');
	for (unsigned i = 0; i < j->depth; i++)
		put_char(j, '\t');
}

static void begin_element(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth])
			put_char(j, ',');
		j->filled[j->depth] = true;
		if (j->depth <= j->lines)
			new_line(j);
	}
	if (key)
		put_key(j, key);
}

struct json_key json_key_of(const char *key)
{
	struct json_key k = {.key = key};
	const size_t n = strlen(key);

	if (n + 4 <= JSON_KEY_BYTES && plain_bytes(key, n) == n)
		k.bytes = (uint8_t)sprintf(k.text, ",\"%s\":", key);
	return k;
}

const struct json_key json_element = {.bytes = 1, .text = ","};

static __attribute__((noinline)) char *begin_commonly(struct json *j, const char *key)
{
	begin_element(j, key);
	return kept_room(j);
}

/* Begins an element; then as kept_room(). */
static inline char *begin_value(struct json *j, const char *key)
{
	const struct json_key *next = j->next;
	char *to;
	bool first;

	if (!next || next->key != key || !next->bytes || j->depth <= j->lines)
		return begin_commonly(j, key);
	first = !j->filled[j->depth];
	j->filled[j->depth] = true;
	to = kept_room(j);
	memcpy(to, next->text + first, JSON_KEY_BYTES);
	return to + next->bytes - first;
}

char *json_run(struct json *j)
{
	return j->take || !j->filled[j->depth] || j->depth <= j->lines ? NULL : kept_room(j);
}

void json_run_end(struct json *j, const char *to)
{
	end_at(j, to);
}

/* The caller may write to the stream itself, before and after what is outermost. */
static void end_element(struct json *j)
{
	while (!j->depth && j->bytes)
		flush(j);
}

static void open_level(struct json *j, const char *key, char open, char close)
{
	char *to;

	if (j->take) {
		hand(j, key, (struct json_value){.kind = open == '{' ? JSON_OBJECT : JSON_ARRAY});
		return;
	}
	to = begin_value(j, key);
	*to++ = open;
	end_at(j, to);
	j->depth++;
	j->filled[j->depth] = false;
	j->close[j->depth] = close;
}

void json_begin(struct json *j, FILE *f, unsigned lines)
{
	j->f = f;
	j->take = NULL;
	j->depth = 0;
	j->lines = lines;
	j->next = NULL;
	j->bytes = 0;
}

void json_hand(struct json *j, json_take *take, void *ctx)
{
	j->take = take;
	j->ctx = ctx;
	j->next = NULL;
}

bool json_is_handed(const struct json *j)
{
	return j->take;
}

void json_late_object(struct json *j, const struct json_late *late, uint32_t index)
{
	if (j->take)
		hand(j, NULL, (struct json_value){.kind = JSON_LATE, .late = late, .index = index});
	else
		late->write(late, j, index, NULL);
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_close(struct json *j)
{
	bool lines;
	char close;

	if (j->take) {
		hand(j, NULL, (struct json_value){.kind = JSON_CLOSE});
		return;
	}
	lines = j->filled[j->depth] && j->depth <= j->lines;
	close = j->close[j->depth--];
	if (lines)
		new_line(j);
	put_char(j, close);
	if (!j->depth)
		put_char(j, '\n');
	end_element(j);
}

static __attribute__((noinline)) char *write_digits(char *to, uint64_t value)
{
	return digits_uint(to, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	char *to;

	if (j->take) {
		hand_uint(j, key, value);
		return;
	}
	to = begin_value(j, key);
	if (value < 10) /* most are */
		*to++ = (char)('0' + value);
	else
		to = write_digits(to, value);
	end_at(j, to);
	end_element(j);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	if (j->take) {
		hand_integer(j, key, value);
		return;
	}
	end_at(j, digits_int(begin_value(j, key), value));
	end_element(j);
}

void json_bool(struct json *j, const char *key, bool value)
{
	char *to;

	if (j->take) {
		hand_bool(j, key, value);
		return;
	}
	to = begin_value(j, key);
	end_at(j, value ? mempcpy(to, "true", 4) : mempcpy(to, "false", 5));
	end_element(j);
}

/* For what digits_fixed() leaves to it: up to 309 digits. */
static void put_printed(struct json *j, const char *form, double value)
{
	char text[352];

	snprintf(text, sizeof(text), form, value);
	put_word(j, isfinite(value) ? text : "null");
}

void json_real(struct json *j, const char *key, double value)
{
	char *to, *end;

	if (j->take) {
		hand_real(j, key, nine_decimals(value));
		return;
	}
	to = begin_value(j, key);
	end = digits_fixed(to, value, DIGITS_DECIMALS);
	end_at(j, end ? end : to);
	if (!end)
		put_printed(j, "%.9f", value);
	end_element(j);
}

/* Where a number of so many decimals ends without its last zeros. */
static const char *without_zeros(const char *end)
{
	while (end[-1] == '0')
		end--;
	return end[-1] == '.' ? end - 1 : end;
}

/* Most have come from a text with nine decimals: n / 1e9 is rounded as a reader rounds those. */
static bool has_nine_decimals(double value)
{
	const double n = rint(value * 1e9);

	return fabs(n) < 0x1p53 && n / 1e9 == value;
}

void json_exact(struct json *j, const char *key, double value)
{
	if (j->take) {
		hand_number(j, key, value);
		return;
	}
	end_at(j, begin_value(j, key));
	put_printed(j, "%.17g", value);
	end_element(j);
}

void json_shortest(struct json *j, const char *key, double value)
{
	char *to;
	const char *end;

	if (j->take) {
		hand_number(j, key, value);
		return;
	}
	to = begin_value(j, key);
	end = has_nine_decimals(value) ? digits_fixed(to, value, DIGITS_DECIMALS) : NULL;
	end_at(j, end ? without_zeros(end) : to);
	if (!end)
		put_printed(j, "%.17g", value);
	end_element(j);
}

void json_seconds(struct json *j, const char *key, uint64_t ns)
{
	if (j->take) {
		hand_real(j, key, seconds_of(ns));
		return;
	}
	end_at(j, digits_seconds(begin_value(j, key), ns));
	end_element(j);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	char *to;

	if (j->take) {
		hand_hex(j, key, value);
		return;
	}
	to = begin_value(j, key);
	*to = '"';
	to = digits_hex(to + 1, value);
	*to++ = '"';
	end_at(j, to);
	end_element(j);
}

void json_string(struct json *j, const char *key, const char *text)
{
	if (j->take) {
		hand_text(j, key, text);
		return;
	}
	end_at(j, begin_value(j, key));
	if (text)
		put_text(j, text);
	else
		put_word(j, "null");
	end_element(j);
}

void json_text_begin(struct json *j, const char *key)
{
	char *to = begin_value(j, key);

	*to++ = '"';
	end_at(j, to);
}

void json_text_add(struct json *j, const char *escaped, size_t bytes)
{
	if (bytes > JSON_PART) {
		put_bytes(j, escaped, bytes);
		return;
	}
	/* as many at once as most have at most */
	memcpy(kept_room(j), escaped, JSON_PART);
	j->bytes += bytes;
}

void json_text_end(struct json *j)
{
	put_char(j, '"');
	end_element(j);
}
