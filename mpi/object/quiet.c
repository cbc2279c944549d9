/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/quiet.h"
#include "mpi/handle.h"
#include "mpi/object/world.h"

static uint32_t lock;

bool vftr_quiet_begin(struct quiet *q)
{
	if (!vftr_world_is_up() || !spin_try_lock(&lock))
		return false;
	PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &q->of_world);
	PMPI_Comm_get_errhandler(MPI_COMM_SELF, &q->of_self);
	PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	return true;
}

void vftr_quiet_end(struct quiet *q)
{
	PMPI_Comm_set_errhandler(MPI_COMM_WORLD, q->of_world);
	PMPI_Comm_set_errhandler(MPI_COMM_SELF, q->of_self);
	PMPI_Errhandler_free(&q->of_world);
	PMPI_Errhandler_free(&q->of_self);
	spin_unlock(&lock);
}
