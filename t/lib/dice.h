/* SPDX-License-Identifier: BSD-3-Clause */
/* For profiles that tests make: random numbers, and elements of arrays. */
#ifndef VFTR_T_DICE_H
#define VFTR_T_DICE_H

#include <stdint.h>
#include <string.h>

#include "nodeagent/base/util.h"

struct dice {
	uint64_t state;
};

static inline uint32_t throw_dice(struct dice *d, uint32_t sides)
{
	d->state = d->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(d->state >> 33) % sides;
}

static inline void *add_element(void **array, size_t *n, size_t bytes)
{
	*array = xrealloc(*array, (*n + 1) * bytes);
	return memset((char *)*array + (*n)++ * bytes, 0, bytes);
}

/* One more element, all zero, in an array of a profile. */
#define ADD_ELEMENT(p, member)                                                                     \
	((__typeof__((p)->member))add_element(                                                     \
		(void **)&(p)->member, &(p)->n_##member, sizeof(*(p)->member)))

#endif
