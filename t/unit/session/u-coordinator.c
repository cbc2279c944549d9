/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The coordinator of sessions: requests of members that are with other agents, and what
 * these are told. A transport that keeps what is sent stands for the agents.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/session/coordinator.h"
#include "nodeagent/session/internal.h"
#include "nodeagent/session/session.h"
#include "t/lib/suite.h"

#define AGENTS	  3
#define TOLD_MOST 64
#define A	  0x101u /* keys of processes */
#define B	  0x202u
#define C	  0x303u
#define D	  0x404u

/* The outcomes so far. */
static struct told {
	int agent;
	struct session_outcome o;
	int32_t ranks[16];
	char text[512];
} told[TOLD_MOST];
static unsigned n_told, idle_reports;
static struct agent a;

static int keep(struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	struct told *t = &told[n_told++];
	const char *text;

	ck_assert_uint_lt(n_told, TOLD_MOST);
	ck_assert_uint_ge(bytes, sizeof(t->o));
	t->agent = to;
	memcpy(&t->o, buf, sizeof(t->o));
	text = (const char *)buf + bytes - t->o.text_bytes;
	memcpy(t->ranks, (const char *)buf + sizeof(t->o),
		(t->o.made.n + t->o.parent.n) * sizeof(t->ranks[0]));
	snprintf(t->text, sizeof(t->text), "%s", text);
	return 0;
}

static struct transport agents = {.size = AGENTS, .send = keep};

static void all_idle(struct agent *agent)
{
	idle_reports++;
}

static const struct session_duties duties = {.all_idle = all_idle};

static void setup(void)
{
	static char host[] = "host", session[] = "here";

	n_told = idle_reports = 0;
	a = (struct agent){
		.expect = 3, .host = {.name = host, .session = session, .transport = &agents}};
	sessions_begin(&a, &duties);
}

static void teardown(void)
{
	sessions_end(&a);
	host_warnings_free(&a.host);
}

/* ---- asking ---------------------------------------------------------------------- */

static uint32_t request; /* number of the last one */

static struct session_request about(uint32_t operation, uint64_t key)
{
	return (struct session_request){.operation = operation,
		.request = ++request,
		.key = key,
		.pid = (int32_t)(key & 0xff),
		.agent = 1 + (key == C)};
}

static uint32_t ask_with(struct session_request r, const void *data, size_t bytes)
{
	char copy[256] = "";

	memcpy(copy, data, bytes);
	r.bytes = (uint32_t)bytes;
	coordinator_take(&a, &r, copy);
	return r.request;
}

static uint32_t ask(uint32_t operation, uint64_t key)
{
	return ask_with(about(operation, key), "", 0);
}

static uint32_t join_as(uint64_t key, int number, const char *name, const char *contact)
{
	struct session_request r = about(SESSION_JOIN, key);
	char data[256];

	r.number = number;
	snprintf(data, sizeof(data), "%s%c%s", name, 0, contact);
	return ask_with(r, data, strlen(name) + strlen(contact) + 2);
}

static uint32_t create(uint64_t key, uint64_t comm, uint32_t n, const int32_t *ranks)
{
	struct session_request r = about(SESSION_CREATE, key);

	r.comm = comm;
	return ask_with(r, ranks, n * sizeof(*ranks));
}

static uint32_t attach(uint64_t key, uint64_t comm, int root, int children, const char *contact)
{
	struct session_request r = about(SESSION_ATTACH, key);

	r.comm = comm;
	r.number = root;
	r.count = children;
	return ask_with(r, contact, strlen(contact) + 1);
}

/* What was said to this request, or NULL: nothing yet. */
static const struct told *answer_to(uint32_t to)
{
	for (unsigned i = 0; i < n_told; i++)
		if (told[i].o.key && told[i].o.request == to)
			return &told[i];
	return NULL;
}

static const struct told *must_be(uint32_t to, enum session_code code)
{
	const struct told *t = answer_to(to);

	ck_assert_msg(t, "request %u has no outcome", to);
	ck_assert_int_eq(t->o.code, code);
	return t;
}

#define ck_assert_has(t, part)                                                                     \
	ck_assert_msg(strstr((t)->text, part), "\"%s\" lacks \"%s\"", (t)->text, part)

static void all_join(void)
{
	must_be(join_as(A, -1, "a", ""), SESSION_OK);
	must_be(join_as(B, -1, "b", ""), SESSION_OK);
	must_be(join_as(C, -1, "c", ""), SESSION_OK);
}

/* The communicator of all. */
static uint64_t all_start(void)
{
	uint32_t last;

	ask(SESSION_START, A);
	ask(SESSION_START, B);
	last = ask(SESSION_START, C);
	return must_be(last, SESSION_OK)->o.made.id;
}

/* ---- joining --------------------------------------------------------------------- */

START_TEST(who_joins_has_a_contact)
{
	const struct told *t = must_be(join_as(A, -1, "first", ""), SESSION_OK);

	ck_assert_str_eq(t->text, "host/here#0000000000000101");
	ck_assert_int_eq(t->agent, 1);
	must_be(join_as(B, -1, "second", t->text), SESSION_CONTACT);
	ck_assert_has(&told[1], "no process of this session has given the contact");
	must_be(join_as(B, -1, "second", "S:host/here#0000000000000101"), SESSION_OK);
	must_be(join_as(A, -1, "first", ""), SESSION_ALREADY);
}
END_TEST

START_TEST(a_contact_of_another_session_is_explained)
{
	const struct told *t =
		must_be(join_as(A, -1, "a", "host/there#00000000000000ff"), SESSION_CONTACT);

	ck_assert_has(t, "(session here): start the process with VFTR_SESSION=there");
	ck_assert_uint_eq(t->o.key, A);
	must_be(ask(SESSION_START, A), SESSION_NOT_JOINED);
}
END_TEST

START_TEST(names_and_numbers_are_checked)
{
	char long_name[300];
	const struct told *t;

	memset(long_name, 'x', sizeof(long_name));
	long_name[220] = '\0';
	must_be(join_as(A, -1, "", ""), SESSION_ARGUMENT);
	must_be(join_as(A, -2, "a", ""), SESSION_ARGUMENT);
	must_be(join_as(A, 1, "a\n", ""), SESSION_OK);
	t = must_be(join_as(B, 1, long_name, ""), SESSION_NUMBER);
	ck_assert_has(t, "a? (pid 1 on host) has number 1");
	must_be(join_as(B, 0, long_name, ""), SESSION_OK);
	must_be(join_as(C, -1, "c", ""), SESSION_OK);
	t = must_be(join_as(D, -1, "d", ""), SESSION_LIMIT);
	ck_assert_has(t, "all 3 processes have joined");
}
END_TEST

/* ---- rounds ---------------------------------------------------------------------- */

/* Ranks are the numbers; who has none gets what is free. Nothing is said before the last one. */
START_TEST(all_start_together)
{
	const struct told *t;
	uint32_t of_a, of_b, of_c;

	join_as(A, 2, "a", "");
	join_as(B, -1, "b", "");
	join_as(C, 0, "c", "");
	of_a = ask(SESSION_START, A);
	of_b = ask(SESSION_START, B);
	ck_assert_ptr_null(answer_to(of_a));
	ck_assert_ptr_null(answer_to(of_b));
	of_c = ask(SESSION_START, C);
	ck_assert_int_eq(must_be(of_a, SESSION_OK)->o.rank, 2);
	ck_assert_int_eq(must_be(of_b, SESSION_OK)->o.rank, 1);
	t = must_be(of_c, SESSION_OK);
	ck_assert_int_eq(t->o.rank, 0);
	ck_assert_int_eq(t->o.size, 3);
	ck_assert_uint_eq(t->o.epoch, 1);
	ck_assert_int_eq(t->agent, 2);
	ck_assert_uint_eq(t->o.made.n, 3);
	ck_assert_uint_eq(t->o.made.rank, 0);
	ck_assert(t->ranks[0] == 0 && t->ranks[1] == 1 && t->ranks[2] == 2);
	ck_assert_uint_eq(t->o.parent.id, 0);
	must_be(ask(SESSION_START, A), SESSION_ALREADY);
}
END_TEST

START_TEST(a_number_that_is_too_large_fails_all)
{
	uint32_t of_a;

	join_as(A, 0, "a", "");
	join_as(B, 1, "b", "");
	join_as(C, 7, "c", "");
	of_a = ask(SESSION_START, A);
	ask(SESSION_START, B);
	ask(SESSION_START, C);
	ck_assert_has(must_be(of_a, SESSION_NUMBER), "number 7, and there are 3 processes");
}
END_TEST

/* Who dies before the start fails it; another one may take his place. */
START_TEST(death_before_the_start)
{
	struct session_request died = about(SESSION_DIED, B);
	uint32_t of_a;

	all_join();
	of_a = ask(SESSION_START, A);
	died.number = 1;
	ask_with(died, "", 0);
	ck_assert_has(must_be(of_a, SESSION_DEAD), "vftrace_start: b (pid 2 on host) has died");
	must_be(ask(SESSION_START, A), SESSION_DEAD);
	must_be(join_as(D, -1, "d", ""), SESSION_OK);
	of_a = ask(SESSION_START, A);
	ask(SESSION_START, D);
	must_be(ask(SESSION_START, C), SESSION_OK);
	must_be(of_a, SESSION_OK);
}
END_TEST

/* Nobody waits for the dead at the end of a round; the next one has the next number. */
START_TEST(death_in_a_round)
{
	uint32_t of_a, of_c;

	all_join();
	all_start();
	of_a = ask(SESSION_FINISH, A);
	ask_with(about(SESSION_DIED, B), "", 0);
	ck_assert_ptr_null(answer_to(of_a));
	of_c = ask(SESSION_FINISH, C);
	ck_assert_has(must_be(of_a, SESSION_DEAD), "b (pid 2 on host) has ended");
	must_be(of_c, SESSION_DEAD);
	ck_assert_uint_eq(a.host.n_warnings, 1);
	of_a = ask(SESSION_START, A);
	of_c = ask(SESSION_START, C);
	ck_assert_uint_eq(must_be(of_a, SESSION_OK)->o.epoch, 2);
	ck_assert_int_eq(must_be(of_c, SESSION_OK)->o.size, 2);
}
END_TEST

START_TEST(with_on_death_abort_all_agents_stop_their_processes)
{
	unsigned before;

	a.abort_on_death = true;
	all_join();
	all_start();
	before = n_told;
	ask_with(about(SESSION_DIED, B), "", 0);
	ck_assert_uint_eq(n_told, before + AGENTS - 1); /* agent 0 needs no message */
	ck_assert_uint_eq(told[before].o.key, 0);
	ck_assert_int_eq(told[before].o.code, SESSION_OK);
	ck_assert_uint_eq(idle_reports, 0);
}
END_TEST

START_TEST(who_has_finished_may_go)
{
	unsigned before;

	a.abort_on_death = true;
	all_join();
	all_start();
	ask(SESSION_FINISH, A);
	ask(SESSION_FINISH, B);
	must_be(ask(SESSION_FINISH, C), SESSION_OK);
	before = n_told;
	ask_with(about(SESSION_DIED, B), "", 0);
	ck_assert_uint_eq(n_told, before);
	ask(SESSION_FINISH, A);
	ck_assert_int_eq(told[n_told - 1].o.code, SESSION_NOT_STARTED);
}
END_TEST

/* ---- other operations ------------------------------------------------------------ */

START_TEST(a_communicator_of_some)
{
	const int32_t two[] = {2, 0}, twice[] = {1, 1}, wrong[] = {0, 3};
	const struct told *t;
	uint64_t world;
	uint32_t of_a;

	all_join();
	world = all_start();
	of_a = create(A, world, 2, two);
	ck_assert_ptr_null(answer_to(of_a));
	t = must_be(create(C, world, 2, two), SESSION_OK);
	ck_assert_uint_eq(t->o.made.n, 2);
	ck_assert_uint_eq(t->o.made.rank, 0);
	ck_assert(t->ranks[0] == 2 && t->ranks[1] == 0);
	ck_assert_uint_eq(must_be(of_a, SESSION_OK)->o.made.id, t->o.made.id);
	must_be(create(A, world, 2, twice), SESSION_ARGUMENT);
	ck_assert_has(must_be(create(A, world, 2, wrong), SESSION_ARGUMENT), "rank 3");
	must_be(create(B, t->o.made.id, 1, (int32_t[]){0}), SESSION_ARGUMENT); /* not in it */
}
END_TEST

/* It is there until all of its members have freed it. */
START_TEST(a_communicator_is_freed_by_all)
{
	struct session_request r = about(SESSION_FREE, A);
	const int32_t self[] = {0};

	all_join();
	r.comm = all_start();
	ask_with(r, "", 0);
	r.key = B;
	ask_with(r, "", 0);
	must_be(create(A, r.comm, 1, self), SESSION_OK);
	r.key = C;
	ask_with(r, "", 0);
	must_be(create(A, r.comm, 1, self), SESSION_ARGUMENT);
}
END_TEST

/* Else it would have the worlds of all rounds. */
START_TEST(a_round_takes_its_world_along)
{
	all_join();
	for (int round = 0; round < 5; round++) {
		const uint64_t world = all_start();

		ck_assert_uint_eq(a.sessions->coordinator->n_comms, 1);
		ck_assert_ptr_nonnull(communicator_find(a.sessions->coordinator, world));
		ask(SESSION_FINISH, A);
		ask(SESSION_FINISH, B);
		must_be(ask(SESSION_FINISH, C), SESSION_OK);
		ck_assert_uint_eq(a.sessions->coordinator->n_comms, 0);
		n_told = 0;
	}
}
END_TEST

START_TEST(who_gives_up_is_told_who_is_missing)
{
	struct session_request r = about(SESSION_GIVE_UP, A);
	uint32_t of_a;

	join_as(A, -1, "a", "");
	join_as(B, -1, "b", "");
	of_a = ask(SESSION_START, A);
	must_be(ask(SESSION_START, A), SESSION_BUSY);
	r.number = (int32_t)of_a;
	ask_with(r, "", 0);
	ck_assert_str_eq(must_be(of_a, SESSION_TIMEOUT)->text,
		"vftrace_start: 1 of 3 processes have come; missing: b (pid 2 on host); 1 have not "
		"joined");
	of_a = ask(SESSION_START, A); /* as if it had never come */
	ck_assert_ptr_null(answer_to(of_a));
}
END_TEST

START_TEST(abort_and_reset)
{
	uint32_t of_a, of_b;

	all_join();
	all_start();
	of_a = ask(SESSION_FINISH, A);
	ask(SESSION_ABORT, B);
	ck_assert_has(
		must_be(of_a, SESSION_ABORTED), "b (pid 2 on host) has called vftrace_abort()");
	ask(SESSION_RESET, A);
	ask(SESSION_RESET, B);
	of_b = ask(SESSION_START, B);
	ck_assert_ptr_null(answer_to(of_b)); /* C is in the round yet */
	ask(SESSION_RESET, C);
	ask(SESSION_START, A);
	ck_assert_uint_eq(must_be(ask(SESSION_START, C), SESSION_OK)->o.epoch, 2);
	must_be(of_b, SESSION_OK);
}
END_TEST

START_TEST(children_attach)
{
	const struct told *t;
	char contact[512];
	uint32_t of_a, of_child;
	uint64_t world;

	a.expect = 1;
	join_as(A, -1, "parent", "");
	world = must_be(ask(SESSION_START, A), SESSION_OK)->o.made.id;
	t = must_be(ask(SESSION_CHILDREN, A), SESSION_OK);
	snprintf(contact, sizeof(contact), "%s", t->text);
	must_be(join_as(B, -1, "child", contact), SESSION_OK);
	must_be(join_as(C, -1, "child", contact), SESSION_OK);
	of_child = ask(SESSION_START, B);
	of_a = attach(A, world, 0, 2, contact);
	ck_assert_ptr_null(answer_to(of_a));
	ask(SESSION_START, C);
	t = must_be(of_a, SESSION_OK);
	ck_assert_uint_eq(t->o.made.n, 3);
	ck_assert_int_eq(t->o.size, 3);
	t = must_be(of_child, SESSION_OK);
	ck_assert_uint_eq(t->o.made.n, 2);
	ck_assert_uint_eq(t->o.parent.n, 3);
	ck_assert_uint_eq(t->o.parent.rank, 1);
	ck_assert_int_eq(t->o.rank, 1);
	ck_assert_uint_eq(t->o.epoch, 1); /* of the round of the parents */
	must_be(attach(A, world, 0, 2, contact), SESSION_CONTACT);
}
END_TEST

/* ---- agents ---------------------------------------------------------------------- */

START_TEST(an_agent_that_is_gone_takes_its_processes_along)
{
	uint32_t of_a;

	all_join();
	of_a = ask(SESSION_START, A);
	sessions_agent_gone(&a, 2);
	ck_assert_has(must_be(of_a, SESSION_DEAD), "c (pid 3 on host) cannot be reached any more");
	ck_assert_has(must_be(ask(SESSION_START, C), SESSION_DEAD),
		"the session has gone on without this process");
}
END_TEST

static void say(int agent, enum session_activity what)
{
	const struct session_request r = {
		.operation = SESSION_IDLE, .agent = agent, .number = (int32_t)what};

	coordinator_take(&a, &r, "");
}

/* Once, when one is quiet and none is busy; again after one was busy. */
START_TEST(all_are_idle)
{
	say(1, SESSION_QUIET);
	ck_assert_uint_eq(idle_reports, 1);
	ck_assert_uint_eq(n_told, AGENTS - 1);
	ck_assert_int_eq(told[0].o.code, SESSION_TIMEOUT);
	say(2, SESSION_QUIET);
	ck_assert_uint_eq(idle_reports, 1);
	say(0, SESSION_BUSY_NODE);
	say(1, SESSION_QUIET);
	ck_assert_uint_eq(idle_reports, 1);
	say(0, SESSION_NOBODY);
	ck_assert_uint_eq(idle_reports, 2);
	say(AGENTS, SESSION_QUIET); /* there is no such agent */
	say(-1, SESSION_QUIET);
	say(1, 77);
	ck_assert_uint_eq(idle_reports, 2);
	say(0, SESSION_BUSY_NODE);
	sessions_agent_gone(&a, 0);
	ck_assert_uint_eq(idle_reports, 3);
}
END_TEST

/* Requests of before the agents have met are kept, and go on then. */
START_TEST(requests_wait_until_the_agents_have_met)
{
	struct session_request r = about(SESSION_JOIN, A);

	a.joining = true;
	r.bytes = 3;
	sessions_forward(&a, &r, "a\0");
	ck_assert_double_lt(sessions_tick(&a), 1);
	ck_assert_ptr_null(a.sessions->coordinator);
	a.joining = false;
	sessions_forward(&a, &(struct session_request){.operation = SESSION_IDLE}, "");
	ck_assert_ptr_nonnull(a.sessions->coordinator);
	ck_assert_uint_eq(n_told, 0);
	agents.receive = NULL;
	a.host.transport = NULL; /* nobody else has come */
	sessions_tick(&a);
	ck_assert_uint_eq(a.sessions->n_queue, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("coordinator");
	TCase *t = tcase_create("coordinator");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, who_joins_has_a_contact);
	tcase_add_test(t, a_contact_of_another_session_is_explained);
	tcase_add_test(t, names_and_numbers_are_checked);
	tcase_add_test(t, all_start_together);
	tcase_add_test(t, a_number_that_is_too_large_fails_all);
	tcase_add_test(t, death_before_the_start);
	tcase_add_test(t, death_in_a_round);
	tcase_add_test(t, with_on_death_abort_all_agents_stop_their_processes);
	tcase_add_test(t, who_has_finished_may_go);
	tcase_add_test(t, a_communicator_of_some);
	tcase_add_test(t, a_communicator_is_freed_by_all);
	tcase_add_test(t, a_round_takes_its_world_along);
	tcase_add_test(t, who_gives_up_is_told_who_is_missing);
	tcase_add_test(t, abort_and_reset);
	tcase_add_test(t, children_attach);
	tcase_add_test(t, an_agent_that_is_gone_takes_its_processes_along);
	tcase_add_test(t, all_are_idle);
	tcase_add_test(t, requests_wait_until_the_agents_have_met);
	suite_add_tcase(s, t);
	return run_suite(s);
}
