/* SPDX-License-Identifier: BSD-3-Clause */
/* How what was measured grows with the number of agents. */
#ifndef VFTR_T_SCALE_SIM_GROWTH_H
#define VFTR_T_SCALE_SIM_GROWTH_H

#include <stddef.h>

struct growth {
	const char *law;     /* "log N" ... */
	double base, factor; /* y = base + factor * law */
	double error;	     /* root of the mean square of relative errors */
};

/* The law that fits n values best, at numbers of agents at[]; n is 3 or more. */
struct growth growth_fit(const double *at, const double *y, size_t n);
/* By it, at another number of agents. */
double growth_at(const struct growth *g, double agents);

#endif
