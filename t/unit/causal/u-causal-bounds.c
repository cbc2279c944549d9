/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines that wait for each other for ever hold up only so much. */
#define ITEMS_MOST     100000
#define ITEMS_ALL_MOST 200
#include "nodeagent/causal/line.c"

#include "t/lib/suite.h"
#include "t/unit/causal/causal-by-hand.h"

/* Messages whose partners are wrong: each of two lines receives first what the other sends later,
 * and lines of their nodes go on with their work. */
START_TEST(bounded)
{
	char *error = NULL;
	struct causal *c;
	size_t most = 0;

	by_hand(4, 20);
	receives(0, 2, 1, 10, 20);
	sends(0, 2, 2, 30, 31);
	receives(2, 0, 2, 10, 20);
	sends(2, 0, 1, 30, 31);
	for (int64_t t = 100; t < 10000; t++)
		for (uint32_t i = 0; i < 4; i++)
			works(i, t, PATH_WORK + t % 3);
	qsort(hand.events, hand.n, sizeof(*hand.events), by_hand_time);
	c = causal_new(hand.lines, hand.n_lines, "/tmp", &error);
	ck_assert_msg(c != NULL, "%s", error);
	for (uint32_t i = 0; i < 4; i++)
		causal_begin(c, i, 0, PATH_INIT, PATH_MAIN);
	for (size_t i = 0; i < hand.n; i++) {
		hand_feed(c, &hand.events[i]);
		most = c->n_items > most ? c->n_items : most;
	}
	ck_assert_uint_gt(most, ITEMS_ALL_MOST / 2);
	ck_assert_uint_le(most, ITEMS_ALL_MOST + 1);
	ck_assert_msg(causal_finish(c, &error), "%s", error);
	ck_assert_uint_eq(c->n_items, 0);
	ck_assert_uint_ge(causal_totals(c)->doubts[CAUSAL_CYCLE], 1);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), 9999);
	causal_free(c);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("causal-bounds");
	TCase *tc = tcase_create("bounds");

	tcase_add_test(tc, bounded);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
