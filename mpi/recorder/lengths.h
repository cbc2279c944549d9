/* SPDX-License-Identifier: BSD-3-Clause */
/* The lengths of the messages of a collective call, one by one, as LENGTHS records. */
#ifndef VFTR_MPI_RECORDER_LENGTHS_H
#define VFTR_MPI_RECORDER_LENGTHS_H

#include "mpi/recorder/amount.h"

/*
 * Records the lengths of the messages of k, whose ticket is set, with all ranks of w. flags:
 * enum lengths_flag without those for the form of a record. Takes time in proportion to the
 * ranks; neighbouring messages of one length share a record.
 */
void vftr_lengths(const struct mpi_call *k, const struct mpi_comm *c, enum amount a,
	const struct whom *w, uint32_t flags);

#endif
