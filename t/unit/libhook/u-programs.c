/* SPDX-License-Identifier: BSD-3-Clause */
/* Of which programs VFTR_PROGRAMS is, as fnmatch(3) has it, and without its locks. */
#include "libhook/probe.c"

#include <check.h>
#include <fnmatch.h>
#include <stdio.h>

#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define ROUNDS 200000

static const char *executable = "/usr/bin/file";

void vftr_executable_path(char *out, size_t bytes)
{
	snprintf(out, bytes, "%s", executable);
}

static bool wanted(const char *list)
{
	ck_assert(!setenv("VFTR_PROGRAMS", list, 1));
	return vftr_is_wanted_program();
}

START_TEST(names_of_the_program_and_of_its_file)
{
	char name[] = "started";

	program_invocation_short_name = name;
	ck_assert(wanted("") && wanted("started") && wanted("other,file") && wanted("*"));
	ck_assert(wanted("f[g-j]le") && wanted("st[!b]rted") && wanted("s\\tarted") &&
		  wanted("*r*d"));
	ck_assert(!wanted(",") && !wanted("start") && !wanted("tarted") && !wanted("f[!i]le"));
	ck_assert(!wanted("/usr/bin/file") && !wanted("[") && !wanted("fil\\") && !wanted("f[ile"));
	program_invocation_short_name = NULL; /* a program may do that */
	ck_assert(wanted("file") && !wanted("started") && !vftr_is_probe());
}
END_TEST

START_TEST(random_patterns_are_those_of_the_c_library)
{
	struct dice d = {.state = 1};
	static const char *const parts[] = {
		"a", "b", "*", "?", "[ab]", "[!a]", "[]a]", "[a-b]", "\\a", "[^b-z]"};
	unsigned n = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		char pattern[64] = "", text[8] = "";

		for (unsigned k = throw_dice(&d, 8); k-- > 0;)
			strcat(pattern, parts[throw_dice(&d, ARRAY_SIZE(parts))]);
		for (unsigned k = throw_dice(&d, 7); k-- > 0;)
			text[k] = "ab]"[throw_dice(&d, 3)];
		n += matches_pattern(pattern, text);
		ck_assert_msg(matches_pattern(pattern, text) == !fnmatch(pattern, text, 0),
			"'%s' and '%s'", pattern, text);
	}
	ck_assert_uint_gt(n, ROUNDS / 1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("programs");
	TCase *tc = tcase_create("programs");

	tcase_add_test(tc, names_of_the_program_and_of_its_file);
	tcase_add_test(tc, random_patterns_are_those_of_the_c_library);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
