/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for messages: formatted, cut to size, safe to print. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"
#include "conf/utf8.h"

char *text_of(const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		s = NULL;
	va_end(args);
	return s;
}

int fail(char **why, const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		s = NULL;
	va_end(args);
	free(*why);
	*why = s;
	return -1;
}

size_t utf8_length(const char *text, uint32_t *code)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n;

	if (s[0] < 0x80) {
		*code = s[0];
		return s[0] ? 1 : 0;
	}
	if (s[0] >= 0xc2 && s[0] < 0xe0)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] < 0xf0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		n = 4;
	else
		return 0;
	*code = s[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (s[i] & 0x3f);
	}
	if (*code < least[n] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return n;
}

bool utf8_is_visible(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} unseen[] = {
		{0, 0x1f},	    /* C0 */
		{0x7f, 0x9f},	    /* DEL and C1, which steer terminals as C0 does */
		{0xad, 0xad},	    /* a hyphen that is seen at ends of lines only */
		{0x34f, 0x34f},	    /* combining grapheme joiner */
		{0x61c, 0x61c},	    /* Arabic letter mark */
		{0x115f, 0x1160},   /* fillers */
		{0x17b4, 0x17b5},   /* Khmer vowels without a sign */
		{0x180b, 0x180f},   /* Mongolian selectors of variants, vowel separator */
		{0x200b, 0x200f},   /* without width; left-to-right and right-to-left marks */
		{0x2028, 0x202e},   /* ends of lines, embeddings and overrides of the direction */
		{0x2060, 0x206f},   /* without width, isolates of the direction */
		{0x3164, 0x3164},   /* a filler */
		{0xfe00, 0xfe0f},   /* selectors of variants */
		{0xfeff, 0xfeff},   /* byte order mark */
		{0xffa0, 0xffa0},   /* a filler */
		{0xfff0, 0xfffb},   /* annotations */
		{0x1bca0, 0x1bca3}, /* controls of shorthand */
		{0x1d173, 0x1d17a}, /* controls of music */
		{0xe0000, 0xe0fff}, /* tags, more selectors */
	};

	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (code >= unseen[i].first && code <= unseen[i].last)
			return false;
	return true;
}

size_t utf8_span(const char *s, size_t bytes)
{
	size_t i = 0, n;
	uint32_t code;

	while (i < bytes && (n = utf8_length(s + i, &code)) && n <= bytes - i)
		i += n;
	return i;
}

const char *quoted(char buf[static QUOTE_BYTES], const char *s, size_t bytes)
{
	size_t out = 0, i = 0;

	while (i < bytes && i < CONF_QUOTE) {
		unsigned char c = s[i];
		uint32_t code;
		size_t n = utf8_length(s + i, &code);

		if (n == 0 || n > bytes - i || !utf8_is_visible(code)) {
			out += (size_t)sprintf(buf + out, "\\x%02x", c);
			i++;
			continue;
		}
		memcpy(buf + out, s + i, n);
		out += n;
		i += n;
	}
	strcpy(buf + out, i < bytes ? "..." : "");
	return buf;
}
