/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of MPI calls: reads them, and puts one of ours where the program ignores it. */
#ifndef VFTR_MPI_RECORDER_STATUS_H
#define VFTR_MPI_RECORDER_STATUS_H

#include "mpi/call.h"

/* Makes the call fill a status: if the user ignores it, the call's own takes its place. */
static inline void want_status(struct mpi_call *k)
{
	if (k->language == LANGUAGE_C ? k->status == (void *)MPI_STATUS_IGNORE
				      : vftr_call_status_ignored(k))
		k->status = &k->own_status;
}

static inline size_t status_bytes(const struct mpi_call *k)
{
	return k->language == LANGUAGE_C ? sizeof(MPI_Status)
					 : MPI_F_STATUS_SIZE * sizeof(MPI_Fint);
}

/* Status i of the call's array, in the form of C; *room is used for those of Fortran. */
static inline const MPI_Status *status_at(const struct mpi_call *k, int i, MPI_Status *room)
{
	if (k->language == LANGUAGE_C)
		return (const MPI_Status *)k->status + i;
	PMPI_Status_f2c((const MPI_Fint *)k->status + (size_t)i * MPI_F_STATUS_SIZE, room);
	return room;
}

/* Bytes received. Open MPI and MPICH have them in public members of the status, which their
 * ABI keeps; a call that asks for them would cost as much as reading the clock. */
static inline uint64_t status_count(const MPI_Status *s)
{
#ifdef OPEN_MPI
	return s->_ucount;
#elif defined(MPICH_VERSION)
	return (uint64_t)(uint32_t)s->count_hi_and_cancelled >> 1 << 32 | (uint32_t)s->count_lo;
#else
	MPI_Count n = 0;

	return PMPI_Get_elements_x(s, MPI_BYTE, &n) == MPI_SUCCESS && n > 0 ? (uint64_t)n : 0;
#endif
}

static inline bool status_cancelled(const MPI_Status *s)
{
	int flag = 0;

	return PMPI_Test_cancelled(s, &flag) == MPI_SUCCESS && flag;
}

#endif
