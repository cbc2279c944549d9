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
#include "nodeagent/base/hash.h"
#include "nodeagent/base/map.h"
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

/* ---- cuts that differ ---------------------------------------------------------------------- */

struct text_cuts {
	enum text_end kept;
	struct map64 shown;   /* by hash of what is shown: half of the hash of the whole text */
	struct map64 numbers; /* by hash of a whole text: the number that its cut one ends with */
	uint32_t last_number;
};

struct text_cuts *text_cuts_new(enum text_end kept)
{
	struct text_cuts *cuts = xcalloc(1, sizeof(*cuts));

	cuts->kept = kept;
	cuts->last_number = 1;
	return cuts;
}

void text_cuts_free(struct text_cuts *cuts)
{
	if (!cuts)
		return;
	map64_free(&cuts->shown);
	map64_free(&cuts->numbers);
	free(cuts);
}

static uint64_t text_hash(const char *text)
{
	return stack_hash(text, strlen(text));
}

/* Is what would be shown that of no other text? It is this one's from now on. */
static bool take_shown(struct text_cuts *cuts, const char *shown, uint64_t whole)
{
	const uint64_t hash = text_hash(shown);
	const uint32_t *whose = map64_find(&cuts->shown, hash);

	if (!whose)
		map64_add(&cuts->shown, hash, (uint32_t)whole);
	return !whose || *whose == (uint32_t)whole;
}

void text_cuts_whole(struct text_cuts *cuts, const char *text)
{
	char *plain = text_is_plain(text) ? NULL : text_plain(text);

	take_shown(cuts, plain ? plain : text, text_hash(text));
	free(plain);
}

static char *number_text(const char *text, size_t columns, uint32_t number)
{
	char suffix[16], *first, *cut;
	const int bytes = snprintf(suffix, sizeof(suffix), "(%u)", number);

	first = columns > (size_t)bytes + strlen("...") ? text_short(text, columns - (size_t)bytes)
							: xstrdup("");
	cut = xasprintf("%s%s", first, suffix);
	free(first);
	return cut;
}

static char *numbered_cut(struct text_cuts *cuts, const char *text, uint64_t whole, size_t columns)
{
	const uint32_t *known = map64_find(&cuts->numbers, whole);
	char *cut = known ? number_text(text, columns, *known) : NULL;

	while (!cut || !take_shown(cuts, cut, whole)) {
		free(cut);
		cut = number_text(text, columns, ++cuts->last_number);
	}
	if (!known)
		map64_add(&cuts->numbers, whole, cuts->last_number);
	return cut;
}

/* The columns of the end in the i-th try to cut a text, or SIZE_MAX: no such try. */
static size_t end_columns(const struct text_cuts *cuts, size_t room, size_t i)
{
	const size_t half = room / 2, more = (i + 1) / 2;

	if (cuts->kept == TEXT_BEGINNING)
		return i <= room ? i : SIZE_MAX;
	if (i % 2)
		return half + more <= room ? half + more : SIZE_MAX;
	return more <= half ? half - more : SIZE_MAX;
}

char *text_cut(struct text_cuts *cuts, const char *text, size_t columns)
{
	const uint64_t whole = text_hash(text);
	const size_t room = columns - strlen("...");
	char *cut = text_plain(text);

	if (text_columns(cut) <= columns && take_shown(cuts, cut, whole))
		return cut;
	for (size_t i = 0; i <= 2 * (room - room / 2); i++) {
		const size_t end = end_columns(cuts, room, i);

		if (end == SIZE_MAX)
			continue;
		free(cut);
		cut = text_short_at(text, columns, end);
		if (take_shown(cuts, cut, whole))
			return cut;
	}
	free(cut);
	return numbered_cut(cuts, text, whole, columns);
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
