/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits to be let in when the agent's time is up. */
#include "nodeagent/agent/loop.c"

#include <check.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/names.h"
#include "shm/ring.h"
#include "shm/wire.h"
#include "t/lib/suite.h"

#define LINGER_S 3
#define LATER_S	 10

static struct agent a;
static int theirs;
static double wait_s;

/* An agent whose last process has ended, long ago as it was stopped meanwhile. */
static void setup(void)
{
	static char host[] = "host", session[] = "u-loop", lock[] = "/nowhere/u-loop.lock";
	static const struct session_duties duties;
	struct sockaddr_un name = {.sun_family = AF_UNIX};

	a = (struct agent){.form = FORM_SIDECAR};
	a.host = (struct host){.name = host,
		.session = session,
		.lock_path = lock,
		.output_directory = "/nowhere",
		.conf = conf_default(),
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
		.rings = ring_store_new(RING_SIZE_MIN, ring_store_memory),
		.n_ever = 1};
	a.host.conf->agent_linger_s = LINGER_S;
	a.host.counters = counters_new(a.host.conf);
	clocks_init(&a.host.clocks, "raw");
	a.host.symbols = symcache_new(&a.host);
	sessions_begin(&a, &duties);
	a.quiet_since = clock_raw_ns() - LATER_S * UINT64_C(1000000000);
	/* a name that the kernel chooses */
	ck_assert_int_eq(bind(a.host.listener, (void *)&name, sizeof(name.sun_family)), 0);
	ck_assert_int_eq(listen(a.host.listener, 1), 0);
	theirs = -1;
}

static void somebody_comes(void)
{
	static const char text[] = "a\0b\0c";
	struct {
		struct wire_hello hello;
		char text[sizeof(text)];
	} m = {.hello = {.head = {.kind = WIRE_HELLO, .text_bytes = sizeof(text)},
		       .version = WIRE_VERSION}};
	struct sockaddr_un name;
	socklen_t bytes = sizeof(name);
	const size_t sent = sizeof(m.hello) + sizeof(text);

	memcpy((char *)&m + sizeof(m.hello), text, sizeof(text));
	theirs = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(getsockname(a.host.listener, (void *)&name, &bytes), 0);
	ck_assert_int_eq(connect(theirs, (void *)&name, bytes), 0);
	ck_assert_int_eq(send(theirs, &m, sent, MSG_NOSIGNAL), (int)sent);
}

START_TEST(nobody_waits)
{
	ck_assert(finished(&a, &wait_s));
	ck_assert(!goes_on(&a));
}
END_TEST

START_TEST(who_came_while_the_agent_was_stopped_is_let_in)
{
	somebody_comes();
	ck_assert(!finished(&a, &wait_s));
	ck_assert_uint_eq(a.host.n_live, 1);
	ck_assert_uint_eq(a.quiet_since, 0);
}
END_TEST

START_TEST(who_comes_as_the_time_is_up_is_served)
{
	ck_assert(finished(&a, &wait_s));
	somebody_comes();
	ck_assert(goes_on(&a));
	ck_assert(!finished(&a, &wait_s));
}
END_TEST

START_TEST(not_by_an_agent_that_was_told_to_stop)
{
	a.told_to_stop = true;
	ck_assert(finished(&a, &wait_s));
	somebody_comes();
	ck_assert(!goes_on(&a));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("loop");
	TCase *c = tcase_create("newcomers");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, nobody_waits);
	tcase_add_test(c, who_came_while_the_agent_was_stopped_is_let_in);
	tcase_add_test(c, who_comes_as_the_time_is_up_is_served);
	tcase_add_test(c, not_by_an_agent_that_was_told_to_stop);
	suite_add_tcase(s, c);
	return run_suite(s);
}
