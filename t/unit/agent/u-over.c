/* SPDX-License-Identifier: BSD-3-Clause */
/* When an agent is over: the table of rules, and its times. */
#include "nodeagent/agent/over.c"

#include <check.h>
#include <stdlib.h>
#include "nodeagent/process/process.h"
#include "t/lib/suite.h"

#define N_RULES (sizeof(rules) / sizeof(rules[0]))

/* Each combination has a rule, and each rule decides some combination. */
START_TEST(the_table_is_complete_and_nothing_in_it_is_hidden)
{
	bool decides[N_RULES] = {false};
	struct situation s;

	for (unsigned i = 0; i < FORMS * PRESENCES * ORDERS * COMPANIES; i++) {
		unsigned k = i;

		s.form = k % FORMS, k /= FORMS;
		s.processes = k % PRESENCES, k /= PRESENCES;
		s.told = k % ORDERS, k /= ORDERS;
		s.others = k;
		ck_assert(rule_for(&s) < rules + N_RULES);
		decides[rule_for(&s) - rules] = true;
	}
	for (size_t i = 0; i < N_RULES; i++)
		ck_assert_msg(decides[i], "rule %zu decides nothing", i);
}
END_TEST

static const struct {
	struct situation s;
	double (*end)(struct agent *a);
} ends[] = {
	/* the command: until it has ended, and then until the other agents have, too */
	{{FORM_COMMAND, NOBODY, GO_ON, ALONE}, end_of_command},
	{{FORM_COMMAND, ENDED, GO_ON, BY_TCP}, end_of_command},
	{{FORM_COMMAND, HERE, GO_ON, ALONE}, end_never},
	{{FORM_COMMAND, HERE, STOP, ALONE}, end_by_patience},
	{{FORM_COMMAND, ENDED, STOP, ALONE}, end_without_children},
	{{FORM_COMMAND, ENDED, STOP, BY_TCP}, end_with_others},
	{{FORM_COMMAND, ENDED, STOP, JOINING}, end_after_joining},
	{{FORM_COMMAND, ENDED, STOP, CUT_OFF}, end_without_children},
	{{FORM_COMMAND, HERE, STOP_NOW, ALONE}, end_now},
	/* one of those that the front has started: until it is told, or nobody is there to tell */
	{{FORM_SIBLING, ENDED, GO_ON, BY_MPI}, end_when_told},
	{{FORM_SIBLING, NOBODY, GO_ON, ALONE}, end_when_told},
	{{FORM_SIBLING, ENDED, STOP, BY_MPI}, end_without_children},
	{{FORM_SIBLING, NOBODY, GO_ON, CUT_OFF}, end_of_orphan},
	{{FORM_SIBLING, ENDED, GO_ON, CUT_OFF}, end_after_linger},
	/* within a step: until the tasks of this node have ended, and those of others */
	{{FORM_STEP, NOBODY, GO_ON, ALONE}, end_never},
	{{FORM_STEP, ENDED, GO_ON, BY_TCP}, end_never},
	{{FORM_STEP, ENDED, GO_ON, JOINING}, end_after_joining},
	{{FORM_STEP, ENDED, STOP, BY_TCP}, end_with_others},
	{{FORM_STEP, ENDED, STOP, ALONE}, end_without_children},
	/* started by a process */
	{{FORM_EMBEDDED, NOBODY, GO_ON, ALONE}, end_embedded_in_vain},
	{{FORM_EMBEDDED, ENDED, GO_ON, ALONE}, end_after_linger},
	/* beside the processes */
	{{FORM_SIDECAR, NOBODY, GO_ON, ALONE}, end_by_late_profile},
	{{FORM_SIDECAR, MORE_EXPECTED, GO_ON, ALONE}, end_of_waiting},
	{{FORM_SIDECAR, ENDED, GO_ON, ALONE}, end_after_linger},
	{{FORM_SIDECAR, NOBODY, GO_ON, BY_MPI}, end_with_others},
	{{FORM_SIDECAR, MORE_EXPECTED, GO_ON, BY_TCP}, end_with_others},
	{{FORM_SIDECAR, MORE_EXPECTED, GO_ON, CUT_OFF}, end_of_waiting},
	{{FORM_SIDECAR, NOBODY, STOP_NOW, JOINING}, end_now},
};

START_TEST(each_form_has_its_end)
{
	ck_assert_ptr_eq(rule_for(&ends[_i].s)->left_s, ends[_i].end);
}
END_TEST

static struct agent made(enum agent_form form)
{
	struct agent a = {.form = form, .host = {.conf = conf_default()}};

	a.host.conf->agent_linger_s = 3;
	a.host.output_directory = a.host.lock_path = (char *)"/nowhere";
	return a;
}

static uint64_t ago(double s)
{
	return clock_raw_ns() - (uint64_t)(s * 1e9);
}

START_TEST(quiet_time_begins_when_the_last_process_has_ended)
{
	struct agent a = made(FORM_EMBEDDED);
	double wait_s;

	a.host.n_ever = a.host.n_live = 1;
	a.host.live = &(struct process){.greeted = true};
	a.quiet_since = ago(10);
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert_double_eq(wait_s, NEVER_S);
	ck_assert_uint_eq(a.quiet_since, 0);
	a.host.n_live = 0;
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert(wait_s > 2 && wait_s <= 3);
	a.quiet_since = ago(3.5);
	ck_assert(agent_is_over(&a, &wait_s));
	free(a.siblings);
	conf_free(a.host.conf);
}
END_TEST

START_TEST(an_embedded_agent_waits_longer_for_the_first_process)
{
	struct agent a = made(FORM_EMBEDDED);
	double wait_s;

	a.quiet_since = ago(15);
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert(wait_s > 0 && wait_s <= 5);
	a.quiet_since = ago(21);
	ck_assert(agent_is_over(&a, &wait_s));
	conf_free(a.host.conf);
}
END_TEST

/* Processes that go on after the command have so long, from when that was first seen. */
START_TEST(who_outlives_the_command_is_waited_for_once)
{
	struct agent a = made(FORM_COMMAND);
	double wait_s;

	a.host.n_ever = a.host.n_live = 1;
	a.told_to_stop = true;
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert(wait_s > 2 && wait_s <= 3);
	a.stop_since = ago(2);
	a.host.n_live = 0;
	a.host.forks_announced = 1; /* a child that has not said HELLO */
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert(wait_s > 0 && wait_s <= 1);
	a.stop_since = ago(4);
	ck_assert(agent_is_over(&a, &wait_s));
	a.stop_since = 0;
	a.host.children_seen = 1;
	ck_assert(agent_is_over(&a, &wait_s));
	free(a.siblings);
	conf_free(a.host.conf);
}
END_TEST

START_TEST(the_second_order_waits_for_nobody)
{
	struct agent a = made(FORM_SIDECAR);
	double wait_s;

	a.host.n_ever = a.host.n_live = 1;
	a.told_to_stop = a.at_once = true;
	ck_assert(agent_is_over(&a, &wait_s));
	free(a.siblings);
	conf_free(a.host.conf);
}
END_TEST

START_TEST(expected_processes_have_their_time)
{
	struct agent a = made(FORM_STEP); /* a sidecar would look for files, too */
	double wait_s;

	a.told_to_stop = true;
	a.several = a.orphaned = true;
	ck_assert(agent_is_over(&a, &wait_s)); /* its tasks have ended, and there is nobody else */
	a.told_to_stop = false;
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert_double_eq(wait_s, NEVER_S);
	a.form = FORM_SIDECAR;
	a.host.n_ever = 1;
	a.expect = 2;
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert_double_eq(wait_s, NEVER_S);
	a.within_s = 10;
	a.host.start_raw_ns = ago(8);
	ck_assert(!agent_is_over(&a, &wait_s));
	ck_assert(wait_s > 0 && wait_s <= 2);
	a.host.start_raw_ns = ago(11);
	ck_assert(agent_is_over(&a, &wait_s));
	conf_free(a.host.conf);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("over");
	TCase *t = tcase_create("table"), *times = tcase_create("times");

	tcase_add_test(t, the_table_is_complete_and_nothing_in_it_is_hidden);
	tcase_add_loop_test(t, each_form_has_its_end, 0, (int)(sizeof(ends) / sizeof(ends[0])));
	tcase_add_test(times, quiet_time_begins_when_the_last_process_has_ended);
	tcase_add_test(times, an_embedded_agent_waits_longer_for_the_first_process);
	tcase_add_test(times, who_outlives_the_command_is_waited_for_once);
	tcase_add_test(times, the_second_order_waits_for_nobody);
	tcase_add_test(times, expected_processes_have_their_time);
	suite_add_tcase(s, t);
	suite_add_tcase(s, times);
	return run_suite(s);
}
