/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make datatypes known, and end them. */
#include "mpi/object/type.h"
#include "mpi/recorder/recorders.h"

void vftr_begin_type_new(struct mpi_call *k)
{
	(void)k;
}

void vftr_end_type_new(struct mpi_call *k)
{
	if (k->rc == MPI_SUCCESS)
		vftr_type_learn(call_type(k, k->types, 0));
}

/* Runs while the type is valid: afterwards MPI may give its handle to another type. */
void vftr_begin_type_free(struct mpi_call *k)
{
	k->type = k->types ? call_type(k, k->types, 0) : MPI_DATATYPE_NULL;
	k->own = vftr_type_forget(k->type, &k->number) ? k : NULL;
}

void vftr_end_type_free(struct mpi_call *k)
{
	if (k->own && k->rc != MPI_SUCCESS)
		vftr_type_back(k->type, k->number);
}
