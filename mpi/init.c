/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the table cannot say. After MPI_Init or MPI_Init_thread, from whatever
 * language, the agent learns this process's place in MPI_COMM_WORLD; these
 * three local calls are the only ones we add to the user's own.
 */
#include "libhook/emit.h"
#include "mpi/call.h"
/* what is declared here is for everybody to see, whatever mpi.h says of that */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

void vftr_mpi_world(void)
{
	int up = 0, rank, size;

	if (PMPI_Initialized(&up) != MPI_SUCCESS || !up)
		return;
	if (PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
		return;
	if (PMPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS)
		return;
	vftr_set_rank(rank, size);
}

/* By hand because it is variadic; no MPI library looks at what follows. */
int MPI_Pcontrol(const int level, ...)
{
	const bool outermost = vftr_mpi_enter(VFTR_MPI_PCONTROL);
	const int rc = PMPI_Pcontrol(level);

	vftr_mpi_exit(outermost, VFTR_MPI_PCONTROL);
	return rc;
}
