/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with units, as people read them. */
#include <check.h>
#include <math.h>

#include "nodeagent/base/units.h"
#include "t/lib/suite.h"

static const struct {
	struct quantity (*make)(double value);
	double value;
	const char *want;
} cases[] = {
	{quantity_seconds, 0.0, "0 s"},
	{quantity_seconds, 1e-9, "1 ns"},
	{quantity_seconds, 4.5e-6, "4.50 us"},
	{quantity_seconds, 0.0123456, "12.3 ms"},
	{quantity_seconds, 0.99949, "999 ms"},
	{quantity_seconds, 0.9996, "1.00 s"},
	{quantity_seconds, 1.554, "1.55 s"},
	{quantity_seconds, 99.96, "100 s"},
	{quantity_seconds, 86400.0, "86400 s"},
	{quantity_seconds, -0.25, "-250 ms"},
	{quantity_seconds, NAN, "----"},
	{quantity_seconds, INFINITY, "----"},
	{quantity_bytes, 0.0, "0 B"},
	{quantity_bytes, 1023.0, "1023 B"},
	{quantity_bytes, 1024.0, "1.00 KiB"},
	{quantity_bytes, 12.34 * 1048576, "12.3 MiB"},
	{quantity_bytes, 18446744073709551615.0, "16.0 EiB"},
	{quantity_count, 0.0, "0"},
	{quantity_count, 999.0, "999"},
	{quantity_count, 1000.0, "1.00 k"},
	{quantity_count, 1.23e6, "1.23 M"},
	{quantity_count, 999999.0, "1.00 M"},
	{quantity_count, 18446744073709551615.0, "18.4 E"},
};

START_TEST(three_digits_and_a_unit)
{
	struct quantity q = cases[_i].make(cases[_i].value);

	ck_assert_str_eq(q.text, cases[_i].want);
}
END_TEST

START_TEST(all_digits_in_groups)
{
	ck_assert_str_eq(quantity_grouped(0).text, "0");
	ck_assert_str_eq(quantity_grouped(999).text, "999");
	ck_assert_str_eq(quantity_grouped(28740).text, "28 740");
	ck_assert_str_eq(quantity_grouped(UINT64_MAX).text, "18 446 744 073 709 551 615");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("units");
	TCase *c = tcase_create("units");

	tcase_add_loop_test(c, three_digits_and_a_unit, 0, (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(c, all_digits_in_groups);
	suite_add_tcase(s, c);
	return run_suite(s);
}
