/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of a subcommand, of which there may be many. */
#include <check.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/cmd.h"
#include "t/lib/suite.h"

#define MANY 60

static char names[MANY][16];
static bool flags[MANY];
static const char *text;
static struct cmd_option options[MANY + 2];

static void setup(void)
{
	for (int i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "flag-%d", i);
		options[i] = (struct cmd_option){.name = names[i], .flag = &flags[i]};
	}
	options[MANY] = (struct cmd_option){.name = "text", .letter = 't', .text = &text};
}

static int take(const char *a, const char *b, const char *c)
{
	char *argv[] = {"vftr: test", (char *)(uintptr_t)a, (char *)(uintptr_t)b,
		(char *)(uintptr_t)c, NULL};

	return cmd_options(4, argv, options, "usage\n");
}

START_TEST(each_row_counts)
{
	char name[20];

	snprintf(name, sizeof(name), "--flag-%d", _i);
	ck_assert_int_eq(take(name, "-t", "some"), -1);
	ck_assert_str_eq(text, "some");
	ck_assert_int_eq(optind, 4);
	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(flags[i], i == _i);
}
END_TEST

START_TEST(the_rest_are_arguments)
{
	ck_assert_int_eq(take("--flag-3", "--", "--flag-4"), -1);
	ck_assert(flags[3] && !flags[4]);
	ck_assert_int_eq(optind, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("options");
	TCase *c = tcase_create("options");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_loop_test(c, each_row_counts, 0, MANY);
	tcase_add_test(c, the_rest_are_arguments);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
