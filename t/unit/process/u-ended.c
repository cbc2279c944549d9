/* SPDX-License-Identifier: BSD-3-Clause */
/* Of thousands of processes that have ended the agent keeps the first thousand, but for reasons. */
#include <check.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/ended.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rounds.h"
#include "t/lib/suite.h"

#define KEPT	1000u
#define AT_ONCE 64u

static struct host a;
static unsigned let_go;

static void count(struct process *p)
{
	ck_assert_int_eq(p->rank, (int)(PROFILE_UNRANKED + KEPT + let_go));
	let_go++;
}

static void setup(void)
{
	static const struct process_observer counter = {.let_go = count};
	static const struct process_observer *const observers[] = {&counter, NULL};

	a = (struct host){.epoll = -1, .observers = observers, .conf = conf_default()};
	clocks_init(&a.clocks, "raw");
	let_go = 0;
}

static void end_processes(unsigned n)
{
	while (n--) {
		struct process *p = process_new(&a, -1, 0);

		p->greeted = p->ended = true;
		p->end = PROCESS_EXITED;
		process_enlist(p);
		processes_sweep(&a);
	}
}

START_TEST(further_ones_are_let_go)
{
	end_processes(KEPT + 2 * AT_ONCE);
	ck_assert_uint_eq(let_go, 2 * AT_ONCE);
	ck_assert_uint_eq(a.n_warnings, 0);
}
END_TEST

START_TEST(though_a_function_is_switched_off)
{
	a.n_switches = 1;
	end_processes(KEPT + AT_ONCE);
	ck_assert_uint_eq(let_go, AT_ONCE);
}
END_TEST

START_TEST(though_some_ranks_have_logs)
{
	static char list[] = "0,100-999";

	a.conf->logfile_for_ranks = list;
	end_processes(KEPT + AT_ONCE);
	ck_assert_uint_eq(let_go, AT_ONCE);
	ck_assert_uint_eq(a.n_warnings, 0);
}
END_TEST

START_TEST(but_not_if_they_may_have_logs)
{
	static char lists[][8] = {"all", "0-1000"};

	a.conf->logfile_for_ranks = lists[_i];
	end_processes(KEPT);
	ck_assert_uint_eq(a.n_warnings, 0);
	end_processes(2 * AT_ONCE);
	ck_assert_uint_eq(let_go, 0);
	ck_assert_uint_eq(a.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(a.warnings[0], "more than 1000 processes have ended"));
	ck_assert_ptr_nonnull(strstr(a.warnings[0], "logfile_for_ranks"));
}
END_TEST

START_TEST(but_not_if_a_round_has_begun)
{
	struct round_times rounds = {0};

	a.rounds = &rounds;
	end_processes(KEPT + AT_ONCE);
	ck_assert_uint_eq(let_go, 0);
	ck_assert_uint_eq(a.n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(a.warnings[0], "rounds"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ended");
	TCase *c = tcase_create("ended");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, further_ones_are_let_go);
	tcase_add_test(c, though_a_function_is_switched_off);
	tcase_add_test(c, though_some_ranks_have_logs);
	tcase_add_loop_test(c, but_not_if_they_may_have_logs, 0, 2);
	tcase_add_test(c, but_not_if_a_round_has_begun);
	suite_add_tcase(s, c);
	return run_suite(s);
}
