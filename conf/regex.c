/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that a pattern is a POSIX extended regular expression. regcomp() copies
 * what a '+' or {n,m} repeats, so that nested repetitions take memory without
 * bound: they are limited first.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define PATTERN_BYTES 4000
#define COPIES_MOST   10000.0 /* of characters: regcomp() then takes 200 MB at most */

/* End of the bracket expression that begins at p. */
static const char *bracket_end(const char *p)
{
	p++;
	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	for (; *p && *p != ']'; p++) {
		if (*p == '[' && p[1] && strchr(":.=", p[1])) {
			char close[3] = {p[1], ']', '\0'};
			const char *end = strstr(p + 2, close);

			if (end)
				p = end + 1;
		}
	}
	return *p ? p : p - 1;
}

/* Copies that "{n,m}" or "{n,}" at p makes; 1 if it is none. */
static double interval(const char *p)
{
	char *end;
	double n = (double)strtoul(p + 1, &end, 10), m = n;

	if (*end == ',')
		m = end[1] == '}' ? n + 1 : (double)strtoul(end + 1, NULL, 10);
	m = m > n ? m : n;
	return m > 1 ? m : 1;
}

/* Characters after copying, at most, as if all groups that are repeated were nested. */
static double copies(const char *p)
{
	double sum = 0, factor = 1;
	bool many = false; /* what stands before is a group, or repeated already */

	for (; *p; p++) {
		double n = *p == '{' ? interval(p) : *p == '+' ? 2 : 1;

		if (many)
			factor *= n;
		else
			sum += n;
		many = *p == ')' || *p == '{' || *p == '+' || (many && strchr("*?", *p));
		if (*p == '{')
			p += strcspn(p, "}") - !strchr(p, '}');
		else if (*p == '\\' && p[1])
			p++;
		else if (*p == '[')
			p = bracket_end(p);
	}
	return sum * factor;
}

/* \1 to \9, which regcomp() takes though POSIX has none here: matching one may never end. */
static bool refers_back(const char *p)
{
	for (; *p; p++) {
		if (*p == '[')
			p = bracket_end(p);
		else if (*p == '\\' && *++p >= '1' && *p <= '9')
			return true;
		if (!*p)
			return false;
	}
	return false;
}

int regex_check(const char *pattern, char **why)
{
	regex_t re;
	char text[128];
	int e;

	if (strlen(pattern) > PATTERN_BYTES)
		return fail(why, "it is longer than %d bytes", PATTERN_BYTES);
	if (copies(pattern) > COPIES_MOST)
		return fail(why, "its repetitions are too large");
	if (refers_back(pattern))
		return fail(why, "it refers back to a group");
	e = regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB);
	if (e) {
		regerror(e, &re, text, sizeof(text));
		return fail(why, "%s", text);
	}
	regfree(&re);
	return 0;
}
