/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of our own inside the application, which never sees it: small pieces
 * come out of mapped chunks and are used again, large ones are mapped by
 * themselves, so that untouched pages cost nothing.
 */
#ifndef VFTR_MPI_MEMORY_H
#define VFTR_MPI_MEMORY_H

#include <stddef.h>

/* Zeroed memory, or NULL; from any thread, but not in a signal handler, as there is a lock. */
void *vftr_memory_take(size_t bytes);
/* Gives a piece back; bytes: as when it was taken. NULL is ignored. */
void vftr_memory_give(void *piece, size_t bytes);

#endif
