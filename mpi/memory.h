/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of our own inside the application, which never sees it: small pieces
 * come out of mapped chunks and are used again, large ones are mapped by
 * themselves, so that what nobody touches costs nothing.
 */
#ifndef VFTR_MPI_MEMORY_H
#define VFTR_MPI_MEMORY_H

#include <stddef.h>

/* Zeroed memory, or NULL; from any thread. */
void *vftr_memory_take(size_t bytes);
/* Gives it back; the same number of bytes as it was taken with. NULL is ignored. */
void vftr_memory_give(void *piece, size_t bytes);

#endif
