/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded, says how often whoever it is asks MPI for this and that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int asked;

int PMPI_Comm_group(MPI_Comm comm, MPI_Group *group)
{
	int (*next)(MPI_Comm, MPI_Group *);

	*(void **)&next = dlsym(RTLD_NEXT, "PMPI_Comm_group");
	asked++;
	return next(comm, group);
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
	int (*next)(MPI_Datatype, MPI_Count *);

	*(void **)&next = dlsym(RTLD_NEXT, "PMPI_Type_size_x");
	asked++;
	return next(type, size);
}

__attribute__((destructor)) static void say(void)
{
	fprintf(stderr, "asked %d times\n", asked);
}
