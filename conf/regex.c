/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that a pattern is a POSIX extended regular expression. regcomp() copies
 * what a '+' or {n,m} repeats, so that nested repetitions take memory without
 * bound: the size is estimated first.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define PATTERN_BYTES 4000
#define PATTERN_DEPTH 50
#define PATTERN_SIZE  5000.0 /* characters after copying */

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

/* Largest count of "{n,m}" at p, 1 if it is none. */
static double interval(const char *p)
{
	double n = (double)strtoul(p + 1, NULL, 10);
	const char *comma = p + 1 + strspn(p + 1, "0123456789");

	if (*comma == ',') {
		double m = (double)strtoul(comma + 1, NULL, 10);

		if (m > n)
			n = m;
	}
	return n > 1 ? n : 1;
}

/* Estimated size after copying, or -1 if it is nested too deeply. */
static double copied_size(const char *p)
{
	double sum[PATTERN_DEPTH + 1] = {0}, last = 0;
	int depth = 0;

	for (; *p; p++) {
		if (*p == '(') {
			if (++depth > PATTERN_DEPTH)
				return -1;
			sum[depth] = 0;
			last = 0;
			continue;
		}
		if (*p == '?')
			continue;
		if (*p == ')' && depth > 0) {
			last = sum[depth--] + 1;
		} else if (*p == '+' || *p == '*' || *p == '{') {
			double more = last * (*p == '{' ? interval(p) : 1);

			sum[depth] += more;
			last += more;
			continue;
		} else {
			if (*p == '\\' && p[1])
				p++;
			else if (*p == '[')
				p = bracket_end(p);
			last = 1;
		}
		sum[depth] += last;
	}
	while (depth > 0) {
		depth--;
		sum[depth] += sum[depth + 1];
	}
	return sum[0];
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
	double size;
	int e;

	if (strlen(pattern) > PATTERN_BYTES)
		return fail(why, "it is longer than %d bytes", PATTERN_BYTES);
	size = copied_size(pattern);
	if (size < 0)
		return fail(why, "it is nested deeper than %d", PATTERN_DEPTH);
	if (size > PATTERN_SIZE)
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
