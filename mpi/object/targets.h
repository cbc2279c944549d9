/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks in a window's group that a group of MPI_Win_start or MPI_Win_post has. To ask MPI takes
 * some libraries a search for each rank, and programs mostly use the same ranks again, though in a
 * group that they have made anew. So the last ones are kept.
 */
#ifndef VFTR_MPI_OBJECT_TARGETS_H
#define VFTR_MPI_OBJECT_TARGETS_H

#include "mpi/call.h"

struct targets {
	MPI_Group group; /* a copy of our own */
	int n;
	int target[]; /* as MPI_Group_translate_ranks gives them */
};

/*
 * Those of `group`, which is good: the kept ones, which are taken then, or new ones. NULL: the
 * group is empty, or there is no memory, or MPI refuses it. vftr_targets_keep() has them
 * afterwards. kept: a pointer to struct targets, or 0.
 */
struct targets *vftr_targets_of(uint64_t *kept, MPI_Group group, MPI_Win window);
void vftr_targets_keep(uint64_t *kept, struct targets *t); /* NULL is ignored */
/* Frees what is kept. MPI is called: the caller holds no lock. */
void vftr_targets_drop(uint64_t *kept);

#endif
