/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes of datatypes by handle. Predefined types are known from the start,
 * derived ones from their commit to their end, so that MPI is never asked
 * about a handle that may be bad: that would call the user's error handler.
 */
#ifndef VFTR_MPI_OBJECT_TYPE_H
#define VFTR_MPI_OBJECT_TYPE_H

#include <stdbool.h>
#include "mpi/call.h"
#include "mpi/handle.h"

struct type {
	uint64_t key; /* 0: free */
	uint64_t size;
	uint32_t index; /* 0: derived */
};

/* The predefined type that this thread has looked up last, or one that is none. */
extern __thread const struct type *vftr_type_last
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* vftr_type_size(), slowly: for a type other than the last one. */
uint64_t vftr_type_look_up(MPI_Datatype type, uint32_t *index);

/*
 * Size in bytes of one element, and *index for the records (mpi/generate/types.tab).
 * 0 for types that are null or bad. MPI is asked about one that is not known.
 */
static inline uint64_t vftr_type_size(MPI_Datatype type, uint32_t *index)
{
	const struct type *last = vftr_type_last;

	if (__builtin_expect(last->key != HANDLE_KEY(type), 0))
		return vftr_type_look_up(type, index);
	*index = last->index;
	return last->size;
}

/* MPI has just accepted this type: it is good, and known from now on. */
void vftr_type_learn(MPI_Datatype type);
/* The handle is about to be given back to MPI. True: it was known, with this size. */
bool vftr_type_forget(MPI_Datatype type, uint64_t *size);
/* MPI has not freed the type: it is known again, with this size. */
void vftr_type_back(MPI_Datatype type, uint64_t size);

/* Fills the table with the predefined types; MPI must be initialized. */
void vftr_type_start(void);

#endif
