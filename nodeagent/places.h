/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of places (match_place()) in messages between agents, which are arrays of
 * words: runs of evenly spaced places, as ranks lie on nodes, so that a set
 * seldom takes more than a few words.
 */
#ifndef VFTR_NODEAGENT_PLACES_H
#define VFTR_NODEAGENT_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
	uint64_t *at;
	size_t n, cap;
};

/* A message that is read; bad: it was shorter than it said, or makes no sense. */
struct words_in {
	const uint64_t *at;
	size_t n;
	bool bad;
};

struct places {
	uint64_t *at; /* ascending, each once */
	size_t n;
};

#define PLACES_MAX ((size_t)1 << 26) /* in a set that is read */

void words_put(struct words *w, uint64_t word);
void words_free(struct words *w);
/* 0 if there is no more. */
uint64_t words_get(struct words_in *in);

/* n places in any order, also twice; at is sorted. */
void places_put(struct words *w, uint64_t *at, size_t n);
/* The caller frees p->at; an empty set if bad. */
void places_get(struct words_in *in, struct places *p);

#endif
