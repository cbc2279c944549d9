/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four agents over TCP, in one process: 3 is below 2 in the tree (net/tree.h), and 2 is stopped.
 */
#include <check.h>
#include <errno.h>

#define AGENTS 4
#include "nodeagent/net/route.h"
#include "t/lib/suite.h"
#include "t/unit/net/tcp-agents.h"

#define TAG 500

static void attend_but(int stopped)
{
	for (int i = 0; i < AGENTS; i++) {
		if (i == stopped)
			continue;
		peers[i]->pump(peers[i], 0);
		route_attend(peers[i]);
	}
}

/* The word has come to agent `at` before anybody takes agent 2 for dead. */
static void comes_past_2(int at, int from, const char *word)
{
	int error = -ETIMEDOUT, who;
	size_t bytes;
	void *buf;

	while (error == -ETIMEDOUT && !peers[0]->gone(peers[0], 2) &&
		!peers[3]->gone(peers[3], 2)) {
		attend_but(2);
		error = peers[at]->receive(peers[at], from, TAG, &buf, &bytes, &who, 0);
	}
	ck_assert_int_eq(error, 0);
	ck_assert_int_eq(who, from);
	ck_assert_str_eq(buf, word);
	free(buf);
	error = peers[at]->receive(peers[at], from, TAG, &buf, &bytes, &who, 0);
	ck_assert_int_eq(error, -ETIMEDOUT);
}

START_TEST(a_stopped_agent_is_in_nobodys_way)
{
	meet(20);
	for (int i = 0; i < AGENTS; i++)
		route_open(peers[i]);
	ck_assert_int_eq(transport_to_root(peers[3], TAG, "up", 3, true, 0, 0), 0);
	comes_past_2(0, 3, "up");
	ck_assert_int_eq(transport_to_all(peers[0], TAG, "down", 5, 0), 0);
	comes_past_2(3, 0, "down");
	ck_assert_int_eq(transport_to_one(peers[0], 3, TAG, "to 3", 5, 0), 0);
	comes_past_2(3, 0, "to 3");
	part();
}
END_TEST

/* It has taken the message, and is stopped before it passes that on. */
START_TEST(one_that_is_stopped_with_a_message_is_passed_by)
{
	const double silent_s = 10; /* half of the deadline, after which the connection is cut */
	struct tcp_agent *a;

	meet(20);
	for (int i = 0; i < AGENTS; i++)
		route_open(peers[i]);
	a = tcp_agent_of((struct tcp *)peers[3], 2);
	ck_assert_int_eq(transport_to_root(peers[3], TAG, "up", 3, true, 0, 0), 0);
	while (a->kept) {
		attend_but(2);
		peers[2]->pump(peers[2], 0);
	}
	comes_past_2(0, 3, "up");
	ck_assert_double_lt(transport_now() - a->heard, silent_s);
	part();
}
END_TEST

static void attend_all_until(double seconds, bool (*done)(void))
{
	for (double until = transport_now() + seconds; !done() && transport_now() < until;)
		attend_but(-1);
	ck_assert(done());
}

static bool is_2_slow_for_none(void)
{
	return !peers[3]->slow(peers[3], 2) && !peers[0]->slow(peers[0], 2);
}

/* A job that runs for days must not be the poorer for it. */
START_TEST(one_that_goes_on_passes_on_again)
{
	const struct tcp_agent *direct;
	uint64_t by_2, past_2;
	size_t bytes;
	void *buf;
	int who;

	meet(20);
	for (int i = 0; i < AGENTS; i++)
		route_open(peers[i]);
	direct = tcp_agent_of((struct tcp *)peers[0], 3);
	ck_assert_int_eq(transport_to_root(peers[3], TAG, "up", 3, true, 0, 0), 0);
	comes_past_2(0, 3, "up");
	attend_all_until(20, is_2_slow_for_none);
	for (int i = 0; i < 100; i++)
		attend_but(-1);
	by_2 = peers[2]->counts.sent;
	past_2 = direct->received;
	ck_assert_int_eq(transport_to_root(peers[3], TAG, "again", 6, true, 0, 0), 0);
	while (peers[0]->receive(peers[0], 3, TAG, &buf, &bytes, &who, 0))
		attend_but(-1);
	ck_assert_str_eq(buf, "again");
	free(buf);
	ck_assert_uint_eq(direct->received, past_2);
	ck_assert_uint_gt(peers[2]->counts.sent, by_2);
	part();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp-tree");
	TCase *c = tcase_create("tcp-tree");

	tcase_set_timeout(c, 120);
	tcase_add_test(c, a_stopped_agent_is_in_nobodys_way);
	tcase_add_test(c, one_that_is_stopped_with_a_message_is_passed_by);
	tcase_add_test(c, one_that_goes_on_passes_on_again);
	suite_add_tcase(s, c);
	return run_suite(s);
}
