/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions about lists, bounds of numbers, and texts that grow: the macros of util.h. */
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

struct item {
	unsigned key;
};

static const struct item items[] = {{2}, {3}, {3}, {7}};

static size_t bound(unsigned key, size_t n)
{
	return LOWER_BOUND(i, 0, n, items[i].key < key);
}

START_TEST(the_lower_bound_is_the_first_that_is_not_below)
{
	ck_assert_uint_eq(bound(0, ARRAY_SIZE(items)), 0);
	ck_assert_uint_eq(bound(2, ARRAY_SIZE(items)), 0);
	ck_assert_uint_eq(bound(3, ARRAY_SIZE(items)), 1);
	ck_assert_uint_eq(bound(4, ARRAY_SIZE(items)), 3);
	ck_assert_uint_eq(bound(8, ARRAY_SIZE(items)), 4);
	ck_assert_uint_eq(bound(8, 0), 0);
	ck_assert_uint_eq(LOWER_BOUND(i, 2, 4, items[i].key < 1), 2);
}
END_TEST

START_TEST(any_all_and_find_ask_each_element_once)
{
	const struct item *none = NULL;
	unsigned asked = 0;

	ck_assert(ANY(i, ARRAY_SIZE(items), items[i].key == 7));
	ck_assert(!ANY(i, ARRAY_SIZE(items), items[i].key == 8));
	ck_assert(!ANY(i, 0, items[i].key == 2));
	ck_assert(ALL(i, ARRAY_SIZE(items), items[i].key > 1));
	ck_assert(!ALL(i, ARRAY_SIZE(items), items[i].key < 7));
	ck_assert(ALL(i, 0, items[i].key > 9));
	ck_assert_ptr_eq(FIND(x, items, ARRAY_SIZE(items), x->key == 3), &items[1]);
	ck_assert_ptr_null(FIND(x, items, 3, x->key == 7));
	ck_assert_ptr_null(FIND(x, none, 0, x->key == 7));
	ck_assert(!ANY(i, ARRAY_SIZE(items), (asked++, false)));
	ck_assert_uint_eq(asked, ARRAY_SIZE(items));
}
END_TEST

START_TEST(each_goes_through_all_in_order)
{
	const struct item *none = NULL;
	size_t n = 0;

	EACH(const struct item, x, items, ARRAY_SIZE(items))
		ck_assert_ptr_eq(x, &items[n++]);
	ck_assert_uint_eq(n, ARRAY_SIZE(items));
	EACH(const struct item, x, none, 0)
		n += x->key;
	ck_assert_uint_eq(n, ARRAY_SIZE(items));
}
END_TEST

/* What is no number changes nothing. */
START_TEST(min_and_max_evaluate_once)
{
	int n = 3;

	ck_assert_int_eq(MIN(n++, 9), 3);
	ck_assert_int_eq(MAX(n++, -9), 4);
	ck_assert_int_eq(n, 5);
	ck_assert_double_eq(MAX(1.0, (double)NAN), 1.0);
	ck_assert_double_eq(MIN(1.0, (double)NAN), 1.0);
	ck_assert_uint_eq(MIN(UINT64_MAX, MAX((uint64_t)4, (uint64_t)5)), 5);
}
END_TEST

START_TEST(texts_grow)
{
	char *text = xappend(NULL, "%s", "a"), *written;
	size_t bytes;
	FILE *f = memory_begin(&written, &bytes);

	text = xappend(text, "%s%d", *text ? ", " : "", 12);
	ck_assert_str_eq(text, "a, 12");
	fputs(text, f);
	memory_end(f);
	ck_assert_str_eq(written, text);
	ck_assert_uint_eq(bytes, 5);
	free(text);
	free(written);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lists");
	TCase *t = tcase_create("lists");

	tcase_add_test(t, the_lower_bound_is_the_first_that_is_not_below);
	tcase_add_test(t, any_all_and_find_ask_each_element_once);
	tcase_add_test(t, each_goes_through_all_in_order);
	tcase_add_test(t, min_and_max_evaluate_once);
	tcase_add_test(t, texts_grow);
	suite_add_tcase(s, t);
	return run_suite(s);
}
