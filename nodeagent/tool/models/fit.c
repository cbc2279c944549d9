/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/models/fit.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define LOGARITHMS 3
/* Errors that differ by less are those of arithmetic: the term that grows least is taken. */
#define TIE_PERCENT 1e-7
#define LEAST_SCALE 0.01

const struct fit_power fit_powers[] = {
	{0.0, "0"},
	{1.0 / 4.0, "1/4"},
	{1.0 / 3.0, "1/3"},
	{1.0 / 2.0, "1/2"},
	{2.0 / 3.0, "2/3"},
	{3.0 / 4.0, "3/4"},
	{1.0, "1"},
	{3.0 / 2.0, "3/2"},
	{2.0, "2"},
	{3.0, "3"},
};

static double term_value(const struct fit *f, double p)
{
	return pow(p, fit_powers[f->power].value) * pow(log2(p), f->logarithm);
}

static bool is_constant(const struct fit *f)
{
	return !f->power && !f->logarithm;
}

/*
 * Points as they are fitted: x is the term against its greatest value, so that sums are sound.
 * Times differ from run to run by a part of themselves, so squares of relative errors are added
 * up; below a hundredth of the mean value, errors count as there.
 */
struct sample {
	const double *y;
	double *x, *weight;
	size_t n;
};

static void weigh(struct sample *s)
{
	double mean = 0.0;

	for (size_t i = 0; i < s->n; i++)
		mean += fabs(s->y[i]) / (double)s->n;
	for (size_t i = 0; i < s->n; i++) {
		const double scale = fmax(fabs(s->y[i]), LEAST_SCALE * mean);

		s->weight[i] = scale > 0.0 ? mean * mean / (scale * scale) : 1.0;
	}
}

/* Least squares without point `without` (n: with all). */
static void solve_for(struct fit *f, const struct sample *s, size_t without)
{
	double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;

	for (size_t i = 0; i < s->n; i++) {
		if (i == without)
			continue;
		n += s->weight[i];
		x += s->weight[i] * s->x[i];
		y += s->weight[i] * s->y[i];
	}
	x /= n;
	y /= n;
	for (size_t i = 0; i < s->n; i++) {
		if (i == without)
			continue;
		xx += s->weight[i] * (s->x[i] - x) * (s->x[i] - x);
		xy += s->weight[i] * (s->x[i] - x) * (s->y[i] - y);
	}
	f->c1 = xx > 0.0 ? xy / xx : 0.0;
	f->c0 = y - f->c1 * x;
}

/* Leaves one point out after the other. */
static double cross_validate(struct fit f, const struct sample *s)
{
	double sum = 0.0;

	for (size_t i = 0; i < s->n; i++) {
		double says, both;

		solve_for(&f, s, i);
		says = f.c0 + f.c1 * s->x[i];
		both = fabs(says) + fabs(s->y[i]);
		if (both > 0.0)
			sum += 2.0 * fabs(says - s->y[i]) / both;
	}
	return 100.0 * sum / (double)s->n;
}

static void try_term(struct fit *f, const double *p, struct sample *s)
{
	const double most = is_constant(f) ? 1.0 : term_value(f, p[s->n - 1]);

	for (size_t i = 0; i < s->n; i++)
		s->x[i] = is_constant(f) ? 0.0 : term_value(f, p[i]) / most;
	f->error_percent = cross_validate(*f, s);
	solve_for(f, s, s->n);
	f->c1 /= most;
}

/*
 * The part of the constant's error below which a term must be: a third of 5 points, half of 8. Of
 * few points that differ by noise only, one of so many terms is better by chance; so 1 to 3 of
 * 100 constants on 5 to 8 points are taken for something else.
 */
static double gain_needed(size_t n)
{
	return ((double)n - 2.0) / ((double)n + 4.0);
}

struct fit fit_points(const double *p, const double *y, size_t n)
{
	struct sample s = {.y = y, .x = xcalloc(2 * n, sizeof(*s.x)), .n = n};
	struct fit constant = {0}, best = {.error_percent = INFINITY};

	s.weight = s.x + n;
	weigh(&s);
	try_term(&constant, p, &s);
	for (unsigned i = 0; i < ARRAY_SIZE(fit_powers); i++)
		for (unsigned j = 0; j < LOGARITHMS; j++) {
			struct fit f = {.power = i, .logarithm = j};

			if (is_constant(&f))
				continue;
			try_term(&f, p, &s);
			if (f.error_percent < best.error_percent - TIE_PERCENT)
				best = f;
		}
	free(s.x);
	return best.error_percent < gain_needed(n) * constant.error_percent - TIE_PERCENT
		       ? best
		       : constant;
}

double fit_value(const struct fit *f, double p)
{
	return is_constant(f) ? f->c0 : f->c0 + f->c1 * term_value(f, p);
}

/* ---- as text ----------------------------------------------------------------------------- */

/* Whole numbers, as those of exact counts are, in all their digits. */
static char *number_text(double value)
{
	const double whole = round(value);

	if (fabs(whole) >= 1.0 && fabs(whole) < 1e9 && fabs(value - whole) < 1e-7 * fabs(whole))
		return xasprintf("%.0f", whole);
	return xasprintf("%.3g", value);
}

/* "p^(1/2) * log2(p)"; the caller frees. */
static char *term_text(const struct fit *f, const char *parameter)
{
	const char *power = fit_powers[f->power].text, *square = f->logarithm > 1 ? "^2" : "";
	char *first = !f->power			? xstrdup("")
		      : strcmp(power, "1") == 0 ? xstrdup(parameter)
		      : strchr(power, '/')	? xasprintf("%s^(%s)", parameter, power)
						: xasprintf("%s^%s", parameter, power);
	char *text = f->logarithm ? xasprintf("%s%slog2(%s)%s", first, f->power ? " * " : "",
					    parameter, square)
				  : xstrdup(first);

	free(first);
	return text;
}

char *fit_text(const struct fit *f, const char *parameter)
{
	const bool has_c0 = is_constant(f) || fabs(f->c0) > 1e-7 * fabs(f->c1);
	char *c0 = number_text(f->c0), *c1 = number_text(has_c0 ? fabs(f->c1) : f->c1);
	char *of = term_text(f, parameter), *text;
	const char *times = " * ", *factor = c1;

	if (!strcmp(c1, "1"))
		times = factor = "";
	if (is_constant(f))
		text = xstrdup(c0);
	else if (has_c0)
		text = xasprintf("%s %c %s%s%s", c0, f->c1 < 0.0 ? '-' : '+', factor, times, of);
	else
		text = xasprintf("%s%s%s", factor, times, of);
	free(c0);
	free(c1);
	free(of);
	return text;
}
