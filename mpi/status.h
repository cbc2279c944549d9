/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: what an ignored one would have said, and what any says. */
#ifndef VFTR_MPI_STATUS_H
#define VFTR_MPI_STATUS_H

#include "mpi/call.h"

/* One status is wanted: where the user ignores it, the call's own takes its place. */
static inline void want_status(struct mpi_call *k)
{
	if (k->language == LANGUAGE_C ? k->status == (void *)MPI_STATUS_IGNORE
				      : call_status_ignored(k))
		k->status = &k->own_status;
}

static inline size_t status_bytes(const struct mpi_call *k)
{
	return k->language == LANGUAGE_C ? sizeof(MPI_Status)
					 : MPI_F_STATUS_SIZE * sizeof(MPI_Fint);
}

/* Status i of the call's array, as C has it; *room is used for those of Fortran. */
static inline const MPI_Status *status_at(const struct mpi_call *k, int i, MPI_Status *room)
{
	if (k->language == LANGUAGE_C)
		return (const MPI_Status *)k->status + i;
	PMPI_Status_f2c((const MPI_Fint *)k->status + (size_t)i * MPI_F_STATUS_SIZE, room);
	return room;
}

/* Bytes. Both have them in the status, in public members that their ABI keeps; asking
 * for them would cost as much as a clock. */
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
