/* SPDX-License-Identifier: BSD-3-Clause */
/* How agent 0 waits for the end of the others, and what it says if they are slow. */
#include "nodeagent/collate/collate.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"
#include "t/lib/suite.h"

#define AGENTS	   4
#define DEADLINE_S 0.05

static unsigned goodbyes; /* that will come */
static bool all_leave, finished;
static char said[1000];

static int take_goodbye(
	struct transport *t, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	(void)t, (void)from, (void)until;
	if (tag != TAG_BYE || !goodbyes)
		return -ETIMEDOUT;
	*who = (int)goodbyes--;
	*buf = xcalloc(1, *bytes = 2 * sizeof(uint64_t));
	return 0;
}

static int take_nothing(
	struct transport *t, int to, int tag, const void *buf, size_t bytes, double until)
{
	(void)t, (void)to, (void)tag, (void)buf, (void)bytes, (void)until;
	return 0;
}

static bool others_leave(struct transport *t, double until)
{
	(void)t, (void)until;
	return all_leave;
}

static void note_finish(struct transport *t, int together, int status, double until)
{
	(void)t, (void)together, (void)status, (void)until;
	finished = true;
}

/* Sets `said' to what is printed on standard error. */
static void end(struct transport *t, bool complete)
{
	FILE *to = tmpfile();
	const int was = dup(STDERR_FILENO);

	t->size = AGENTS;
	t->send = take_nothing;
	t->receive = take_goodbye;
	t->finish = note_finish;
	t->plan = xcalloc(1, sizeof(*t->plan));
	*t->plan = (struct collate_plan){
		.n = AGENTS, .n_present = AGENTS, .parent = -1, .complete = complete};
	ck_assert_ptr_nonnull(to);
	dup2(fileno(to), STDERR_FILENO);
	collate_end(t, 0, DEADLINE_S);
	dup2(was, STDERR_FILENO);
	close(was);
	rewind(to);
	fread(said, 1, sizeof(said) - 1, to);
	fclose(to);
	ck_assert(finished);
}

START_TEST(all_say_goodbye)
{
	struct transport t = {0};

	goodbyes = AGENTS - 1;
	end(&t, true);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(one_does_not)
{
	struct transport t = {0};

	goodbyes = AGENTS - 2;
	end(&t, true);
	ck_assert_ptr_nonnull(strstr(said, "not all agents had written their files 0 s after"));
}
END_TEST

START_TEST(all_leave_in_time)
{
	struct transport t = {.await_left = others_leave};

	all_leave = true;
	end(&t, true);
	ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(one_stays)
{
	struct transport t = {.await_left = others_leave};

	end(&t, true);
	ck_assert_ptr_nonnull(strstr(said, "not all agents had written their files 0 s after"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("end");
	TCase *c = tcase_create("end");

	tcase_add_test(c, all_say_goodbye);
	tcase_add_test(c, one_does_not);
	tcase_add_test(c, all_leave_in_time);
	tcase_add_test(c, one_stays);
	suite_add_tcase(s, c);
	return run_suite(s);
}
