/* SPDX-License-Identifier: BSD-3-Clause */
/* The lengths of the messages of a collective call, one by one, as LENGTHS records. */
#ifndef VFTR_MPI_LENGTHS_H
#define VFTR_MPI_LENGTHS_H

#include "mpi/amount.h"

/*
 * Of the messages of k, whose ticket is set, with all of w. flags: enum lengths_flag, as
 * far as they do not say how the record is made. Costs as much as there are ranks; what
 * follows each other and is alike is one record.
 */
void vftr_lengths(const struct mpi_call *k, const struct mpi_comm *c, enum amount a,
	const struct whom *w, uint32_t flags);

#endif
