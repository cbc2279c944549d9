/* SPDX-License-Identifier: BSD-3-Clause */
/* The streaming JSON writer. */
#include "nodeagent/base/json-write.h"

#include <inttypes.h>
#include <math.h>

#include "conf/utf8.h"

/* Bytes that text begins with and that are written as they are. */
static size_t plain(const char *text)
{
	const char *s = text;

	while (*s >= 0x20 && *s < 0x7f && *s != '"' && *s != '\\')
		s++;
	return s - text;
}

static void put_text(FILE *f, const char *text)
{
	putc_unlocked('"', f);
	while (*text) {
		size_t n = plain(text);
		uint32_t code;

		fwrite(text, 1, n, f);
		text += n;
		if (!*text)
			break;
		n = utf8_length(text, &code);
		if (!n) {
			fputs("\\ufffd", f);
			text++;
			continue;
		}
		if (code == '"' || code == '\\') {
			putc_unlocked('\\', f);
			putc_unlocked(*text, f);
		} else if (code < 0x20 || code == 0x7f) {
			fprintf(f, "\\u%04x", (unsigned)code);
		} else {
			fwrite(text, 1, n, f);
		}
		text += n;
	}
	putc_unlocked('"', f);
}

static void new_line(struct json *j)
{
	putc_unlocked('\n', j->f);
	for (unsigned i = 0; i < j->depth; i++)
		putc_unlocked('\t', j->f);
}

static void element(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->filled[j->depth])
			putc_unlocked(',', j->f);
		j->filled[j->depth] = true;
		if (j->depth <= j->lines)
			new_line(j);
	}
	if (key) {
		put_text(j->f, key);
		putc_unlocked(':', j->f);
	}
}

static void open_level(struct json *j, const char *key, char open, char close)
{
	element(j, key);
	putc_unlocked(open, j->f);
	j->depth++;
	j->filled[j->depth] = false;
	j->close[j->depth] = close;
}

void json_begin(struct json *j, FILE *f, unsigned lines)
{
	*j = (struct json){.f = f, .lines = lines};
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
	bool lines = j->filled[j->depth] && j->depth <= j->lines;
	char close = j->close[j->depth--];

	if (lines)
		new_line(j);
	putc_unlocked(close, j->f);
	if (!j->depth)
		putc_unlocked('\n', j->f);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	element(j, key);
	fprintf(j->f, "%" PRIu64, value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	element(j, key);
	fprintf(j->f, "%" PRId64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	element(j, key);
	fputs(value ? "true" : "false", j->f);
}

void json_real(struct json *j, const char *key, double value)
{
	element(j, key);
	if (isfinite(value))
		fprintf(j->f, "%.9f", value);
	else
		fputs("null", j->f);
}

void json_exact(struct json *j, const char *key, double value)
{
	element(j, key);
	if (isfinite(value))
		fprintf(j->f, "%.17g", value);
	else
		fputs("null", j->f);
}

void json_seconds(struct json *j, const char *key, uint64_t ns)
{
	element(j, key);
	fprintf(j->f, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

void json_string(struct json *j, const char *key, const char *text)
{
	element(j, key);
	if (text)
		put_text(j->f, text);
	else
		fputs("null", j->f);
}
