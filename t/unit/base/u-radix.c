/* SPDX-License-Identifier: BSD-3-Clause */
/* radix_sort() sorts as qsort() does, and leaves equal keys in their order. */
#include "nodeagent/base/radix.h"
#include "t/lib/suite.h"

#include <check.h>

ORDER_BY(by_key_and_place, struct radix, RISING(key) ?: RISING(i))

static void check_sorted(uint64_t mask, size_t n)
{
	struct radix *items = xcalloc(n + 1, sizeof(*items));
	struct radix *wanted = xcalloc(n + 1, sizeof(*wanted));
	uint64_t x = 88172645463325252u;

	for (uint32_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		items[i] = wanted[i] = (struct radix){x & mask, i};
	}
	items[n].key = 42; /* not to be touched */
	radix_sort(items, n);
	qsort(wanted, n, sizeof(*wanted), by_key_and_place);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(items[i].key, wanted[i].key);
		ck_assert_uint_eq(items[i].i, wanted[i].i);
	}
	ck_assert_uint_eq(items[n].key, 42);
	free(items);
	free(wanted);
}

static const uint64_t masks[] = {0, 1, 0xff, 0xff00, 0xffff, 0xff000000000000ff, 0x8000000000000000,
	0x00ff00ff00ff00ff, UINT64_MAX};

START_TEST(as_qsort)
{
	for (size_t n = 0; n <= 2 * RADIX_FEW; n++)
		check_sorted(masks[_i], n);
	check_sorted(masks[_i], 70000);
}
END_TEST

START_TEST(already_sorted)
{
	struct radix items[] = {{1, 5}, {1, 4}, {2, 3}};

	radix_sort(items, ARRAY_SIZE(items));
	ck_assert_uint_eq(items[0].i, 5);
	ck_assert_uint_eq(items[1].i, 4);
	ck_assert_uint_eq(items[2].i, 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("radix");
	TCase *tc = tcase_create("radix");

	tcase_add_loop_test(tc, as_qsort, 0, ARRAY_SIZE(masks));
	tcase_add_test(tc, already_sorted);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
