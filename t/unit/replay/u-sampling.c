/* SPDX-License-Identifier: BSD-3-Clause */
/* One in how many collective calls is compared: by their rate, and the same for all processes. */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/clock/ticks.h"
#include "nodeagent/replay/sampling/sampling.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define MS    1000000u
#define RANKS 100u
#define FULL  ((uint64_t)(1e9 * RANKS / SAMPLING_PER_S)) /* ns from call to call, at the limit */

static struct clocks clocks = {.ns_per_tick = 1.0};

/* Calls of one communicator, one each gap ns, for ms: log2 of the last one. */
static uint32_t log2_after(struct sampling *s, struct sampled_comm *c, uint64_t gap, uint64_t ms)
{
	static uint64_t now = 1000;
	static uint32_t ticket;
	const uint64_t end = now + ms * MS;
	uint32_t log2 = 0;

	for (; now < end; now += gap)
		log2 = sampling_log2(s, c, ticket++, now, RANKS);
	return log2;
}

START_TEST(each_call_counts_up_to_a_rate)
{
	struct sampling *s = sampling_new(&clocks, SAMPLING_PER_S);
	struct sampled_comm *c = sampling_hold(s, 7, 1);

	ck_assert_uint_eq(log2_after(s, c, FULL + FULL / 8, 500), 0);
	ck_assert_uint_eq(log2_after(s, c, FULL / 5, 100), 3); /* at once */
	ck_assert_uint_eq(log2_after(s, c, FULL / 3, 100), 3); /* not at once */
	ck_assert_uint_eq(log2_after(s, c, FULL / 3, 300), 3); /* as 2 would be a tight fit */
	ck_assert_uint_eq(log2_after(s, c, FULL / 2, 300), 2);
	ck_assert_uint_eq(log2_after(s, c, 4 * FULL, 1000), 0);
	sampling_let_go(s, c);
	sampling_free(s);
}
END_TEST

/* Two communicators that are used by turns count together; nothing comes for long. */
START_TEST(all_communicators_count)
{
	struct sampling *s = sampling_new(&clocks, SAMPLING_PER_S);
	struct sampled_comm *c = sampling_hold(s, 7, 1), *d = sampling_hold(s, 8, 1);
	uint32_t ticket = 0;
	uint64_t now = 5;

	for (; now < 100 * MS; now += FULL * 3 / 4, ticket++)
		sampling_log2(s, ticket & 1 ? c : d, ticket / 2, now, RANKS);
	ck_assert_uint_eq(sampling_log2(s, c, ticket, now, RANKS), 1);
	ck_assert_uint_eq(sampling_log2(s, d, ticket, now, RANKS), 1);
	for (int i = 0; i < 9; i++)
		sampling_log2(s, d, ++ticket, now += 10000ul * MS, RANKS);
	ck_assert_uint_eq(sampling_log2(s, d, ++ticket, now, RANKS), 0);
	sampling_let_go(s, c);
	sampling_let_go(s, d);
	sampling_free(s);
}
END_TEST

enum { PROCESSES = 5, CALLS = 30000 };

/* Processes that are read by turns, some of their calls each time, up to some 10 ms apart. */
START_TEST(all_processes_agree)
{
	static uint64_t times[CALLS];
	static uint32_t log2_of[CALLS];
	struct sampling *s = sampling_new(&clocks, SAMPLING_PER_S);
	struct sampled_comm *c[PROCESSES];
	struct dice d = {.state = 5 + (uint64_t)_i};
	uint32_t read[PROCESSES] = {0}, levels = 0;
	bool more = true;

	for (uint32_t i = 1, gap = FULL; i < CALLS; i++) {
		if (!throw_dice(&d, 3000))
			gap = (uint32_t)FULL * 2 >> throw_dice(&d, 6);
		times[i] = times[i - 1] + gap;
	}
	for (int p = 0; p < PROCESSES; p++)
		c[p] = sampling_hold(s, 7, 1);
	while (more) {
		more = false;
		for (int p = 0; p < PROCESSES; p++) {
			const uint32_t until = read[p] + throw_dice(&d, 400);

			for (; read[p] < until && read[p] < CALLS; read[p]++) {
				const uint32_t log2 = sampling_log2(s, c[p], read[p],
					times[read[p]] + throw_dice(&d, 1000), RANKS);
				uint32_t *known = &log2_of[read[p]];

				ck_assert(!*known || *known == log2 + 1);
				*known = log2 + 1;
				levels |= 1u << log2;
			}
			more |= read[p] < CALLS;
		}
	}
	ck_assert_int_ge(__builtin_popcount(levels), 3);
	for (int p = 0; p < PROCESSES; p++)
		sampling_let_go(s, c[p]);
	sampling_free(s);
}
END_TEST

/* A process that is read later finds what others have found. */
START_TEST(a_communicator_that_nobody_has_may_come_again)
{
	struct sampling *s = sampling_new(&clocks, SAMPLING_PER_S);
	struct sampled_comm *c = sampling_hold(s, 7, 1), *busy = sampling_hold(s, 8, 1);

	log2_after(s, busy, FULL / 4, 100);
	ck_assert_uint_ge(sampling_log2(s, c, 0, 0, RANKS), 2);
	sampling_let_go(s, c);
	log2_after(s, busy, FULL * 4, 2000);
	c = sampling_hold(s, 7, 1);
	ck_assert_uint_ge(sampling_log2(s, c, 0, 0, RANKS), 2);
	ck_assert_uint_eq(sampling_log2(s, c, 1, 0, RANKS), 0);
	sampling_let_go(s, c);
	for (uint64_t id = 100; id < 100 + 3 * SAMPLING_GONE; id++)
		sampling_let_go(s, sampling_hold(s, id, 1));
	c = sampling_hold(s, 7, 1);
	ck_assert_uint_eq(c->n, 0);
	sampling_let_go(s, c);
	sampling_let_go(s, busy);
	sampling_free(s);
}
END_TEST

/* Times and tickets of a process that lies. */
START_TEST(a_clock_that_jumps)
{
	struct sampling *s = sampling_new(&clocks, SAMPLING_PER_S);
	struct sampled_comm *c = sampling_hold(s, 7, 1);

	log2_after(s, c, FULL / 4, 100);
	sampling_log2(s, c, 0x7fffffff, UINT64_MAX / 2, UINT32_MAX);
	sampling_log2(s, c, 0x80000000u, 3, 0);
	sampling_let_go(s, c);
	c = sampling_hold(s, 8, 1);
	ck_assert_uint_eq(log2_after(s, c, FULL * 2, 3000), 0);
	ck_assert_uint_eq(log2_after(s, c, FULL / 3, 100), 2);
	sampling_let_go(s, c);
	sampling_free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("u-sampling");
	TCase *t = tcase_create("sampling");

	tcase_add_test(t, each_call_counts_up_to_a_rate);
	tcase_add_test(t, all_communicators_count);
	tcase_add_loop_test(t, all_processes_agree, 0, 3);
	tcase_add_test(t, a_communicator_that_nobody_has_may_come_again);
	tcase_add_test(t, a_clock_that_jumps);
	suite_add_tcase(s, t);
	return run_suite(s);
}
