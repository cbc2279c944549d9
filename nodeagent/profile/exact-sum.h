/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sum of real numbers that does not depend on the order of adding. Each number is cut at fixed
 * powers of 2 into parts of 40 bits, and parts are summed as integers: the highest ones of all
 * numbers and the two below, so that what is left out is less than 2^-79 of the greatest of 2^23.
 */
#ifndef VFTR_NODEAGENT_PROFILE_EXACT_SUM_H
#define VFTR_NODEAGENT_PROFILE_EXACT_SUM_H

#include <stdint.h>

#define EXACT_SUM_PARTS 3
#define EXACT_SUM_TOPS	60 /* `top' is below */

struct exact_sum {
	uint32_t top; /* 1 + the number of the highest part; 0: nothing was added but 0 */
	int64_t part[EXACT_SUM_PARTS]; /* the highest first */
};

/* Adds a number; what is infinite is the greatest number, and what is none adds nothing. */
void exact_sum_put(struct exact_sum *s, double x);
void exact_sum_add(struct exact_sum *s, const struct exact_sum *from);
double exact_sum_value(const struct exact_sum *s);

#endif
