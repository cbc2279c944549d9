/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of call paths that users see (STID): by the time of the first call of all
 * processes, so that a caller comes before what it calls. Those called at the same time: callers
 * first, then by name, then by position. Those whose first call is not known come last, by
 * position; in files of earlier programs these are all.
 */
#ifndef VFTR_NODEAGENT_PROFILE_IDS_H
#define VFTR_NODEAGENT_PROFILE_IDS_H

#include <stddef.h>
#include <stdint.h>

struct profile;

/* By stack: the number of its callers; of the root 0. The caller frees. */
uint32_t *profile_depths(const struct profile *p);

/* By stack: its id, from 0. Stacks with the same hash have ids in the order of
 * their positions. The caller frees. */
uint32_t *profile_ids(const struct profile *p);

/* The id of one stack of a job. In arrays they are sorted by hash, those of one hash by id. */
struct profile_number {
	uint64_t hash, id;
};

/* Those of all p->n_stacks stacks. The caller frees. */
struct profile_number *profile_numbers(const struct profile *p);

/*
 * The ids of p's stacks in a job, of which n numbers are known: the kth stack of p with a hash
 * has the kth of the numbers with it. UINT64_MAX: there is none. The caller frees.
 */
uint64_t *profile_ids_in(const struct profile *p, const struct profile_number *job, size_t n);

#endif
