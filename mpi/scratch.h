/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory from before a call to after it; a stack of each thread's own. */
#ifndef VFTR_MPI_SCRATCH_H
#define VFTR_MPI_SCRATCH_H

#include <stddef.h>

/* 16-byte aligned, not cleared; NULL if there is none to be had. */
void *vftr_scratch(size_t bytes);
/* What vftr_scratch() gave is no longer needed: the last one first. NULL is ignored. */
void vftr_scratch_done(const void *at);
/* Bytes in use: the outermost call of a thread sets it to 0, as calls that were
 * left by longjmp() did not say that they are done. */
extern __thread size_t vftr_scratch_used
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

#endif
