/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas of profile_table.imbalance_formula, against values by hand. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/report/imbalance.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

/* Of these times, in ns; rank i has element i. */
static struct spread of(const uint64_t *times, size_t n)
{
	struct spread s = {.n = n, .min = n ? times[0] : 0};

	for (uint32_t i = 0; i < n; i++) {
		s.sum += times[i];
		s.sumsq += (unsigned __int128)times[i] * times[i];
		if (times[i] < s.min) {
			s.min = times[i];
			s.rank_min = i;
		}
		if (times[i] > s.max) {
			s.max = times[i];
			s.rank_max = i;
		}
	}
	return s;
}

static const struct {
	const char *formula;
	uint64_t times[4];
	double percent;
	uint32_t rank;
} cases[] = {
	/* mean 4: the 8 is 100 % above, the 2 50 % below */
	{"deviation", {3, 8, 3, 2}, 100.0, 1},
	{"max_mean", {3, 8, 3, 2}, 100.0, 1},
	{"idle", {3, 8, 3, 2}, 100.0 * 4 / 8 * 4 / 3, 1},
	{"variation", {3, 8, 3, 2}, 58.6301970, 1}, /* sqrt(5.5) / 4 */
	{"range", {3, 8, 3, 2}, 75.0, 1},
	{"balance", {3, 8, 3, 2}, 50.0, 1},
	/* mean 6: the 0 is 100 % below */
	{"deviation", {8, 8, 0, 8}, -100.0, 2},
	{"max_mean", {8, 8, 0, 8}, 100.0 / 3, 0},
	{"variation", {8, 8, 0, 8}, 57.7350269, 2},
	/* one does all the work */
	{"idle", {0, 0, 9, 0}, 100.0, 2},
	{"balance", {0, 0, 9, 0}, 25.0, 2},
	/* all the same */
	{"deviation", {5, 5, 5, 5}, 0.0, 0},
	{"variation", {5, 5, 5, 5}, 0.0, 0},
	{"idle", {5, 5, 5, 5}, 0.0, 0},
	{"range", {5, 5, 5, 5}, 0.0, 0},
	{"balance", {5, 5, 5, 5}, 100.0, 0},
	/* nothing */
	{"deviation", {0, 0, 0, 0}, 0.0, 0},
	{"balance", {0, 0, 0, 0}, 100.0, 0},
	/* what is not known is the default */
	{"", {3, 8, 3, 2}, 100.0, 1},
	{NULL, {8, 8, 0, 8}, -100.0, 2},
};

START_TEST(by_hand)
{
	struct spread s = of(cases[_i].times, 4);
	uint32_t rank = 77;

	ck_assert_double_eq_tol(imbalance(cases[_i].formula, &s, &rank), cases[_i].percent, 1e-6);
	ck_assert_uint_eq(rank, cases[_i].rank);
}
END_TEST

START_TEST(one_rank)
{
	static const char *const formulas[] = {
		"deviation", "max_mean", "idle", "variation", "range", "balance"};
	struct spread s = of((const uint64_t[]){7}, 1);

	for (size_t i = 0; i < ARRAY_SIZE(formulas); i++)
		ck_assert_double_eq(imbalance(formulas[i], &s, NULL), i == 5 ? 100.0 : 0.0);
}
END_TEST

/* A year on each rank, one of them 1 us longer: not lost in rounding. */
START_TEST(long_times)
{
	uint64_t year = 31557600000000000u;
	struct spread s = of((const uint64_t[]){year, year + 1000, year, year}, 4);
	double part = 100.0 * 1000 / (double)year;

	ck_assert_double_eq_tol(imbalance("deviation", &s, NULL), 0.75 * part, 1e-6 * part);
	ck_assert_double_eq_tol(imbalance("variation", &s, NULL), part * sqrt(3) / 4, 1e-3 * part);
	ck_assert_double_eq_tol(imbalance("range", &s, NULL), part, 1e-6 * part);
}
END_TEST

/* Numbers that no run has: they may be wrong, but they are numbers. */
START_TEST(damaged)
{
	struct spread s = {.n = UINT64_MAX,
		.sum = UINT64_MAX,
		.min = 5,
		.max = UINT64_MAX,
		.sumsq = ~(unsigned __int128)0};
	static const char *const formulas[] = {
		"deviation", "max_mean", "idle", "variation", "range", "balance"};

	for (size_t i = 0; i < ARRAY_SIZE(formulas); i++)
		ck_assert(isfinite(imbalance(formulas[i], &s, NULL)));
	s.n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(formulas); i++)
		ck_assert(isfinite(imbalance(formulas[i], &s, NULL)));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("imbalance");
	TCase *c = tcase_create("imbalance");

	tcase_add_loop_test(c, by_hand, 0, ARRAY_SIZE(cases));
	tcase_add_test(c, one_rank);
	tcase_add_test(c, long_times);
	tcase_add_test(c, damaged);
	suite_add_tcase(s, c);
	return run_suite(s);
}
