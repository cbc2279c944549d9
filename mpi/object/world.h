/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes with world ranks: MPI_COMM_WORLD, or the process set mpi://WORLD
 * of a program that has sessions only. Makes only local calls on handles of our own.
 */
#ifndef VFTR_MPI_OBJECT_WORLD_H
#define VFTR_MPI_OBJECT_WORLD_H

#include "mpi/call.h"

struct world {
	MPI_Group group;
#if MPI_VERSION >= 4
	MPI_Session session; /* ours, and only while this is open */
#endif
};

/* True if MPI_COMM_WORLD may be used now. */
bool vftr_world_is_up(void);
/* Opens the group of all of them; false: MPI is not up. Only within an MPI call of the user's. */
bool vftr_world_open(struct world *w);
void vftr_world_close(struct world *w);

#endif
