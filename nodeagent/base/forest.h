/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trees over the elements of an array, by their indices, walked in the order of printing:
 * each element, then all below it. A tree may be as deep as there are elements, so the
 * walk is not recursive.
 */
#ifndef VFTR_NODEAGENT_BASE_FOREST_H
#define VFTR_NODEAGENT_BASE_FOREST_H

#include <stddef.h>
#include <stdint.h>

#define FOREST_NONE UINT32_MAX

/* Links are indices; FOREST_NONE: none. Elements that were never put are not walked. */
struct forest {
	uint32_t first; /* root */
	uint32_t *parent, *child, *sibling;
	uint32_t *level; /* valid once forest_next() has come there */
};

/* An empty forest over n elements; free it with forest_done(). */
void forest_init(struct forest *f, size_t n);
void forest_done(struct forest *f);
/* Puts the siblings i ... last (last == i: only i) before the present children of parent[i]. */
void forest_put_first(struct forest *f, uint32_t i, uint32_t last);
/* The element after i in the walk, or FOREST_NONE. */
uint32_t forest_next(struct forest *f, uint32_t i);

#endif
