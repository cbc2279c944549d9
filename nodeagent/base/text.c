/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Text that is safe to print in a column: names come from symbol tables and
 * from user regions and may hold anything.
 */
#include "nodeagent/base/table.h"

#include <stdlib.h>
#include <string.h>

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
	char *plain = text_plain(text);
	size_t have = text_columns(plain);

	if (have <= columns)
		return plain;

	size_t tail = (columns - 3) / 2, head = columns - 3 - tail;
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
