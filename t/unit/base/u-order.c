/* SPDX-License-Identifier: BSD-3-Clause */
/* ORDER_BY() makes comparisons for qsort(), by one key after the other. */
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <stdlib.h>

struct spot {
	const char *host;
	double weight;
	uint64_t place;
};

ORDER_BY(by_all, struct spot, ALPHABETIC(host) ?: FALLING(weight) ?: RISING(place))
ORDER_POINTERS_BY(by_place, struct spot, RISING(place))
ORDER_BY(by_number, int64_t, ORDER(*x, *y))

static const struct spot spots[] = {
	{"a", 2, UINT64_MAX},
	{"a", 1, 0},
	{"a", 1, 1},
	{"b", 9, 7},
	{"b", -1, 8},
};

START_TEST(first_key_counts_most)
{
	for (size_t i = 0; i < ARRAY_SIZE(spots); i++)
		for (size_t k = 0; k < ARRAY_SIZE(spots); k++)
			ck_assert_int_eq(ORDER(by_all(&spots[i], &spots[k]), 0), ORDER(i, k));
}
END_TEST

START_TEST(pointers)
{
	const struct spot *at[] = {&spots[0], &spots[3], &spots[1], &spots[4], &spots[2]};

	qsort(at, ARRAY_SIZE(at), sizeof(*at), by_place);
	ck_assert_ptr_eq(at[0], &spots[1]);
	ck_assert_ptr_eq(at[1], &spots[2]);
	ck_assert_ptr_eq(at[2], &spots[3]);
	ck_assert_ptr_eq(at[3], &spots[4]);
	ck_assert_ptr_eq(at[4], &spots[0]);
}
END_TEST

/* A difference would not fit. */
START_TEST(numbers_far_apart)
{
	const int64_t least = INT64_MIN, most = INT64_MAX;

	ck_assert_int_lt(by_number(&least, &most), 0);
	ck_assert_int_gt(by_number(&most, &least), 0);
	ck_assert_int_eq(by_number(&most, &most), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("order");
	TCase *t = tcase_create("order");

	tcase_add_test(t, first_key_counts_most);
	tcase_add_test(t, pointers);
	tcase_add_test(t, numbers_far_apart);
	suite_add_tcase(s, t);
	return run_suite(s);
}
