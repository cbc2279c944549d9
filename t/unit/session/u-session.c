/* SPDX-License-Identifier: BSD-3-Clause */
/* What an agent keeps of a process in a session, from round to round. */
#include "nodeagent/session/session.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/session/coordinator.h"
#include "shm/ring.h"
#include "t/lib/suite.h"

#define ROUNDS 10

static struct agent a;
static struct process *p;
static int theirs;
static uint32_t request;

static void say(const void *fixed, size_t bytes, const void *data, size_t n)
{
	char packet[512];

	memcpy(packet, fixed, bytes);
	((struct wire_head *)(void *)packet)->text_bytes = (uint32_t)n;
	memcpy(packet + bytes, data, n);
	ck_assert_int_eq(send(theirs, packet, bytes + n, MSG_NOSIGNAL), (int)(bytes + n));
	ck_assert(process_receive(p));
}

static void round_begins(struct agent *agent, uint32_t round)
{
}

/* A process whose agent has the session's coordinator, too. */
static void setup(void)
{
	static const struct process_observer *const observers[] = {&session_observer, NULL};
	static const struct session_duties duties = {.begin_round = round_begins};
	static char host[] = "host", session[] = "u-session";
	const struct wire_hello hello = {.head.kind = WIRE_HELLO, .version = WIRE_VERSION};
	struct wire_welcome answer;
	int pair[2];

	a = (struct agent){
		.host = {.name = host, .session = session, .epoll = -1, .observers = observers}};
	a.host.conf = conf_default();
	a.host.counters = counters_new(a.host.conf);
	a.host.rings = ring_store_new(RING_SIZE_MIN, ring_store_memory);
	clocks_init(&a.host.clocks, "raw");
	a.host.symbols = symcache_new(&a.host);
	sessions_begin(&a, &duties);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	theirs = pair[0];
	p = process_new(&a.host, pair[1], 0);
	request = 0;
	say(&hello, sizeof(hello), "a\0b\0c", 6);
	ck_assert(p->greeted);
	ck_assert_int_eq(recv(theirs, &answer, sizeof(answer), 0), sizeof(answer));
}

static struct wire_session_answer ask(struct wire_session m, const void *data, size_t bytes)
{
	union {
		struct wire_session_answer answer;
		char bytes[512];
	} got;

	m.head.kind = WIRE_SESSION;
	m.head.ticks = host_ticks(&a.host);
	m.request = ++request;
	say(&m, sizeof(m), data, bytes);
	ck_assert_int_ge(recv(theirs, &got, sizeof(got), MSG_DONTWAIT), sizeof(got.answer));
	ck_assert_uint_eq(got.answer.request, request);
	ck_assert_int_eq(got.answer.code, SESSION_OK);
	ck_assert_uint_eq(got.answer.pending, 0);
	return got.answer;
}

START_TEST(communicators_of_rounds_before_are_gone)
{
	static const char name[] = "me\0"; /* and no contact of another one */
	static const int32_t self[] = {0};

	ask((struct wire_session){.operation = SESSION_JOIN, .number = -1}, name, sizeof(name));
	ask((struct wire_session){.operation = SESSION_EXPECT, .count = 1}, "", 0);
	for (int round = 0; round < ROUNDS; round++) {
		const struct wire_session_answer began =
			ask((struct wire_session){.operation = SESSION_START}, "", 0);

		ask(
			(struct wire_session){
				.operation = SESSION_CREATE, .comm = began.comm.number, .count = 1},
			self, sizeof(self));
		drain_process_now(p);			   /* beyond the end of the round before */
		ck_assert_uint_eq(p->traffic->n_comms, 3); /* world, self, and that one */
		ck_assert_uint_eq(a.sessions->coordinator->n_comms, 2);
		ask((struct wire_session){.operation = SESSION_FINISH}, "", 0);
	}
	ck_assert_ptr_null(p->quarantined);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session");
	TCase *c = tcase_create("rounds");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, communicators_of_rounds_before_are_gone);
	suite_add_tcase(s, c);
	return run_suite(s);
}
