/* SPDX-License-Identifier: BSD-3-Clause */
/* Models of points that were made by known terms, exactly or with noise. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/tool/models/fit.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define POWERS	   10
#define LOGARITHMS 3
#define POINTS	   12
#define TRIALS	   200

static double p[POINTS], y[POINTS];
static struct dice dice;

static void setup(void)
{
	dice.state = 42;
	for (int i = 0; i < POINTS; i++)
		p[i] = (double)(1 << i);
}

static double even(void)
{
	return ((double)throw_dice(&dice, 1u << 20) + 0.5) / (1u << 20);
}

/* Normally distributed with deviation 1 (Box and Muller). */
static double gauss(void)
{
	const double radius = sqrt(-2.0 * log(even()));

	return radius * cos(2.0 * acos(-1.0) * even());
}

static void make(const struct fit *f, size_t n, double noise)
{
	for (size_t i = 0; i < n; i++)
		y[i] = fit_value(f, p[i]) * (1.0 + (noise > 0.0 ? noise * gauss() : 0.0));
}

static void near(double value, double expected)
{
	ck_assert_msg(fabs(value - expected) <= 1e-6 * fabs(expected) + 1e-9, "%.12g, not %.12g",
		value, expected);
}

static struct fit term(int i, double c0, double c1)
{
	return (struct fit){.c0 = c0,
		.c1 = c1,
		.power = (unsigned)i / LOGARITHMS,
		.logarithm = (unsigned)i % LOGARITHMS};
}

/* Any term, on the fewest points for which no warning is given. */
START_TEST(exact_terms_are_found)
{
	const struct fit known = term(_i, 1000.0, 7.0);
	struct fit f;

	make(&known, FIT_POINTS_GOOD, 0.0);
	f = fit_points(p, y, FIT_POINTS_GOOD);
	ck_assert_uint_eq(f.power, known.power);
	ck_assert_uint_eq(f.logarithm, known.logarithm);
	near(f.c0, 1000.0);
	near(f.c1, 7.0);
	ck_assert(f.error_percent < 1e-6);
	near(fit_value(&f, 4096.0), fit_value(&known, 4096.0));
}
END_TEST

/* Without a constant, falling, and 0 at the first point, as messages to others are. */
START_TEST(other_coefficients)
{
	const struct fit known[] = {term(6 * LOGARITHMS, 0.0, 3.0),
		term(6 * LOGARITHMS, 2000.0, -5.0), term(6 * LOGARITHMS, -8.0, 8.0),
		term(1, 0.0, 0.5), term(8 * LOGARITHMS, -1e-9, 1e-9)};
	struct fit f;

	make(&known[_i], FIT_POINTS_GOOD, 0.0);
	f = fit_points(p, y, FIT_POINTS_GOOD);
	ck_assert_uint_eq(f.power, known[_i].power);
	ck_assert_uint_eq(f.logarithm, known[_i].logarithm);
	near(f.c0 / known[_i].c1, known[_i].c0 / known[_i].c1);
	near(f.c1 / known[_i].c1, 1.0);
}
END_TEST

START_TEST(points_need_not_be_powers_of_two)
{
	static const double at[] = {1.5, 3, 7, 12, 13, 600};
	const struct fit known = term(3 * LOGARITHMS + 1, 2.0, 0.25);
	struct fit f;

	for (size_t i = 0; i < ARRAY_SIZE(at); i++)
		y[i] = fit_value(&known, at[i]);
	f = fit_points(at, y, ARRAY_SIZE(at));
	ck_assert_uint_eq(f.power, known.power);
	ck_assert_uint_eq(f.logarithm, known.logarithm);
}
END_TEST

/* Exactly 0, and exactly the same. */
START_TEST(constants)
{
	for (size_t n = FIT_POINTS_LEAST; n <= POINTS; n++)
		for (int value = 0; value < 3; value++) {
			struct fit f;

			for (size_t i = 0; i < n; i++)
				y[i] = 1e6 * value;
			f = fit_points(p, y, n);
			ck_assert(!f.power && !f.logarithm);
			near(f.c0, 1e6 * value);
			ck_assert(f.error_percent == 0.0);
			near(fit_value(&f, 1e6), 1e6 * value);
		}
}
END_TEST

/* Noise of 5 %: at most 4 of 100, and less the more points there are. */
START_TEST(constants_with_noise_stay_constant)
{
	const struct fit known = term(0, 3.0, 0.0);
	int wrong = 0;

	for (int k = 0; k < 5 * TRIALS; k++) {
		struct fit f;

		make(&known, (size_t)_i, 0.05);
		f = fit_points(p, y, (size_t)_i);
		wrong += f.power || f.logarithm;
		if (!f.power && !f.logarithm)
			ck_assert(fabs(f.c0 - 3.0) < 0.3);
	}
	ck_assert_msg(wrong <= 5 * TRIALS * (_i < 8 ? 4 : 2) / 100, "%d wrong", wrong);
}
END_TEST

/* Noise of 5 %: what they say of four times the greatest p, and mostly the very term. */
START_TEST(terms_with_noise_are_found)
{
	const struct fit known = term(_i, 1.0, 1.0);
	int right = 0, close = 0;

	for (int k = 0; k < TRIALS; k++) {
		struct fit f;
		double ratio;

		make(&known, POINTS, 0.05);
		f = fit_points(p, y, POINTS);
		ratio = fit_value(&f, 4.0 * p[POINTS - 1]) / fit_value(&known, 4.0 * p[POINTS - 1]);
		right += f.power == known.power && f.logarithm == known.logarithm;
		close += ratio > 0.8 && ratio < 1.25;
	}
	ck_assert_msg(right >= TRIALS * 6 / 10, "%d right", right);
	ck_assert_msg(close >= TRIALS * 85 / 100, "%d close", close);
}
END_TEST

static const struct {
	double c0, c1;
	unsigned power, logarithm;
	const char *text;
} texts[] = {
	{12, 0, 0, 0, "12"},
	{0, 0, 0, 0, "0"},
	{0.00125, 0, 0, 0, "0.00125"},
	{12, 3.5, 6, 0, "12 + 3.5 * n"},
	{12, -1, 6, 1, "12 - n * log2(n)"},
	{0, 1, 0, 2, "log2(n)^2"},
	{1e-12, 384000, 3, 1, "384000 * n^(1/2) * log2(n)"},
	{-8, 8, 9, 0, "-8 + 8 * n^3"},
	{0, -2.25, 7, 0, "-2.25 * n^(3/2)"},
};

START_TEST(as_text)
{
	const struct fit f = {texts[_i].c0, texts[_i].c1, texts[_i].power, texts[_i].logarithm, 0};
	char *text = fit_text(&f, "n");

	ck_assert_str_eq(text, texts[_i].text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fit");
	TCase *t = tcase_create("models");

	tcase_add_checked_fixture(t, setup, NULL);
	tcase_add_loop_test(t, exact_terms_are_found, 1, POWERS * LOGARITHMS);
	tcase_add_loop_test(t, other_coefficients, 0, 5);
	tcase_add_test(t, points_need_not_be_powers_of_two);
	tcase_add_test(t, constants);
	tcase_add_loop_test(t, constants_with_noise_stay_constant, FIT_POINTS_GOOD, POINTS + 1);
	tcase_add_loop_test(t, terms_with_noise_are_found, 1, POWERS * LOGARITHMS);
	tcase_add_loop_test(t, as_text, 0, (int)ARRAY_SIZE(texts));
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
