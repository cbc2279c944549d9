/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of requests to the proxy, of any deadline that the configuration accepts. */
#include <check.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/proxy/internal.h"
#include "nodeagent/net/transport.h"
#include "t/lib/suite.h"

static const struct {
	double s;
	int32_t ms;
} times[] = {
	{0, 0},
	{0.0005, 0},
	{1.5, 1500},
	{2147482, 2147482000},
	{2147483.5, INT32_MAX},
	{1e8, INT32_MAX},
	{1e9, INT32_MAX},
	{1e300, INT32_MAX},
};

START_TEST(times_of_requests)
{
	ck_assert_int_eq(request_ms(times[_i].s), times[_i].ms);
}
END_TEST

/* In place of the agent's: the machine sleeps for 20 s whenever somebody waits. */
double transport_now(void)
{
	static double now;

	return now += 20;
}

START_TEST(a_machine_that_sleeps_loses_no_proxy)
{
	double left_s = 10;
	char byte = 0;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	if (!fork()) {
		usleep(1200000); /* the second time that it waits */
		_exit(write(pair[1], "x", 1) != 1);
	}
	ck_assert(proxy_transfer(pair[0], &byte, 1, false, &left_s));
	ck_assert_int_eq(byte, 'x');
	left_s = 0.01;
	ck_assert(!proxy_transfer(pair[0], &byte, 1, false, &left_s));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("request");
	TCase *c = tcase_create("request");

	tcase_add_loop_test(c, times_of_requests, 0, sizeof(times) / sizeof(times[0]));
	tcase_add_test(c, a_machine_that_sleeps_loses_no_proxy);
	suite_add_tcase(s, c);
	return run_suite(s);
}
