/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs on the application's threads, around each MPI call. The guard against
 * counting an MPI library's calls of itself is the stack address of the
 * outermost call and not a depth, so that an error handler that leaves a call
 * by longjmp or an exception does not end the recording: the next call made
 * from as far up the stack is not taken for an inner one.
 */
#include <stddef.h>
#include "libhook/emit.h"
#include "mpi/call.h"
#include "shm/record.h"

_Static_assert(RECORD_ID_MPI + VFTR_MPI_N <= RECORD_ID_REGION, "more MPI functions than ids");

static __thread const char *outer_call __attribute__((tls_model("initial-exec")));

bool vftr_mpi_enter(enum mpi_id id)
{
	const char *here = __builtin_frame_address(0);

	if (outer_call && here < outer_call)
		return false;
	outer_call = here;
	vftr_enter_id(RECORD_ID_MPI + id);
	return true;
}

void vftr_mpi_exit(bool outermost, enum mpi_id id)
{
	if (!outermost)
		return;
	if (id == VFTR_MPI_INIT || id == VFTR_MPI_INIT_THREAD)
		vftr_mpi_world();
	vftr_exit_id(RECORD_ID_MPI + id);
	outer_call = NULL;
}
