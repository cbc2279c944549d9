/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight agents over TCP, in one process, that have few connections: what two have for each other
 * makes one, and what neighbours of a dead agent see comes to all.
 *
 *	0 - 1, 2, 4	2 - 3	4 - 5, 6	6 - 7
 */
#include <check.h>
#include <errno.h>
#include <sys/socket.h>

#define AGENTS 8
#include "nodeagent/net/route.h"
#include "t/lib/suite.h"
#include "t/unit/net/tcp-agents.h"

#define TAG 500

static bool linked(int from, int to)
{
	const struct tcp_agent *a = tcp_agent_known((struct tcp *)peers[from], to);

	return a && a->link.fd >= 0;
}

static int links_of(int i)
{
	int n = 0;

	for (int k = 0; k < AGENTS; k++)
		n += linked(i, k);
	return n;
}

static void begin_agents(double deadline_s)
{
	static const int neighbours[AGENTS] = {3, 1, 2, 1, 3, 1, 2, 1};

	meet(deadline_s);
	/* the tree, and agent 0 and each of those that told it their host: nothing routes here */
	for (int i = 1; i < AGENTS; i++)
		ck_assert_int_le(links_of(i), neighbours[i] + 1);
}

/* As if its node ran no agent any more. */
static void kill_agent(int i)
{
	struct tcp *t = (struct tcp *)peers[i];

	for (size_t k = 0; k < t->n_listeners; k++)
		tcp_close(t, t->listener[k]);
	t->n_listeners = 0;
	for (size_t k = 0; k < t->n_known; k++)
		if (t->known[k]->link.fd >= 0)
			shutdown(t->known[k]->link.fd, SHUT_RDWR);
	peers[i] = NULL;
}

static void forget_agent(struct transport *p)
{
	collate_plan_free(p->plan);
	p->finish(p, 0, 0, 0);
}

static void sends(int from, int to)
{
	size_t bytes;
	void *buf;
	int who, error = -ETIMEDOUT;

	ck_assert_int_eq(peers[from]->send(peers[from], to, TAG, "word", 5, 0), 0);
	for (double until = transport_now() + 20; error && transport_now() < until;) {
		pump_all(0.005);
		error = peers[to]->receive(peers[to], from, TAG, &buf, &bytes, &who, 0);
	}
	ck_assert_int_eq(error, 0);
	ck_assert_str_eq(buf, "word");
	free(buf);
	ck_assert(linked(from, to));
}

START_TEST(connections_on_demand)
{
	begin_agents(20);
	/* the lower one has to ask the other one to dial */
	ck_assert(!linked(1, 7));
	sends(1, 7);
	ck_assert(!linked(5, 3));
	sends(5, 3);
	sends(3, 5);
	part();
}
END_TEST

static bool all_know_of(int dead)
{
	bool all = true;

	for (int i = 0; i < AGENTS; i++)
		all &= i == dead || !peers[i] || peers[i]->gone(peers[i], dead);
	return all;
}

START_TEST(a_death_comes_to_all)
{
	struct transport *killed;

	begin_agents(20);
	killed = peers[6];
	kill_agent(6);
	for (double until = transport_now() + 15; !all_know_of(6) && transport_now() < until;)
		pump_all(0.005);
	ck_assert(all_know_of(6));
	for (int i = 0; i < AGENTS; i++)
		for (int k = 0; k < AGENTS; k++)
			ck_assert(k == 6 || !peers[i] || !peers[i]->gone(peers[i], k));
	/* those beyond it have become neighbours */
	for (double until = transport_now() + 15; !linked(4, 7) && transport_now() < until;)
		pump_all(0.005);
	ck_assert(linked(4, 7));
	forget_agent(killed);
	part();
}
END_TEST

/* Neighbours at both ends of a connection that is cut for a while see each other dead. */
START_TEST(who_is_back_is_alive_for_all)
{
	struct transport *cut;

	begin_agents(1);
	cut = peers[4];
	peers[4] = NULL; /* it is stopped */
	for (double until = transport_now() + 15; !all_know_of(4) && transport_now() < until;)
		pump_all(0.005);
	ck_assert(all_know_of(4));
	peers[4] = cut;
	for (double until = transport_now() + 15; transport_now() < until;) {
		bool alive = true;

		pump_all(0.005);
		for (int i = 0; i < AGENTS; i++)
			for (int k = 0; k < AGENTS; k++)
				alive &= !peers[i]->gone(peers[i], k);
		if (alive)
			break;
	}
	for (int i = 0; i < AGENTS; i++)
		for (int k = 0; k < AGENTS; k++)
			ck_assert_msg(!peers[i]->gone(peers[i], k), "%d takes %d for dead", i, k);
	part();
}
END_TEST

START_TEST(news_that_make_no_sense)
{
	static const struct {
		uint32_t words[5];
		size_t bytes;
	} wrong[] = {
		{{0, 0, 8, TCP_ENDED}, 16},
		{{0, 0, 1, TCP_FATES}, 16},
		{{0, 0, 1, TCP_ENDED}, 15},
		{{0}, 4},
		{{0, 0, 1, TCP_ENDED, 1}, 20},
	};
	struct tcp *t;
	struct tcp_agent *a;
	uint32_t words[4] = {0, 0, 5, TCP_ENDED};

	meet(20);
	t = (struct tcp *)peers[0];
	a = tcp_agent_of(t, 4);
	ck_assert_int_eq(
		tcp_news_take(t, a, (const char *)wrong[_i].words, wrong[_i].bytes), -EPROTO);
	/* about itself, about us, and about one on another side of the tree: nobody is heard */
	for (words[2] = 0; words[2] < 5; words[2]++) {
		ck_assert_int_eq(tcp_news_take(t, a, (const char *)words, sizeof(words)), 0);
		ck_assert(!peers[0]->gone(peers[0], (int)words[2]));
	}
	part();
}
END_TEST

/* 4 is dead, and 5 and 6 are neighbours of 0: 5 does not know how 7 fares, which is below 6. */
START_TEST(each_tells_of_those_below_it)
{
	static const uint32_t all_live[2] = {1}, seven_is_dead[4] = {0, 0, 7, TCP_ENDED};
	struct tcp *t;

	meet(20);
	t = (struct tcp *)peers[0];
	tcp_link_close(t, tcp_agent_of(t, 7));
	ck_assert_int_eq(tcp_news_take(t, tcp_agent_of(t, 5), (const char *)seven_is_dead, 16), 0);
	ck_assert(!peers[0]->gone(peers[0], 7));
	ck_assert_int_eq(tcp_news_take(t, tcp_agent_of(t, 6), (const char *)seven_is_dead, 16), 0);
	ck_assert(peers[0]->gone(peers[0], 7));
	ck_assert_int_eq(tcp_news_take(t, tcp_agent_of(t, 5), (const char *)all_live, 8), 0);
	ck_assert(peers[0]->gone(peers[0], 7));
	ck_assert_int_eq(tcp_news_take(t, tcp_agent_of(t, 6), (const char *)all_live, 8), 0);
	ck_assert(!peers[0]->gone(peers[0], 7));
	part();
}
END_TEST

/* Its neighbour sees the end of it, and says so, before we read the end of our connection. */
START_TEST(a_death_is_told_before_it_is_seen)
{
	static const uint32_t seven_is_dead[4] = {0, 0, 7, TCP_ENDED}, it_lives[4] = {0, 0, 7};
	struct tcp_agent *by;
	struct tcp *t;

	meet(20);
	sends(0, 7);
	t = (struct tcp *)peers[0];
	by = tcp_agent_of(t, 4);
	ck_assert_int_eq(tcp_news_take(t, by, (const char *)seven_is_dead, 16), 0);
	ck_assert(!peers[0]->gone(peers[0], 7));
	if (_i == 1)
		ck_assert_int_eq(tcp_news_take(t, by, (const char *)it_lives, 16), 0);
	if (_i == 2)
		ck_assert_int_eq(tcp_news_take(t, by, (const char *)(uint32_t[2]){1}, 8), 0);
	tcp_lost(t, tcp_agent_of(t, 7), "a test");
	peers[0]->pump(peers[0], 0);
	ck_assert_int_eq(peers[0]->gone(peers[0], 7), !_i);
	part();
}
END_TEST

static struct collate_plan *plan_of_1;

static bool take_plan(struct transport *p, const void *buf, size_t bytes)
{
	p->plan = plan_of_1;
	return true;
}

/* Nobody listened there before all had come, and there was no time to dial again. */
START_TEST(who_came_late_is_not_dead)
{
	const struct transport_plan_operations o = {.tag = TAG, .take = take_plan};
	struct tcp_agent *late;
	struct tcp *t;

	meet(20);
	t = (struct tcp *)peers[1];
	ck_assert(!tcp_agent_known(t, 6));
	plan_of_1 = peers[1]->plan;
	peers[1]->plan = NULL;
	t->host_said = true;
	peers[1]->meet(peers[1], 6);
	late = tcp_agent_of(t, 6);
	late->refused_since = transport_now() - 10;
	late->next_dial = transport_now() + 10;
	tcp_deliver(t, 0, TAG, false, xstrdup("plan"), 5);
	ck_assert(tcp_joined(peers[1], &o));
	for (double until = transport_now() + 15; !linked(1, 6) && transport_now() < until;) {
		pump_all(0.005);
		ck_assert(!peers[1]->gone(peers[1], 6));
	}
	ck_assert(linked(1, 6));
	part();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tcp-demand");
	TCase *c = tcase_create("tcp-demand");

	program_name = "u-tcp-demand";
	tcase_set_timeout(c, 120);
	tcase_add_test(c, connections_on_demand);
	tcase_add_test(c, a_death_comes_to_all);
	tcase_add_test(c, who_is_back_is_alive_for_all);
	tcase_add_test(c, each_tells_of_those_below_it);
	tcase_add_loop_test(c, a_death_is_told_before_it_is_seen, 0, 3);
	tcase_add_test(c, who_came_late_is_not_dead);
	tcase_add_loop_test(c, news_that_make_no_sense, 0, 5);
	suite_add_tcase(s, c);
	return run_suite(s);
}
