/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/exact-sum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define PART_BITS 40
#define LOWEST	  1200 /* part 0 begins at 2^-1200, below all numbers */

/* Makes room for parts up to `top': lower ones may go. */
static void raise(struct exact_sum *s, uint32_t top)
{
	const uint32_t by = top > s->top ? MIN(top - s->top, EXACT_SUM_PARTS) : 0;

	if (!by)
		return;
	memmove(s->part + by, s->part, (EXACT_SUM_PARTS - by) * sizeof(*s->part));
	memset(s->part, 0, by * sizeof(*s->part));
	s->top = top;
}

void exact_sum_add(struct exact_sum *s, const struct exact_sum *from)
{
	raise(s, from->top);
	for (uint32_t i = 0; i < EXACT_SUM_PARTS; i++) {
		const uint32_t at = s->top - from->top + i;

		if (at < EXACT_SUM_PARTS) /* a file may have any numbers: they wrap */
			s->part[at] = (int64_t)((uint64_t)s->part[at] + (uint64_t)from->part[i]);
	}
}

void exact_sum_put(struct exact_sum *s, double x)
{
	struct exact_sum one = {.top = 0};
	unsigned __int128 digits;
	uint32_t lowest;
	int power;

	if (isnan(x) || x == 0.0)
		return;
	if (isinf(x))
		x = copysign(DBL_MAX, x);
	digits = (uint64_t)ldexp(frexp(fabs(x), &power), DBL_MANT_DIG);
	lowest = (uint32_t)(power - DBL_MANT_DIG + LOWEST);
	digits <<= lowest % PART_BITS;
	one.top = lowest / PART_BITS + EXACT_SUM_PARTS;
	for (uint32_t i = EXACT_SUM_PARTS; i--; digits >>= PART_BITS)
		one.part[i] = (int64_t)(digits & (((uint64_t)1 << PART_BITS) - 1));
	for (; !one.part[0]; one.top--) {
		memmove(one.part, one.part + 1, sizeof(one.part) - sizeof(*one.part));
		one.part[EXACT_SUM_PARTS - 1] = 0;
	}
	for (uint32_t i = 0; x < 0 && i < EXACT_SUM_PARTS; i++)
		one.part[i] = -one.part[i];
	exact_sum_add(s, &one);
}

double exact_sum_value(const struct exact_sum *s)
{
	double sum = 0.0;

	for (uint32_t i = EXACT_SUM_PARTS; s->top && i--;)
		sum += ldexp((double)s->part[i], ((int)s->top - 1 - (int)i) * PART_BITS - LOWEST);
	return sum;
}
