/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths as vftr diff reads them, from any file. */
#include <check.h>
#include <string.h>

#include "nodeagent/tool/diff/diff.h"
#include "t/lib/suite.h"

static const struct {
	const char *path, *joined;
} paths[] = {
	{"", ""},
	{"main", "main"},
	{"foo<main", "foo<main"},
	{"foo < main < init", "foo<main<init"},
	{"operator< < main", "operator<<main"},
	{"foo < ", "foo<"},
	{" < ", "<"},
	{" <  < a", "<<a"},
	{"a <", "a <"},
};

START_TEST(nothing_behind_a_path_is_touched)
{
	const size_t n = strlen(paths[_i].path);
	char text[64];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	memcpy(text, paths[_i].path, n + 1);
	diff_join_path(text);
	ck_assert_str_eq(text, paths[_i].joined);
	for (size_t i = n + 1; i < sizeof(text) - 1; i++)
		ck_assert_int_eq(text[i], 'x');
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("diff-path");
	TCase *t = tcase_create("paths");

	tcase_add_loop_test(
		t, nothing_behind_a_path_is_touched, 0, (int)(sizeof(paths) / sizeof(paths[0])));
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
