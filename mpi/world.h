/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes that have world ranks: MPI_COMM_WORLD, or the pset mpi://WORLD
 * of a program that has sessions only. Local calls on handles of our own.
 */
#ifndef VFTR_MPI_WORLD_H
#define VFTR_MPI_WORLD_H

#include "mpi/call.h"

struct world {
	MPI_Group group;
#if MPI_VERSION >= 4
	MPI_Session session; /* ours, and only while this is open */
#endif
};

/* Whether MPI_COMM_WORLD may be used now. */
bool vftr_world_is_up(void);
/* The group of all; false: MPI is not up. Only within a call of the user's that MPI is up for. */
bool vftr_world_open(struct world *w);
void vftr_world_close(struct world *w);

#endif
