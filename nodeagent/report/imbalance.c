/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The formulas, one function each. Differences are taken in integers: times of
 * days that differ by microseconds must not be lost in a division.
 */
#include "nodeagent/report/imbalance.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "nodeagent/base/util.h"

static double difference_of(unsigned __int128 a, unsigned __int128 b)
{
	return a >= b ? double_of(a - b) : -double_of(b - a);
}

/* n times the distance of the maximum and of the minimum from the mean. */
static double above(const struct spread *s)
{
	return difference_of((unsigned __int128)s->max * s->n, s->sum);
}

static double sum_above_least(const struct spread *s)
{
	return difference_of(s->sum, (unsigned __int128)s->min * s->n);
}

static bool minimum_is_farther(const struct spread *s)
{
	return sum_above_least(s) > above(s);
}

static double deviation(const struct spread *s)
{
	double part = minimum_is_farther(s) ? -sum_above_least(s) : above(s);

	return 100.0 * part / (double)s->sum;
}

static double max_mean(const struct spread *s)
{
	return 100.0 * above(s) / (double)s->sum;
}

/* max - mean is idle on n - 1 ranks at most */
static double idle(const struct spread *s)
{
	if (s->n < 2)
		return 0.0;
	return 100.0 * above(s) / ((double)s->max * (double)(s->n - 1));
}

static double variation(const struct spread *s)
{
	/* n * sumsq - sum^2 is n^2 times the variance; in the integers as far as they go */
	unsigned __int128 most = ~(unsigned __int128)0 / s->n;
	unsigned __int128 square = (unsigned __int128)s->sum * s->sum;
	double variance;

	if (s->sumsq <= most)
		variance = s->sumsq * s->n > square ? (double)(s->sumsq * s->n - square) : 0.0;
	else
		variance = (double)s->sumsq * (double)s->n - (double)square;
	return variance > 0.0 ? 100.0 * sqrt(variance) / (double)s->sum : 0.0;
}

static double range(const struct spread *s)
{
	return 100.0 * (double)(s->max - s->min) / (double)s->max;
}

static double balance(const struct spread *s)
{
	return 100.0 * (double)s->sum / ((double)s->max * (double)s->n);
}

static const struct imbalance_formula {
	const char *name;
	double (*percent)(const struct spread *s);
	double of_nothing;
	bool of_farthest; /* the rank is the one farthest from the mean, else the maximum's */
} formulas[] = {
	{"deviation", deviation, 0.0, true},
	{"max_mean", max_mean, 0.0, false},
	{"idle", idle, 0.0, false},
	{"variation", variation, 0.0, true},
	{"range", range, 0.0, false},
	{"balance", balance, 100.0, false},
};

const struct imbalance_formula *imbalance_formula(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(formulas); i++)
		if (!strcmp(formulas[i].name, name))
			return &formulas[i];
	return &formulas[0];
}

uint32_t imbalance_rank(const struct imbalance_formula *formula, const struct spread *s)
{
	return formula->of_farthest && s->sum && minimum_is_farther(s) ? s->rank_min : s->rank_max;
}

double imbalance_by(const struct imbalance_formula *formula, const struct spread *s, uint32_t *rank)
{
	if (rank)
		*rank = imbalance_rank(formula, s);
	/* also what no run makes: a damaged profile must not become nan */
	if (!s->n || !s->sum || !s->max || s->min > s->max)
		return formula->of_nothing;
	return formula->percent(s);
}

double imbalance(const char *formula, const struct spread *s, uint32_t *rank)
{
	return imbalance_by(imbalance_formula(formula), s, rank);
}
