/* SPDX-License-Identifier: BSD-3-Clause */
/* Digits without printf() are those of printf(). */
#include "nodeagent/base/digits.h"
#include "t/lib/suite.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUES 200000

static uint64_t random_bits(void)
{
	static uint64_t x = 0x9e3779b97f4a7c15;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return x;
}

static void same(const char *printed, const char *digits, const char *end)
{
	ck_assert_ptr_nonnull(end);
	ck_assert_int_le(end - digits, DIGITS_MOST);
	ck_assert_uint_eq((size_t)(end - digits), strlen(printed));
	ck_assert_msg(!memcmp(printed, digits, strlen(printed)), "%s printed, %.*s by digits",
		printed, (int)(end - digits), digits);
}

static void same_fixed(double value)
{
	for (unsigned decimals = 0; decimals <= DIGITS_DECIMALS; decimals++) {
		char printed[400], digits[DIGITS_MOST];

		snprintf(printed, sizeof(printed), "%.*f", (int)decimals, value);
		same(printed, digits, digits_fixed(digits, value, decimals));
	}
}

START_TEST(whole_numbers)
{
	char printed[40], digits[DIGITS_MOST];

	for (int i = 0; i < VALUES; i++) {
		const uint64_t v = i ? random_bits() >> (i % 64) : UINT64_MAX;

		snprintf(printed, sizeof(printed), "%" PRIu64, v);
		same(printed, digits, digits_uint(digits, v));
		snprintf(printed, sizeof(printed), "%" PRId64, (int64_t)v);
		same(printed, digits, digits_int(digits, (int64_t)v));
		snprintf(printed, sizeof(printed), "%016" PRIx64, v);
		same(printed, digits, digits_hex(digits, v));
		snprintf(printed, sizeof(printed), "%" PRIu64 ".%09" PRIu64, v / 1000000000,
			v % 1000000000);
		same(printed, digits, digits_seconds(digits, v));
	}
	same("-9223372036854775808", digits, digits_int(digits, INT64_MIN));
	same("0", digits, digits_uint(digits, 0));
}
END_TEST

/* Where a number gets one digit more, and where pairs and eights of digits begin. */
START_TEST(powers_of_ten)
{
	char printed[40], digits[DIGITS_MOST];
	uint64_t power = 1;

	for (unsigned n = 0; n < 20; n++, power *= 10)
		for (int k = -1; k <= 1; k++) {
			const uint64_t v = power + (uint64_t)(int64_t)k;

			snprintf(printed, sizeof(printed), "%" PRIu64, v);
			same(printed, digits, digits_uint(digits, v));
			ck_assert_uint_eq(digits_number(v), strlen(printed));
		}
	for (uint32_t v = 0; v < 100000; v++) {
		snprintf(printed, sizeof(printed), "%08" PRIu32, v * 999);
		same(printed, digits, digits_padded(digits, v * 999, 8));
	}
}
END_TEST

START_TEST(leading_zeros_and_no_more_digits_than_wanted)
{
	char printed[40], digits[DIGITS_MOST];

	for (int i = 0; i < VALUES; i++) {
		const unsigned n = 1 + (unsigned)i % 20;
		const uint64_t v = random_bits() >> (random_bits() % 64);

		snprintf(printed, sizeof(printed), "%020" PRIu64, v);
		same(printed + 20 - n, digits, digits_padded(digits, v, n));
	}
	ck_assert_ptr_eq(digits_padded(digits, 5, 0), digits);
}
END_TEST

START_TEST(reals_of_each_size)
{
	for (int i = 0; i < VALUES; i++) {
		const uint64_t bits = random_bits();
		double value;

		memcpy(&value, &bits, sizeof(value));
		if (fabs(value) < 1e9)
			same_fixed(value);
		same_fixed((double)(int64_t)bits * 0x1p-34);
		same_fixed((double)(bits >> 32) * 1e-9);
	}
}
END_TEST

/* k / 2^n is between two decimals for many k: halves go to the even digit. */
START_TEST(halves)
{
	for (int k = -4096; k <= 4096; k++)
		for (int n = 0; n < 14; n++)
			same_fixed(ldexp(k, -n));
	same_fixed(0.0);
	same_fixed(-0.0);
	same_fixed(0x1p-1074);
	same_fixed(-0x1p-1022);
	same_fixed(nextafter(1e9, 0.0));
	same_fixed(0.9999999995);
	same_fixed(nextafter(5e-10, 0.0));
	same_fixed(nextafter(5e-10, 1.0));
}
END_TEST

START_TEST(left_to_printf)
{
	char digits[DIGITS_MOST];

	ck_assert_ptr_null(digits_fixed(digits, 1e9, 3));
	ck_assert_ptr_null(digits_fixed(digits, -1e300, 3));
	ck_assert_ptr_null(digits_fixed(digits, (double)NAN, 3));
	ck_assert_ptr_null(digits_fixed(digits, (double)INFINITY, 3));
	ck_assert_ptr_null(digits_fixed(digits, 1.0, DIGITS_DECIMALS + 1));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("digits");
	TCase *tc = tcase_create("digits");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, whole_numbers);
	tcase_add_test(tc, powers_of_ten);
	tcase_add_test(tc, leading_zeros_and_no_more_digits_than_wanted);
	tcase_add_test(tc, reals_of_each_size);
	tcase_add_test(tc, halves);
	tcase_add_test(tc, left_to_printf);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
