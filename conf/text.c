/* SPDX-License-Identifier: BSD-3-Clause */
/* Text for messages: formatted, cut to size, safe to print. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

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

/* Bytes of the well-formed UTF-8 character at s, or 0. */
static size_t utf8_char(const unsigned char *s, size_t bytes)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (n == 0 || n > bytes || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

size_t utf8_span(const char *s, size_t bytes)
{
	size_t i = 0;

	while (i < bytes) {
		size_t n = utf8_char((const unsigned char *)s + i, bytes - i);

		if (n == 0)
			break;
		i += n;
	}
	return i;
}

const char *quoted(char buf[static QUOTE_BYTES], const char *s, size_t bytes)
{
	size_t out = 0, i = 0;

	while (i < bytes && i < CONF_QUOTE) {
		unsigned char c = s[i];
		size_t n = utf8_char((const unsigned char *)s + i, bytes - i);

		/* C1 controls steer terminals just as C0 controls do */
		if (c < 0x20 || c == 0x7f || n == 0 ||
			(c == 0xc2 && (unsigned char)s[i + 1] < 0xa0)) {
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
