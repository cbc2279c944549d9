/* SPDX-License-Identifier: BSD-3-Clause */
/* A count for the identities of communicators, which shm/identity.h makes. */
#ifndef VFTR_MPI_OBJECT_IDENTITY_H
#define VFTR_MPI_OBJECT_IDENTITY_H

#include <stdint.h>

/*
 * Returns the number of earlier calls with the same base, which is not 0. Memory grows with the
 * number of bases; without memory the result is 0.
 */
uint64_t vftr_identity_count(uint64_t base);

#endif
