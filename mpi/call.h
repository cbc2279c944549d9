/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The funnel: every generated wrapper, C or Fortran, goes through these two.
 * An MPI library may call itself by its public names (MPICH's Fortran calls
 * MPI_Send in C, Open MPI's calls PMPI_Send), and only the outermost call on a
 * thread is the user's: that one is recorded, the others pass.
 */
#ifndef VFTR_MPI_CALL_H
#define VFTR_MPI_CALL_H

#include <stdbool.h>
#include "mpi_id.h"

/*
 * A call of MPI function `id` begins on this thread. True if the application
 * made it; hand that to vftr_mpi_exit() when the call has returned. Both are
 * cheap, never fail, and keep errno.
 */
bool vftr_mpi_enter(enum mpi_id id);
void vftr_mpi_exit(bool outermost, enum mpi_id id);

/* MPI may have just been initialized: tells the agent our rank, if it was. */
void vftr_mpi_world(void);

#endif
