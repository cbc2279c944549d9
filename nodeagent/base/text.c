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

/* Bytes of the printable character at s, or 0 if '?' stands for its first byte. */
static size_t printable(const char *s)
{
	uint32_t code;
	size_t n = utf8_length(s, &code);

	if (!n || code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029)
		return 0;
	return n;
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
		size_t n = printable(text);

		text += n ? n : 1;
		columns++;
	}
	return columns;
}

char *text_plain(const char *text)
{
	char *plain = xmalloc(strlen(text) + 1);
	size_t same = ascii(text);
	char *to = mempcpy(plain, text, same);

	text += same;
	while (*text) {
		size_t n = printable(text);

		if (n) {
			memcpy(to, text, n);
			to += n;
			text += n;
		} else {
			*to++ = '?';
			text++;
		}
	}
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
