/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a value grows with a parameter p: the performance model normal form with one term,
 *
 *	f(p) = c0 + c1 * p^i * log2(p)^j
 *
 * with i and j of fixed sets, or f(p) = c0. vftr-analysis(7) has the method and its sources.
 */
#ifndef VFTR_NODEAGENT_TOOL_MODELS_FIT_H
#define VFTR_NODEAGENT_TOOL_MODELS_FIT_H

#include <stddef.h>

#define FIT_POINTS_LEAST 3 /* with fewer, any term fits */
#define FIT_POINTS_GOOD	 5 /* below, a model is a guess */

struct fit {
	double c0, c1;	    /* c1 is 0 of a constant */
	unsigned power;	    /* index of i in fit_powers[]; 0: i is 0 */
	unsigned logarithm; /* j: 0, 1 or 2; a constant has 0 here and there */
	/*
	 * The error of prediction in percent, from 0 to 200: each point is predicted by a fit of
	 * the others, and this is the mean of 2 |f - y| / (|f| + |y|) over the points.
	 */
	double error_percent;
};

/* The powers i, rising: value and text ("1/2"). */
extern const struct fit_power {
	double value;
	const char *text;
} fit_powers[];

/*
 * The model of n >= FIT_POINTS_LEAST points: p[] >= 1, rising, each once; y[] finite. It has the
 * term with the least error, or is a constant if that error is not well below the constant's.
 */
struct fit fit_points(const double *p, const double *y, size_t n);

/* f(p); p >= 1. */
double fit_value(const struct fit *f, double p);

/* "12 + 3.5 * p^1/2 * log2(p)", with the name of the parameter for p. The caller frees. */
char *fit_text(const struct fit *f, const char *parameter);

#endif
