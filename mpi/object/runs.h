/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of the world as runs (struct wire_run). */
#ifndef VFTR_MPI_OBJECT_RUNS_H
#define VFTR_MPI_OBJECT_RUNS_H

#include "mpi/call.h"
#include "shm/wire.h"

/*
 * Appends a rank (negative: WIRE_UNKNOWN) to n runs, which have room for one run more;
 * returns the new number of runs.
 */
uint32_t vftr_run_append(struct wire_run *run, uint32_t n, int rank);

#define RUNS_AT_ONCE 512 /* members that are asked for in one call */

/* What `member` says of `some` members of a group, `from`, is completed: WIRE_UNKNOWN of those that
 * are not in the world. */
typedef void runs_find(
	const void *others, MPI_Group group, int some, const int *from, int32_t *member);

/* All `size` members of a group as runs, at most size of them; returns their number. */
uint32_t vftr_runs_of_group(MPI_Group group, uint32_t size, MPI_Group world, runs_find *find,
	const void *others, struct wire_run *run);

#endif
