/* SPDX-License-Identifier: BSD-3-Clause */
/* Global times of other agents in ticks of this one, whatever they say. */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/clock/sync.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/host.h"
#include "t/lib/suite.h"

#define START_TICKS UINT64_C(1000000000000)
#define START_NS    UINT64_C(5000000000)

static struct host host;

static void up(void)
{
	host = (struct host){0};
	host.clocks.start.ticks = START_TICKS;
	host.clocks.start.raw_ns = START_NS;
	host.clocks.ns_per_tick = 0.25;
}

/* As the agent has it: the difference to its start, of ticks that wrap around. */
static int64_t since_start(int64_t global)
{
	return (int64_t)(internode_ticks(&host, (uint64_t)global) - START_TICKS);
}

START_TEST(times_as_they_are)
{
	ck_assert_int_eq(since_start((int64_t)START_NS), 0);
	ck_assert_int_eq(since_start((int64_t)START_NS + 1000), 4000);
	ck_assert_int_eq(since_start((int64_t)START_NS - 1000), -4000);
}
END_TEST

/* What is far in the future stays there, and so does what is long past. */
START_TEST(times_that_lie)
{
	static const int64_t future[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 2 + 1, INT64_MAX / 4,
		INT64_C(1) << 61, (INT64_C(1) << 60) + 7};
	struct clock_sync clock = {0};

	for (int with_clock = 0; with_clock < 3; with_clock++) {
		struct clock_sync_point k = {.local = 100,
			.offset = with_clock == 2 ? INT64_MIN + 5 : 70,
			.half_width = 3};

		if (with_clock) {
			clock_sync_clear(&clock);
			clock_sync_add(&clock.sync_points, &k);
			clock_sync_settle(&clock);
			host.clock = &clock;
		}
		for (size_t i = 0; i < ARRAY_SIZE(future); i++) {
			ck_assert_int_gt(since_start(future[i]), INT64_C(1) << 40);
			if (with_clock < 2)
				ck_assert_int_lt(since_start(-future[i]), -(INT64_C(1) << 40));
			/* and the difference of both does not wrap around */
			ck_assert_int_ge(since_start(future[i]) - since_start(-future[i]), 0);
		}
	}
	clock_sync_clear(&clock);
}
END_TEST

/* Errors that lie are not known: their sum does not wrap around to one that is small. */
START_TEST(errors_that_lie)
{
	static const uint64_t lies[] = {
		UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2, (UINT64_C(1) << 61) + 1};

	ck_assert_uint_eq(internode_error_ticks(&host, 100, 50), 601);
	for (size_t i = 0; i < ARRAY_SIZE(lies); i++) {
		ck_assert_uint_eq(internode_error_ticks(&host, 100, lies[i]), UINT64_MAX);
		ck_assert_uint_eq(internode_error_ticks(&host, lies[i], 0), UINT64_MAX);
	}
	ck_assert_uint_gt(internode_error_ticks(&host, UINT64_C(1) << 61, 100), UINT64_C(1) << 60);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("times");
	TCase *c = tcase_create("times");

	tcase_add_checked_fixture(c, up, NULL);
	tcase_add_test(c, times_as_they_are);
	tcase_add_test(c, times_that_lie);
	tcase_add_test(c, errors_that_lie);
	suite_add_tcase(s, c);
	return run_suite(s);
}
