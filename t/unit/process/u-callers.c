/* SPDX-License-Identifier: BSD-3-Clause */
/* How long who has connected may say nothing. */
#include "nodeagent/process/callers.h"

#include <check.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "t/lib/suite.h"

static struct host a;
static time_t later_s;

/* In place of the C library's: time that has passed while nobody looked. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int error = (int)syscall(SYS_clock_gettime, clock, now);

	now->tv_sec += later_s;
	return error;
}

/* Somebody connects, and says nothing. */
static void setup(void)
{
	static char host[] = "host", lock[] = "/nowhere/u-callers.lock";
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	socklen_t bytes = sizeof(name);
	int theirs = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	later_s = 0;
	a = (struct host){.name = host,
		.lock_path = lock,
		.conf = conf_default(),
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
	clocks_init(&a.clocks, "raw");
	ck_assert_int_eq(bind(a.listener, (void *)&name, sizeof(name.sun_family)), 0);
	ck_assert_int_eq(listen(a.listener, 1), 0);
	ck_assert_int_eq(getsockname(a.listener, (void *)&name, &bytes), 0);
	callers_accept(&a);
	later_s += 100; /* without callers */
	ck_assert_int_eq(connect(theirs, (void *)&name, bytes), 0);
	callers_accept(&a);
	ck_assert(callers_any(&a));
}

static void pass(time_t s)
{
	later_s += s;
	callers_tick(&a);
}

START_TEST(ten_seconds)
{
	for (int i = 0; i < 9; i++)
		pass(1);
	ck_assert(callers_any(&a));
	pass(1);
	pass(1);
	ck_assert(!callers_any(&a));
	ck_assert_uint_eq(a.children_seen, 0);
}
END_TEST

/* Nobody could be heard. */
START_TEST(an_agent_that_was_stopped_gives_them_that_time)
{
	callers_tick(&a);
	pass(60);
	ck_assert(callers_any(&a));
	for (int i = 0; i < 8; i++)
		pass(1);
	ck_assert(callers_any(&a));
	pass(1);
	pass(1);
	ck_assert(!callers_any(&a));
}
END_TEST

START_TEST(it_looks_each_second)
{
	ck_assert_double_le(callers_tick(&a), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("callers");
	TCase *c = tcase_create("silence");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, ten_seconds);
	tcase_add_test(c, an_agent_that_was_stopped_gives_them_that_time);
	tcase_add_test(c, it_looks_each_second);
	suite_add_tcase(s, c);
	return run_suite(s);
}
