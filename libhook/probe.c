/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that a build system makes, runs and removes while it finds out what the compiler can.
 * With our flags in CFLAGS and LIBS they are traced as any other; their profiles would lie
 * in the user's build folder, and an agent of each would linger for a second.
 */
#include <errno.h>
#include <fnmatch.h>
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

	for (unsigned i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		size_t bytes = strlen(probes[i].name);

		if (!strncmp(name, probes[i].name, bytes) && (!probes[i].whole || !name[bytes]))
			return true;
	}
	return false;
}

/* The n bytes at text, a pattern of a shell, stand for this program. */
static bool matches(const char *text, size_t n, const char *executable)
{
	char pattern[256];

	if (!n || n >= sizeof(pattern))
		return false;
	memcpy(pattern, text, n);
	pattern[n] = '\0';
	return !fnmatch(pattern, program_invocation_short_name, 0) ||
	       !fnmatch(pattern, executable, 0);
}

bool vftr_is_wanted_program(void)
{
	const char *v = getenv("VFTR_PROGRAMS"), *base;
	char path[PATH_MAX];

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
