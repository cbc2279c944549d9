/* SPDX-License-Identifier: BSD-3-Clause */
/* Which threads of a process get events of the kernel, and what is said of the others. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/internal.h"
#include "t/lib/suite.h"

static struct host host = {.clocks = {.ns_per_tick = 1}};
static struct process program = {.host = &host};
static struct stacks stacks;
static struct stack_process *sampled;
static pid_t other;

static void begin(void)
{
	program.pid = getpid();
	program.code = codemap_new();
	stacks = (struct stacks){
		.host = &host, .owner = getpid(), .period_ns = 1000000000, .rings_most = 10};
	sampled = stack_process_new(&stacks, &program);
	other = fork();
	ck_assert_int_ge(other, 0);
	if (!other) {
		alarm(120);
		pause();
		_exit(0);
	}
}

static void end(void)
{
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	stack_process_free(sampled);
	codemap_free(program.code);
	host_warnings_free(&host);
}

START_TEST(a_thread_of_another_process_is_not_sampled)
{
	struct thread_ring wrong = {.process = &program, .tid = other};

	begin();
	wrong.replay = replay_new(0, NULL, NULL);
	stack_process_thread(sampled, &wrong);
	stack_process_look(sampled);
	ck_assert_uint_eq(stacks.rings, !stack_events_refused()); /* its own thread */
	end();
	replay_free(wrong.replay);
}
END_TEST

START_TEST(no_more_rings_than_there_may_be)
{
	begin();
	stacks.rings_most = 0;
	stack_process_look(sampled);
	ck_assert_uint_eq(stacks.rings, 0);
	ck_assert_uint_eq(host.n_warnings, 1);
	ck_assert_int_eq(stacks.refused, 0);
	end();
}
END_TEST

START_TEST(a_want_of_descriptors_is_no_refusal)
{
	struct rlimit before;

	begin();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	if (!stack_events_refused()) {
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
		stacks_refused(&stacks, &program, EMFILE);
		stacks_refused(&stacks, &program, EACCES); /* of this process */
		ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
		ck_assert_int_eq(stacks.refused, 0);
		ck_assert_uint_eq(host.n_warnings, 1);
		ck_assert_ptr_nonnull(strstr(host.warnings[0], "maybe more, has no stack samples"));
	}
	end();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_thread_of_another_process_is_not_sampled,
		no_more_rings_than_there_may_be, a_want_of_descriptors_is_no_refusal};
	Suite *s = suite_create("threads");
	TCase *c = tcase_create("threads");

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
