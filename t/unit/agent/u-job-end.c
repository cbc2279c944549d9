/* SPDX-License-Identifier: BSD-3-Clause */
/* When agent 0 takes a job for over, by what the agents say. */
#include "nodeagent/agent/job-end.h"

#include <check.h>
#include <stdlib.h>
#include "t/lib/suite.h"

static const struct job_rule usual;

static bool say(struct job_end *j, int who, int what, int ended, int world, int ever)
{
	const struct job_state s = {what, ended, world, ever, 0, 0};

	return job_end_take(j, who, &s, sizeof(s));
}

START_TEST(nobody_has_come)
{
	struct job_end *j = job_end_new(2, 100);

	ck_assert(!job_end_reached(j, &usual, 1000));
	job_end_free(j);
}
END_TEST

START_TEST(all_ranks_have_ended)
{
	struct job_end *j = job_end_new(2, 100);

	say(j, 0, JOB_DONE, 2, 4, 2);
	say(j, 1, JOB_BUSY, 1, 4, 2);
	ck_assert(!job_end_reached(j, &usual, 101));
	say(j, 1, JOB_DONE, 2, 4, 2);
	ck_assert(job_end_reached(j, &usual, 101));
	job_end_free(j);
}
END_TEST

/* Agents tell each other of messages if any of them has some, or may have. */
START_TEST(there_is_something_to_exchange)
{
	struct job_end *j = job_end_new(3, 100);
	struct job_state s = {JOB_DONE, 2, 4, 2, 0, 0};
	uint32_t *gone;
	size_t n_gone;

	ck_assert(!job_end_exchange(j));
	job_end_take(j, 0, &s, sizeof(s));
	ck_assert(!job_end_exchange(j));
	say(j, 1, JOB_BUSY, 1, 4, 2);
	ck_assert(job_end_exchange(j));
	say(j, 1, JOB_DONE, 2, 4, 2);
	ck_assert(!job_end_exchange(j));
	s.sends = 1;
	job_end_take(j, 2, &s, sizeof(s));
	ck_assert(job_end_exchange(j));
	s.sends = 0;
	s.paths = 7;
	job_end_take(j, 0, &s, sizeof(s));
	job_end_take(j, 2, &s, sizeof(s));
	ck_assert_uint_eq(job_end_paths(j), 14);
	ck_assert(!job_end_exchange(j));
	gone = job_end_gone(j, &n_gone);
	ck_assert_uint_eq(n_gone, 0);
	free(gone);
	say(j, 2, JOB_GONE, 0, 0, 0);
	ck_assert(job_end_exchange(j));
	gone = job_end_gone(j, &n_gone);
	ck_assert_uint_eq(n_gone, 1);
	ck_assert_uint_eq(gone[0], 2);
	free(gone);
	job_end_free(j);
}
END_TEST

/* Ranks that were never seen are waited for, but not for ever; less if an agent is gone. */
START_TEST(ranks_are_missing)
{
	struct job_end *j = job_end_new(3, 100);

	say(j, 0, JOB_DONE, 2, 4, 2);
	say(j, 1, JOB_DONE, 1, 4, 1);
	ck_assert(!job_end_reached(j, &usual, 101));
	ck_assert(!job_end_reached(j, &usual, 110));
	job_end_restart(j);
	ck_assert(!job_end_reached(j, &usual, 111));
	ck_assert(!job_end_reached(j, &usual, 120));
	ck_assert(job_end_reached(j, &usual, 122));
	job_end_restart(j);
	ck_assert(say(j, 2, JOB_GONE, 0, 0, 0));
	ck_assert(!job_end_reached(j, &usual, 130));
	ck_assert(job_end_reached(j, &usual, 133));
	job_end_free(j);
}
END_TEST

/* An agent that will take the profile of another one has ranks that it does not know yet. */
START_TEST(ranks_are_with_another_agent)
{
	struct job_end *j = job_end_new(3, 100);

	say(j, 0, JOB_WAITS, 0, 0, 0);
	say(j, 1, JOB_DONE, 0, 0, 0);
	say(j, 2, JOB_IDLE, 0, 0, 0);
	ck_assert(!job_end_reached(j, &usual, 101));
	say(j, 1, JOB_DONE, 2, 4, 2);
	ck_assert(!job_end_reached(j, &usual, 1000));
	say(j, 0, JOB_DONE, 0, 0, 0); /* it was killed */
	ck_assert(!job_end_reached(j, &usual, 1001));
	ck_assert(job_end_reached(j, &usual, 1012));
	say(j, 0, JOB_WAITS, 0, 0, 0);
	say(j, 2, JOB_DONE, 2, 4, 2);
	ck_assert(job_end_reached(j, &usual, 1013)); /* it waits for one of another job */
	job_end_free(j);
}
END_TEST

/* It takes nothing with it: the others go on waiting. */
START_TEST(gone_before_anybody_has_come)
{
	const struct job_rule two = {.expect = 2, .within_s = 60};
	struct job_end *j = job_end_new(3, 100);

	ck_assert(say(j, 1, JOB_GONE, 0, 0, 0));
	ck_assert(!job_end_reached(j, &usual, 10000));
	ck_assert(!job_end_reached(j, &two, 159));
	ck_assert(job_end_reached(j, &two, 161));
	say(j, 0, JOB_BUSY, 0, 0, 1);
	ck_assert(!job_end_reached(j, &usual, 20000));
	say(j, 0, JOB_DONE, 0, 0, 1);
	ck_assert(job_end_reached(j, &usual, 20000));
	ck_assert(job_end_reached(j, &two, 101)); /* the other one may have been there */
	job_end_free(j);
}
END_TEST

START_TEST(gone_and_here_again)
{
	struct job_end *j = job_end_new(2, 100);

	say(j, 0, JOB_DONE, 1, 2, 1);
	say(j, 1, JOB_BUSY, 0, 2, 1);
	ck_assert(say(j, 1, JOB_GONE, 0, 2, 1));
	ck_assert(say(j, 1, JOB_GONE, 0, 2, 1)); /* what it was before is still known */
	ck_assert(!job_end_reached(j, &usual, 101));
	ck_assert(!job_end_take(j, 1, "", 0));
	ck_assert(!job_end_reached(j, &usual, 200)); /* it is busy */
	ck_assert(!job_end_take(j, 1, "", 0));
	ck_assert(!job_end_take(j, 1, "no state", 3));
	ck_assert(!job_end_reached(j, &usual, 300));
	job_end_free(j);
}
END_TEST

/* Word of a death may overtake what the agent said before. */
START_TEST(gone_before_its_words_come)
{
	struct job_end *j = job_end_new(2, 100);

	say(j, 0, JOB_DONE, 1, 2, 1);
	ck_assert(job_end_take(j, 1, "", 1));
	ck_assert(!say(j, 1, JOB_BUSY, 0, 2, 1));
	ck_assert(!job_end_reached(j, &usual, 101));
	ck_assert(job_end_reached(j, &usual, 104)); /* it is gone all the same */
	ck_assert(!job_end_take(j, 1, "", 0));
	ck_assert(!job_end_reached(j, &usual, 200)); /* and back, busy */
	job_end_free(j);
}
END_TEST

START_TEST(processes_are_expected)
{
	const struct job_rule four = {.expect = 4}, soon = {.expect = 4, .within_s = 60};
	struct job_end *j = job_end_new(2, 100);

	say(j, 0, JOB_DONE, 0, 0, 2);
	say(j, 1, JOB_DONE, 0, 0, 1);
	ck_assert(!job_end_reached(j, &four, 10000));
	ck_assert(!job_end_reached(j, &soon, 159));
	ck_assert(job_end_reached(j, &soon, 161));
	say(j, 1, JOB_DONE, 0, 0, 2);
	ck_assert(job_end_reached(j, &four, 101));
	job_end_free(j);
}
END_TEST

START_TEST(each_knows_its_end)
{
	const struct job_rule step = {.all_must_end = true};
	struct job_end *j = job_end_new(2, 100);

	say(j, 0, JOB_DONE, 0, 4, 1);
	ck_assert(!job_end_reached(j, &step, 1000));
	say(j, 1, JOB_GONE, 0, 4, 1);
	ck_assert(job_end_reached(j, &step, 101));
	job_end_free(j);
}
END_TEST

/* Its processes may have come before it had joined the others. */
START_TEST(who_has_not_spoken_is_waited_for)
{
	const struct job_rule tcp = {.all_speak = true};
	struct job_end *j = job_end_new(3, 100);

	say(j, 0, JOB_DONE, 0, 0, 1);
	ck_assert(job_end_take(j, 1, "", 1));
	ck_assert(!job_end_reached(j, &tcp, 101));
	say(j, 2, JOB_BUSY, 0, 0, 1);
	ck_assert(!job_end_reached(j, &tcp, 1000));
	say(j, 2, JOB_DONE, 0, 0, 1);
	ck_assert(job_end_reached(j, &tcp, 101));
	job_end_free(j);
}
END_TEST

START_TEST(who_never_speaks_is_not_waited_for_for_ever)
{
	const struct job_rule tcp = {.all_speak = true};
	struct job_end *j = job_end_new(2, 100);

	say(j, 0, JOB_DONE, 0, 0, 1);
	ck_assert(!job_end_reached(j, &tcp, 109));
	ck_assert(job_end_reached(j, &tcp, 111));
	job_end_free(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("job-end");
	TCase *t = tcase_create("job-end");

	tcase_add_test(t, nobody_has_come);
	tcase_add_test(t, all_ranks_have_ended);
	tcase_add_test(t, there_is_something_to_exchange);
	tcase_add_test(t, ranks_are_missing);
	tcase_add_test(t, ranks_are_with_another_agent);
	tcase_add_test(t, gone_before_anybody_has_come);
	tcase_add_test(t, gone_and_here_again);
	tcase_add_test(t, gone_before_its_words_come);
	tcase_add_test(t, processes_are_expected);
	tcase_add_test(t, each_knows_its_end);
	tcase_add_test(t, who_has_not_spoken_is_waited_for);
	tcase_add_test(t, who_never_speaks_is_not_waited_for_for_ever);
	suite_add_tcase(s, t);
	return run_suite(s);
}
