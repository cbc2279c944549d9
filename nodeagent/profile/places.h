/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host of each rank: rank_ranges[] of a profile, runs of ranks first, first + step ... last.
 * They are sorted by `first', and no rank is in two of them. Of a node whose ranks come in blocks a
 * run has its neighbours; where ranks go round the nodes, it has each n-th rank, and so there are
 * about as many runs as nodes either way.
 *
 * The runs of a host depend on its ranks alone, so that any order of merging gives the same: as
 * many neighbours as there are become a run; and of ranks that stand alone then, from the first one
 * on, three or more at one distance do, if no such run is between them. As any two are at one
 * distance, two are none: ranks that are anywhere would have as many steps as nodes.
 */
#ifndef VFTR_NODEAGENT_PROFILE_PLACES_H
#define VFTR_NODEAGENT_PROFILE_PLACES_H

#include <stdint.h>

#include "nodeagent/profile/profile.h"

/* A run with a step ends below this rank, so that an index of its ranks takes 64 MiB at most. */
#define PLACES_STEPS_BELOW (1u << 24)
#define PLACES_OPEN_MOST   ((size_t)1 << 26) /* bytes of places_open() */

/* From one rank to the next. */
static inline uint32_t place_step(const struct profile_rank_range *r)
{
	return r->step ? r->step : 1;
}

static inline uint32_t place_ranks(const struct profile_rank_range *r)
{
	return (r->last - r->first) / place_step(r) + 1;
}

/*
 * The run that has this rank, or NULL. The first call for a list with steps makes an index of 4
 * bytes for each rank, which the profile keeps until its list is another one: not for two threads.
 */
const struct profile_rank_range *places_find(const struct profile *p, uint32_t rank);
/* The host of a rank; that of the only agent, or NULL, if there is no such run. */
const char *places_host(const struct profile *p, uint32_t rank);

/* The rest is for profile/ only. */

/*
 * Before two lists are merged: hosts that are in both, which is rare, get a run of each of their
 * ranks that are in runs with a step. Not if these need more than PLACES_OPEN_MOST, so that little
 * input cannot ask for much memory: such runs stay apart.
 */
void places_open(struct profile *a, struct profile *b);
/*
 * For a sorted list in which runs may contradict each other: a run loses all ranks up to the last
 * one that a run before it has. Then runs are made of those that can be joined.
 */
void places_join(struct profile *p);
/* NULL, or what is wrong with a list whose records are right, and sorted. */
const char *places_fault(const struct profile *p);
/* Frees the index. */
void places_forget(struct profile *p);

#endif
