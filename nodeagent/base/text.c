/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that is safe to print in a column: names come from symbol tables and
 * from user regions and may hold anything.
 */
#include "nodeagent/base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/utf8.h"
#include "nodeagent/base/util.h"

#define ESCAPE_MOST 10 /* bytes, "\\U000e0001" */

/*
 * What is shown of the character at *text, which moves on behind it: itself, '?' for a byte that
 * is none, or for a control of one byte, and the number of another one that nobody sees. Returns
 * its bytes, without a NUL.
 */
static size_t show_one(char to[static ESCAPE_MOST + 1], const char **text)
{
	uint32_t code;
	const size_t n = utf8_length(*text, &code);
	const char *at = *text;

	*text += n ? n : 1;
	if (n && utf8_is_visible(code)) {
		memcpy(to, at, n);
		return n;
	}
	if (n > 1)
		return (size_t)sprintf(to, code > 0xffff ? "\\U%08x" : "\\u%04x", (unsigned)code);
	to[0] = '?';
	return 1;
}

/* Bytes of plain ASCII that text begins with: nearly all names are just that. */
static size_t ascii(const char *text)
{
	const char *s = text;

	while (*s >= 0x20 && *s < 0x7f)
		s++;
	return s - text;
}

bool text_is_plain(const char *text)
{
	return !text[ascii(text)];
}

size_t text_columns(const char *text)
{
	size_t columns = ascii(text);

	text += columns;

	while (*text) {
		char shown[ESCAPE_MOST + 1];
		const size_t n = show_one(shown, &text);

		columns += shown[0] == '\\' ? n : 1;
	}
	return columns;
}

char *text_plain(const char *text)
{
	/* an escape is of 2 bytes or more: each becomes three at most */
	char *plain = xmalloc(3 * strlen(text) + ESCAPE_MOST + 1);
	size_t same = ascii(text);
	char *to = mempcpy(plain, text, same);

	text += same;
	while (*text)
		to += show_one(to, &text);
	*to = '\0';
	return plain;
}

/* text is plain: each character is valid UTF-8 */
static const char *skip_columns(const char *text, size_t columns)
{
	while (columns-- && *text) {
		text++;
		while ((*text & 0xc0) == 0x80)
			text++;
	}
	return text;
}

char *text_short(const char *text, size_t columns)
{
	return text_short_at(text, columns, columns < 3 ? 0 : (columns - 3) / 2);
}

char *text_short_at(const char *text, size_t columns, size_t tail)
{
	char *plain = text_plain(text);
	size_t have = text_columns(plain);

	if (have <= columns)
		return plain;

	size_t head = columns - 3 - tail;
	char *cut = plain + (skip_columns(plain, head) - plain);
	const char *rest = skip_columns(cut, have - head - tail);

	memcpy(cut, "...", 3);
	memmove(cut + 3, rest, strlen(rest) + 1);
	return plain;
}

char *text_first(const char *text, size_t columns)
{
	return xasprintf("%.*s", (int)(skip_columns(text, columns) - text), text);
}

void text_put_csv(FILE *f, const char *text)
{
	char *plain = text_plain(text);

	fputc('"', f);
	for (const char *at = plain; *at; at++)
		fprintf(f, *at == '"' ? "\"\"" : "%c", *at);
	fputc('"', f);
	free(plain);
}

/* ---- a stream ------------------------------------------------------------------------------ */

struct stream {
	int fd;
	size_t n;	       /* of kept */
	unsigned char kept[4]; /* the first bytes of a character, of which the others come later */
};

static bool write_all(int fd, const char *text, size_t n)
{
	while (n) {
		const ssize_t written = write(fd, text, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		text += written;
		n -= (size_t)written;
	}
	return true;
}

static bool passes(char c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
}

static bool all_pass(const char *text, size_t n)
{
	while (n && passes(text[n - 1]))
		n--;
	return !n;
}

/* What is shown of n bytes, in *shown, which the caller frees. text ends with a NUL. */
static size_t show_all(const char *text, size_t n, char **shown)
{
	const char *end = text + n;
	char *to = *shown = xmalloc(3 * n + ESCAPE_MOST + 1);

	while (text < end) {
		if (passes(*text)) {
			*to++ = *text++;
		} else if (!*text) {
			*to++ = '?';
			text++;
		} else {
			to += show_one(to, &text);
		}
	}
	return (size_t)(to - *shown);
}

/* Bytes of a character at the end of the text of which more may come. */
static size_t begun(const unsigned char *text, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		const unsigned char first = text[n - back];
		const size_t all = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

		if ((first & 0xc0) != 0x80)
			return all > back ? back : 0;
	}
	return 0;
}

static ssize_t put_plain(void *cookie, const char *buf, size_t n)
{
	struct stream *s = cookie;
	size_t all = s->n + n, bytes;
	char *text, *shown;
	bool ok;

	if (!s->n && n && all_pass(buf, n))
		return write_all(s->fd, buf, n) ? (ssize_t)n : 0;
	text = xmalloc(all + 1);
	memcpy(mempcpy(text, s->kept, s->n), buf, n);
	s->n = begun((unsigned char *)text, all);
	all -= s->n;
	memcpy(s->kept, text + all, s->n);
	text[all] = '\0';
	bytes = show_all(text, all, &shown);
	ok = write_all(s->fd, shown, bytes);
	free(shown);
	free(text);
	return ok ? (ssize_t)n : 0;
}

static int end_stream(void *cookie)
{
	struct stream *s = cookie;
	const bool ok = write_all(s->fd, "???", s->n);

	free(s);
	return ok ? 0 : EOF;
}

FILE *text_stream(int fd)
{
	static const cookie_io_functions_t calls = {.write = put_plain, .close = end_stream};
	struct stream *s = xcalloc(1, sizeof(*s));
	FILE *f;

	s->fd = fd;
	f = fopencookie(s, "w", calls);
	if (!f)
		free(s);
	else if (isatty(fd))
		setvbuf(f, NULL, _IOLBF, 0);
	return f;
}
