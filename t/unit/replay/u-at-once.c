/* SPDX-License-Identifier: BSD-3-Clause */
/* How many workers were there at once, against a count at each tick. */
#include "nodeagent/replay/openmp/at-once.h"

#include <check.h>
#include <string.h>
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define TICKS 60

START_TEST(nobody)
{
	struct at_once a = {0};

	ck_assert_uint_eq(at_once_most(&a), 0);
	at_once_free(&a);
}
END_TEST

/* In whatever order they end. */
START_TEST(at_random)
{
	struct dice dice = {(uint64_t)_i};
	struct at_once a = {0};
	uint32_t there[TICKS] = {0}, most = 0;
	const uint32_t n = 1 + throw_dice(&dice, 30);

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t from = throw_dice(&dice, TICKS - 1);
		const uint32_t to = from + 1 + throw_dice(&dice, TICKS - 1 - from);

		at_once_add(&a, from, to);
		for (uint32_t t = from; t < to; t++)
			there[t]++;
	}
	for (uint32_t t = 0; t < TICKS; t++)
		most = there[t] > most ? there[t] : most;
	ck_assert_uint_eq(at_once_most(&a), most);
	at_once_free(&a);
}
END_TEST

/* Three at a time, always new ones, beside one that stays: more than are kept. */
START_TEST(ever_new_ones)
{
	const uint64_t n = 3 * AT_ONCE_SPANS;
	struct at_once a = {0};

	for (uint64_t i = 0; i < n; i++)
		at_once_add(&a, 10 * (i / 3), 10 * (i / 3) + 10);
	ck_assert_uint_le(a.n_spans, AT_ONCE_SPANS);
	ck_assert_uint_eq(at_once_most(&a), 3);
	at_once_add(&a, 0, 10 * n);
	ck_assert_uint_eq(at_once_most(&a), 4);
	at_once_free(&a);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("at-once");
	TCase *tc = tcase_create("workers");

	tcase_add_test(tc, nobody);
	tcase_add_loop_test(tc, at_random, 0, 300);
	tcase_add_test(tc, ever_new_ones);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
