/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that MPI refuses, and those that fail later. */
#include "mpi/recorder/record.h"

bool vftr_call_refused(int rc)
{
	static const int classes[] = {MPI_ERR_AMODE, MPI_ERR_ARG, MPI_ERR_ASSERT, MPI_ERR_BUFFER,
		MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_DIMS, MPI_ERR_DISP, MPI_ERR_GROUP,
		MPI_ERR_INFO, MPI_ERR_OP, MPI_ERR_RANK, MPI_ERR_RMA_SYNC, MPI_ERR_ROOT,
		MPI_ERR_SIZE, MPI_ERR_TAG, MPI_ERR_TOPOLOGY, MPI_ERR_TYPE, MPI_ERR_WIN};
	int class = MPI_SUCCESS;

	PMPI_Error_class(rc, &class);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (classes[i] == class)
			return true;
	return false;
}

void vftr_meeting_failed(uint32_t *tickets, uint32_t ticket, int rc)
{
	if (vftr_call_refused(rc))
		claim_u32(tickets, ticket + 1, ticket);
	if (vftr_mpi_recording())
		record_failed(rc);
}
