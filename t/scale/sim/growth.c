/* SPDX-License-Identifier: BSD-3-Clause */
#include "t/scale/sim/growth.h"

#include <math.h>
#include <string.h>

#include "nodeagent/base/util.h"

static double constant(double n)
{
	(void)n;
	return 0;
}

static double linear(double n)
{
	return n;
}

static double linear_log(double n)
{
	return n * log2(n);
}

static double square(double n)
{
	return n * n;
}

/* The simpler ones first: another one must fit clearly better. */
static const struct {
	const char *name;
	double (*of)(double n);
} laws[] = {
	{"constant", constant},
	{"log N", log2},
	{"sqrt N", sqrt},
	{"N", linear},
	{"N log N", linear_log},
	{"N^2", square},
};

#define BETTER 0.8

/* Least squares of relative errors: each is weighted by 1 / y^2. */
static struct growth fit_one(size_t law, const double *at, const double *y, size_t n)
{
	struct growth g = {.law = laws[law].name};
	double w = 0, x = 0, xx = 0, v = 0, xv = 0, det;

	for (size_t i = 0; i < n; i++) {
		const double f = laws[law].of(at[i]), weight = 1 / (y[i] * y[i] + 1e-30);

		w += weight;
		x += weight * f;
		xx += weight * f * f;
		v += weight * y[i];
		xv += weight * f * y[i];
	}
	det = w * xx - x * x;
	g.factor = det > 1e-12 * w * xx ? (w * xv - x * v) / det : 0;
	g.base = (v - g.factor * x) / w;
	for (size_t i = 0; i < n; i++) {
		const double off = (growth_at(&g, at[i]) - y[i]) / (fabs(y[i]) + 1e-15);

		g.error += off * off / (double)n;
	}
	g.error = sqrt(g.error);
	return g;
}

struct growth growth_fit(const double *at, const double *y, size_t n)
{
	struct growth best = fit_one(0, at, y, n);

	for (size_t i = 1; i < ARRAY_SIZE(laws); i++) {
		const struct growth g = fit_one(i, at, y, n);

		if (g.factor > 0 && best.error > 0.02 && g.error < BETTER * best.error)
			best = g;
	}
	return best;
}

double growth_at(const struct growth *g, double agents)
{
	for (size_t i = 0; i < ARRAY_SIZE(laws); i++)
		if (!strcmp(laws[i].name, g->law))
			return g->base + g->factor * laws[i].of(agents);
	return g->base;
}
