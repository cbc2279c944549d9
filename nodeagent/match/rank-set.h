/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of processes (match_proc_id()) in messages between agents, which are arrays of
 * words: runs of evenly spaced ids, as ranks lie on nodes, so that a set
 * seldom takes more than a few words.
 */
#ifndef VFTR_NODEAGENT_MATCH_RANK_SET_H
#define VFTR_NODEAGENT_MATCH_RANK_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct words {
	uint64_t *at;
	size_t n, cap;
};

/* A message while it is read; bad: it is too short, or makes no sense. */
struct words_in {
	const uint64_t *at;
	size_t n;
	bool bad;
};

struct rank_set {
	uint64_t *at; /* ascending, each once */
	size_t n;
};

/* Most ids of a set in a message, whatever their values; a message with more of them is bad. */
#define RANK_SET_MAX ((size_t)1 << 26)

void words_put(struct words *w, uint64_t word);
void words_free(struct words *w);
/* The next word; 0 at the end. */
uint64_t words_get(struct words_in *in);

/* Adds n ids in any order, maybe some twice; sorts at. Of more than `most` different ones the least
 * are added. */
void rank_set_put_most(struct words *w, uint64_t *at, size_t n, size_t most);
static inline void rank_set_put(struct words *w, uint64_t *at, size_t n)
{
	rank_set_put_most(w, at, n, RANK_SET_MAX);
}
/*
 * The same as runs that may lie between each other, if there are fewer of these: of ids that are
 * `step' apart, or a multiple of it. They come back in the order of runs, maybe some twice.
 */
void rank_set_put_mixed(struct words *w, uint64_t *at, size_t n, uint64_t step);
/* The caller frees p->at; an empty set if bad. */
void rank_set_get(struct words_in *in, struct rank_set *p);
void rank_set_get_mixed(struct words_in *in, struct rank_set *p);
/* Leaves a set out; bad as if it were taken. */
void rank_set_skip(struct words_in *in, bool mixed);

#endif
