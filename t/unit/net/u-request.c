/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of requests to the proxy, of any deadline that the configuration accepts. */
#include <check.h>

#include "nodeagent/proxy/internal.h"
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

int main(void)
{
	Suite *s = suite_create("request");
	TCase *c = tcase_create("request");

	tcase_add_loop_test(c, times_of_requests, 0, sizeof(times) / sizeof(times[0]));
	suite_add_tcase(s, c);
	return run_suite(s);
}
