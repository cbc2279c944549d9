/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that a build system makes, runs and removes while it finds out what the compiler can.
 * With our flags in CFLAGS and LIBS they are traced as any other; their profiles would lie
 * in the user's build folder, and an agent of each would linger for a second.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "libhook/process.h"

/* Whole names only where programs of users may begin so, too. */
static const struct {
	const char *name;
	bool whole;
} probes[] = {
	{"conftest", true},	/* autoconf: AC_RUN_IFELSE, AC_PROG_CC */
	{"cmTC_", false},	/* CMake: try_run(), check_c_source_runs(); digits follow */
	{"sanitycheck", false}, /* Meson: does the compiler work; a language follows */
	{"output.exe", true},	/* Meson: compiler.run(), .sizeof() ... */
};

bool vftr_is_probe(void)
{
	const char *name = program_invocation_short_name;

	if (!name) /* it is the program's */
		return false;
	for (unsigned i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		size_t bytes = strlen(probes[i].name);

		if (!strncmp(name, probes[i].name, bytes) && (!probes[i].whole || !name[bytes]))
			return true;
	}
	return false;
}

/*
 * fnmatch() may wait for the lock of the locales, which the program has if its first event is in a
 * handler that interrupts setlocale(), or in a child of a thread beside. So these are bytes.
 */
static bool is_in_set(const char *set, const char *end, unsigned char c)
{
	const bool negated = *set == '!' || *set == '^';
	bool found = false;

	for (const char *p = set + negated; p < end; p++) {
		const bool range = p + 2 < end && p[1] == '-';

		found |= (unsigned char)p[0] <= c && c <= (unsigned char)p[range ? 2 : 0];
		p += range ? 2 : 0;
	}
	return found != negated;
}

/* The ] of the set that begins behind a [, in which it may be the first one; NULL: none. */
static const char *end_of_set(const char *set)
{
	set += *set == '!' || *set == '^';
	return strchr(*set == ']' ? set + 1 : set, ']');
}

/* The bytes of the pattern that stand for c; 0: it has another character there. */
static size_t bytes_for(const char *pattern, char c)
{
	const char *end = *pattern == '[' ? end_of_set(pattern + 1) : NULL;

	if (end)
		return is_in_set(pattern + 1, end, (unsigned char)c) ? (size_t)(end + 1 - pattern)
								     : 0;
	if (*pattern == '\\' && pattern[1])
		return pattern[1] == c ? 2 : 0;
	return *pattern == c || *pattern == '?';
}

static bool matches_pattern(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL; /* behind the last *, which ends before `from` */

	while (*text) {
		size_t n;

		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if ((n = bytes_for(pattern, *text))) {
			pattern += n;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	return !pattern[strspn(pattern, "*")];
}

/* The n bytes at text, a pattern of a shell, stand for this program. */
static bool matches(const char *text, size_t n, const char *executable)
{
	const char *name = program_invocation_short_name;
	char pattern[256];

	if (!n || n >= sizeof(pattern))
		return false;
	memcpy(pattern, text, n);
	pattern[n] = '\0';
	return (name && matches_pattern(pattern, name)) || matches_pattern(pattern, executable);
}

bool vftr_is_wanted_program(void)
{
	const char *v = getenv("VFTR_PROGRAMS"), *base;
	static char path[PATH_MAX]; /* the stack may be small; others would write the same */

	if (!v || !v[0])
		return true;
	vftr_executable_path(path, sizeof(path));
	base = strrchr(path, '/');
	for (;; v++) {
		const size_t n = strcspn(v, ",");

		if (matches(v, n, base ? base + 1 : path))
			return true;
		v += n;
		if (!*v)
			return false;
	}
}
