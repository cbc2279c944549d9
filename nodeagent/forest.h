/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees over the elements of an array, by their indices, in the order in which they
 * are printed: each one, then what is below it. They may be as deep as there are
 * elements, so they are walked without recursion.
 */
#ifndef VFTR_NODEAGENT_FOREST_H
#define VFTR_NODEAGENT_FOREST_H

#include <stddef.h>
#include <stdint.h>

#define FOREST_NONE UINT32_MAX

/* All by index; FOREST_NONE: none. Elements that were never put anywhere are not walked. */
struct forest {
	uint32_t first; /* of those that are below none */
	uint32_t *parent, *child, *sibling;
	uint32_t *level; /* valid once forest_next() has come there */
};

/* Of n elements; free with forest_done(). */
void forest_init(struct forest *f, size_t n);
void forest_done(struct forest *f);
/* i, which leads last by siblings (itself: alone), before what is below its parent[] so far. */
void forest_put_first(struct forest *f, uint32_t i, uint32_t last);
/* The one that is printed after i, or FOREST_NONE. */
uint32_t forest_next(struct forest *f, uint32_t i);

#endif
