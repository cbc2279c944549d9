/* SPDX-License-Identifier: BSD-3-Clause */
/* filter.only and filter.not: which functions are meant. */
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

char *conf_next_pattern(const char **list)
{
	const char *s = *list, *end = s;
	char *pattern;

	if (!*s)
		return NULL;
	while (*end && *end != ',')
		end += *end == '\\' && end[1] ? 2 : 1;
	pattern = strndup(s, (size_t)(end - s));
	*list = end + (*end == ',');
	return pattern;
}

const char *conf_pattern_file(const char *pattern)
{
	static const char mark[] = "file:";
	const size_t n = sizeof(mark) - 1;

	/* "file::" begins a name of C++ */
	return !strncmp(pattern, mark, n) && pattern[n] != ':' ? pattern + n : NULL;
}

/* The end of the bracket expression that begins at s, or NULL: it has none. */
static const char *bracket_end(const char *s)
{
	s++;
	if (*s == '!' || *s == '^')
		s++;
	if (*s == ']')
		s++;
	for (; *s && *s != ']'; s++) {
		if (*s == '\\' && s[1]) {
			s++;
		} else if (*s == '[' && s[1] && strchr(":.=", s[1])) {
			const char close[3] = {s[1], ']', '\0'}, *end = strstr(s + 2, close);

			s = end ? end + 1 : s;
		}
	}
	return *s ? s : NULL;
}

static int pattern_check(const char *pattern, char **why)
{
	const char *file = conf_pattern_file(pattern);
	char buf[QUOTE_BYTES];

	quoted(buf, pattern, strlen(pattern));
	if (!*pattern)
		return fail(why, "a name is empty");
	if (file && !*file)
		return fail(why, "\"%s\" names no file", buf);
	if (strlen(pattern) > CONF_PATTERN_MAX)
		return fail(why, "\"%s\" has %zu bytes; %d are the most", buf, strlen(pattern),
			CONF_PATTERN_MAX);
	for (const char *s = file ? file : pattern; *s; s++) {
		if (*s == '\\') {
			if (!*++s)
				return fail(why, "\"%s\" ends with a backslash", buf);
		} else if (*s == '[') {
			s = bracket_end(s);
			if (!s)
				return fail(why, "\"%s\" has a [ without its ]", buf);
		}
	}
	return 0;
}

int patterns_check(const char *list, char **why)
{
	const char *const all = list;
	char *pattern;
	int e = 0, n = 0;

	while (!e && (pattern = conf_next_pattern(&list))) {
		e = ++n > CONF_PATTERNS_MAX
			    ? fail(why, "it has more than %d patterns", CONF_PATTERNS_MAX)
			    : pattern_check(pattern, why);
		free(pattern);
	}
	if (!e && *all && list > all && list[-1] == ',')
		return fail(why, "a name is empty");
	return e;
}

char *conf_add_pattern(const char *list, const char *pattern)
{
	char *both = malloc(strlen(list) + 2 * strlen(pattern) + 2), *to = both;

	if (!both)
		return NULL;
	to = stpcpy(to, list);
	if (*list)
		*to++ = ',';
	for (; *pattern; pattern++) {
		if (*pattern == ',')
			*to++ = '\\';
		*to++ = *pattern;
		if (*pattern == '\\' && pattern[1])
			*to++ = *++pattern;
	}
	*to = '\0';
	return both;
}
