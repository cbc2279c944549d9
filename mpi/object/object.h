/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The windows and files of this process: handle -> number, and the counts of their
 * recorders. An object is known if it was made while we recorded; calls with other objects
 * are not recorded. Locked only where several threads may be inside of MPI.
 */
#ifndef VFTR_MPI_OBJECT_OBJECT_H
#define VFTR_MPI_OBJECT_OBJECT_H

#include "mpi/call.h"
#include "shm/wire.h"

struct mpi_object {
	uint64_t key;	 /* HANDLE_KEY() */
	uint32_t number; /* for records, from 1, never reused */
	uint32_t ranks;	 /* of the communicator it was made on */

	/* of a window: calls so far; a number of theirs names an epoch */
	uint32_t fences, starts, posts, locks;
	uint32_t started;    /* the MPI_Win_start that is open, 0: none */
	uint32_t locked_all; /* the MPI_Win_lock_all that is open, 0: none */
	uint32_t *locked;    /* by target, the MPI_Win_lock that is open, 0: none; or NULL */
	uint64_t started_for, posted_for; /* targets.h */

	uint64_t offset; /* of a file: of the split collective operation under way */

	struct mpi_object *next;
};

struct mpi_objects {
	enum wire_object_kind kind;
	uint32_t lock;
	uint32_t made;
	struct mpi_object *bucket[64];
	struct mpi_object *unused;
};

/*
 * An object was made on `comm`. Sends it to the agent with its name, which has text_bytes
 * bytes with the NUL (0: no name). Without memory the object stays unknown.
 */
void vftr_object_made(
	struct mpi_objects *all, uint64_t key, MPI_Comm comm, const char *text, size_t text_bytes);
/* NULL: not known. Valid until it is taken, or another one is made with this handle. */
struct mpi_object *vftr_object_find(struct mpi_objects *all, uint64_t key);

/*
 * MPI is about to free the handle, and may hand it out again at once. So the object is taken
 * out before the call; after the call it is gone, or, if the call has failed, put back.
 */
struct mpi_object *vftr_object_take(struct mpi_objects *all, uint64_t key);
void vftr_object_gone(struct mpi_objects *all, struct mpi_object *o);
void vftr_object_back(struct mpi_objects *all, struct mpi_object *o);

/*
 * The text argument of the call with a NUL, at most `room` bytes with it, cut
 * there; without the blanks around it if the caller is Fortran. Returns the
 * bytes, or 0 if there is no text.
 */
size_t vftr_call_text(const struct mpi_call *k, char *text, size_t room);

#endif
