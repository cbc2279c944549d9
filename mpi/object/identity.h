/* SPDX-License-Identifier: BSD-3-Clause */
/* What identities of communicators are mixed from; vftr_mix() is in comm.h. */
#ifndef VFTR_MPI_OBJECT_IDENTITY_H
#define VFTR_MPI_OBJECT_IDENTITY_H

#include <stdint.h>

/*
 * How many times this was asked with the same base before. Memory grows with
 * distinct bases; without memory the answer is 0.
 */
uint64_t vftr_identity_count(uint64_t base);

#endif
