/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to MPI about handles that may be bad: MPI then calls an error handler, which must not
 * be the program's.
 */
#ifndef VFTR_MPI_OBJECT_QUIET_H
#define VFTR_MPI_OBJECT_QUIET_H

#include "mpi/call.h"

struct quiet {
	MPI_Errhandler of_world, of_self;
};

/*
 * From here to vftr_quiet_end() calls without a communicator return their errors. One thread at a
 * time, as the program's handlers must be restored. False: MPI is not up, or another thread does
 * not end, as that may wait for this one.
 */
bool vftr_quiet_begin(struct quiet *q);
void vftr_quiet_end(struct quiet *q);

#endif
