/* SPDX-License-Identifier: BSD-3-Clause */
/* How a run was started: from the agent of the user to those of other nodes, and into a profile. */
#include "nodeagent/agent/run-start.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/suite.h"

static struct agent *agent_with(const char *assignment)
{
	static struct agent all[20], *next = all; /* what is in them to the end is no leak */
	struct agent *a = next++;
	char *error = NULL;

	a->host.conf = conf_default();
	if (assignment)
		ck_assert_int_eq(conf_assign(a->host.conf, assignment, &error), 0);
	return a;
}

static struct profile *put(struct agent *a)
{
	struct profile *p = profile_new();

	run_start_observer.gather(&a->host, p);
	ck_assert_uint_eq(p->n_starts, 1);
	ck_assert_ptr_null(profile_valid(p));
	return p;
}

static char *const hostile[] = {"./a b", "", "two\nlines", "it's", "\\", "\xff\xfe", ",.%2C", NULL};

START_TEST(other_agents_know_the_same)
{
	struct agent *front = agent_with(NULL), *other = agent_with(NULL);
	struct profile *p, *q;
	size_t left;
	char *told, *list = words_list(hostile, 4096, &left);

	setenv("PBS_JOBID", "12.server", 1);
	run_start_begin(front, hostile, NULL);
	unsetenv("PBS_JOBID");
	told = run_start_text(front);
	ck_assert_uint_eq(strcspn(told, " '\"\\$\n\xff"), strlen(told));
	run_start_begin(other, NULL, told);
	p = put(front);
	q = put(other);
	ck_assert_str_eq(p->starts->command, list);
	ck_assert_str_eq(q->starts->command, list);
	ck_assert_str_eq(p->starts->job, "12.server");
	ck_assert_str_eq(q->starts->job, "12.server");
	ck_assert_str_eq(q->starts->directory, p->starts->directory);
	ck_assert_int_eq(q->starts->time_s, p->starts->time_s);
	ck_assert_int_eq(q->starts->zone_s, p->starts->zone_s);
	ck_assert_uint_eq(q->starts->whose, PROFILE_START_RUN);
	ck_assert_uint_eq(q->starts->left, 0);
	profile_free(p);
	profile_free(q);
	free(told);
	free(list);
}
END_TEST

START_TEST(a_long_command_is_cut)
{
	char *words[1002] = {NULL};
	struct agent *front = agent_with(NULL), *other = agent_with(NULL);
	struct profile *p;
	char *told;

	for (size_t i = 0; i < 1001; i++)
		words[i] = "1234567"; /* 8 bytes in the list */
	run_start_begin(front, words, NULL);
	told = run_start_text(front);
	run_start_begin(other, NULL, told);
	free(told);
	p = put(other);
	ck_assert_uint_eq(p->starts->left, 1001 - 4096 / 8);
	ck_assert_uint_eq(strlen(p->starts->command), 4096);
	profile_free(p);
}
END_TEST

START_TEST(a_command_can_be_left_out)
{
	struct agent *front = agent_with("output.command_line=false"), *other = agent_with(NULL);
	char *told;
	struct profile *p;

	run_start_begin(front, hostile, NULL);
	told = run_start_text(front);
	ck_assert_ptr_null(strstr(told, "two"));
	run_start_begin(other, NULL, told);
	p = put(other);
	ck_assert_ptr_null(p->starts->command);
	ck_assert_ptr_nonnull(p->starts->directory);
	profile_free(p);
	free(told);
}
END_TEST

START_TEST(tags_are_by_key_and_the_last_counts)
{
	struct agent *a = agent_with("output.tags=b=1,a-b=2,a=3,b=4,c=x\\,y");
	struct profile *p;

	run_start_begin(a, hostile, NULL);
	p = put(a);
	ck_assert_str_eq(p->starts->tags, "a=3\na-b=2\nb=4\nc=x,y\n");
	profile_free(p);
}
END_TEST

/* Nobody but our front writes it, but then a mistake must not end an agent. */
START_TEST(nonsense_is_no_start)
{
	static const char *const rows[] = {
		"", "x", "1,2", "1,2,3", "1,2,3,", "1,2,3,.a", "1,2,3,,,,,,.", "1,2,3,.%00%"};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct agent *a = agent_with(NULL);

		run_start_begin(a, NULL, rows[i]);
		profile_free(put(a));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run-start");
	TCase *t = tcase_create("start");

	tcase_add_test(t, other_agents_know_the_same);
	tcase_add_test(t, a_long_command_is_cut);
	tcase_add_test(t, a_command_can_be_left_out);
	tcase_add_test(t, tags_are_by_key_and_the_last_counts);
	tcase_add_test(t, nonsense_is_no_start);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
