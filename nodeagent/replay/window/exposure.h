/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells which of two ranks of a window waits for the other in MPI_Win_start, MPI_Win_complete,
 * MPI_Win_post and MPI_Win_wait. The kth MPI_Win_start of an origin with a target in its group
 * belongs to the kth MPI_Win_post of that target with the origin in its group. Both are known as
 * long as all these calls were recorded, and read in the order in which they took place.
 */
#ifndef VFTR_NODEAGENT_REPLAY_WINDOW_EXPOSURE_H
#define VFTR_NODEAGENT_REPLAY_WINDOW_EXPOSURE_H

#include <stdint.h>
#include "nodeagent/base/wait-kinds.h"

/* Ranks of groups that are kept of all windows of a process. */
#ifndef EXPOSURES_MAX
#define EXPOSURES_MAX (1u << 20)
#endif

struct exposures; /* of the windows of one process; NULL: none yet */

/* What an EPOCH on a window says. */
struct exposure_call {
	uint32_t window, function, epoch;
	uint32_t self, other; /* ranks in the communicator; other: of the group */
	uint32_t ranks;	      /* of the communicator */
};

/* A call by which one rank of a pair waits for the other one. */
struct exposure_pair {
	/* ranks in the communicator; one is this process */
	uint32_t origin, target, awaited, waiting;
	uint32_t ticket; /* of this call among those of origin and target, equal on both */
	enum wait_kind wait;
};

/* Calls use() for each pair that the call belongs to; for other functions of MPI there is none. */
void exposure_pairs(struct exposures **of, const struct exposure_call *call,
	void (*use)(void *arg, const struct exposure_pair *pair), void *arg);

/* The window is gone. */
void exposure_gone(struct exposures *of, uint32_t window);
void exposures_free(struct exposures *of);

#endif
