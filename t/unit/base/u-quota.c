/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines in the log that others can cause: bounded, and the rest is counted. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/quota.h"
#include "t/lib/suite.h"

static bool take(struct quota *q, const char *source, const char *line)
{
	return quota_take(q, source, strlen(source), line);
}

START_TEST(a_source_has_a_few_lines)
{
	static struct quota q;
	char text[128], line[16];
	int said = 0;

	q = (struct quota){.each = 3, .all = 100};
	for (int i = 0; i < 50; i++) {
		snprintf(line, sizeof(line), "line %d", i);
		said += take(&q, "10.0.0.1", line);
	}
	ck_assert_int_eq(said, 3);
	ck_assert(take(&q, "10.0.0.2", "line"));
	ck_assert(!take(&q, "10.0.0.2", "line")); /* the same */
	ck_assert(take(&q, "10.0.0.2", "another"));
	ck_assert(quota_more(&q, "strangers", text, sizeof(text)));
	ck_assert_str_eq(text, "and 48 more lines about strangers (of 2 addresses)");
	ck_assert(!quota_more(&q, "strangers", text, sizeof(text)));
	ck_assert(!take(&q, "10.0.0.1", "once more"));
	ck_assert(quota_more(&q, "strangers", text, sizeof(text)));
	ck_assert_str_eq(text, "and 1 more line about strangers (of 1 address)");
}
END_TEST

START_TEST(the_same_may_happen_again_where_that_counts)
{
	static struct quota q;

	q = (struct quota){.each = 3, .all = 100};
	for (int i = 0; i < 3; i++)
		ck_assert(take(&q, "node1", NULL));
	ck_assert(!take(&q, "node1", NULL));
}
END_TEST

START_TEST(many_sources_have_a_number_in_all)
{
	static struct quota q;
	char text[128], source[32];
	int said = 0;

	q = (struct quota){.each = 4, .all = 50};
	for (int i = 0; i < 300; i++) {
		snprintf(source, sizeof(source), "10.0.%d.%d", i / 100, i);
		said += take(&q, source, "no agent");
	}
	ck_assert_int_eq(said, 50);
	ck_assert(quota_more(&q, "strangers", text, sizeof(text)));
	ck_assert_str_eq(text, "and 250 more lines about strangers (of 250 addresses)");
	for (int i = 0; i < 100000; i++) {
		snprintf(source, sizeof(source), "11.%d.%d", i / 1000, i);
		ck_assert(!take(&q, source, "no agent"));
	}
	ck_assert(quota_more(&q, "strangers", text, sizeof(text)));
	ck_assert(strstr(text, "and 100000 more lines about strangers (of at least ") == text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("quota");
	TCase *t = tcase_create("quota");

	tcase_add_test(t, a_source_has_a_few_lines);
	tcase_add_test(t, the_same_may_happen_again_where_that_counts);
	tcase_add_test(t, many_sources_have_a_number_in_all);
	suite_add_tcase(s, t);
	return run_suite(s);
}
