/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for the time of one MPI call: each thread has a stack of it. */
#ifndef VFTR_MPI_SCRATCH_H
#define VFTR_MPI_SCRATCH_H

#include <stddef.h>

/* Takes memory, 16-byte aligned, not cleared; NULL: none is left. */
void *vftr_scratch(size_t bytes);
/* Gives memory of vftr_scratch() back, the last piece first. NULL is ignored. */
void vftr_scratch_done(const void *at);
/* The outermost call of a thread sets the bytes in use (mpi_open.scratch) to 0, as calls that were
 * left by longjmp() did not give theirs back. */

#endif
