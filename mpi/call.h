/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that every generated wrapper calls, in C and Fortran.
 *
 *	outermost = vftr_mpi_enter(id, return address);
 *	fill struct mpi_call
 *	vftr_begin_CLASS(&k);	mpi/recorder/recorders.h: before the call
 *	PMPI_...
 *	vftr_end_CLASS(&k);	after it
 *	vftr_mpi_exit(outermost, id);
 *
 * An MPI library may call itself by its public names (MPICH's Fortran calls
 * MPI_Send in C, Open MPI's calls PMPI_Send); calls made by its own code inside
 * of a recorded call are not recorded. Calls that the user's code makes there, in a
 * reduction or an attribute callback, are.
 */
#ifndef VFTR_MPI_CALL_H
#define VFTR_MPI_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mpi_id.h"
#include "shm/look.h"
/* these declarations have default visibility, whatever mpi.h sets */
#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

/* Integers of a status in Fortran. */
#ifndef MPI_F_STATUS_SIZE
#define MPI_F_STATUS_SIZE (sizeof(MPI_Status) / sizeof(MPI_Fint))
#endif

/*
 * A call of MPI function `id` begins on this thread; `caller` is an address in the calling code.
 * Returns true if the call is to be recorded; pass the result to vftr_mpi_exit() when the call has
 * returned. Neither function fails, and both keep errno.
 */
bool vftr_mpi_enter(size_t id, const void *caller);
static inline void vftr_mpi_exit(bool outermost, enum mpi_id id);

/* Ends a call that is recorded. */
void vftr_mpi_left(enum mpi_id id);

static inline void vftr_mpi_exit(bool outermost, enum mpi_id id)
{
	if (outermost)
		vftr_mpi_left(id);
}

/* Where the calling thread keeps the stack address of its outermost call. */
const void *vftr_mpi_outer(void) __attribute__((visibility("hidden")));

/* What each call of a thread needs, together in memory. */
struct mpi_open {
	const char *outer;   /* stack address of its outermost call, or NULL */
	size_t scratch;	     /* bytes of mpi/scratch.h that are in use */
	uint32_t user_calls; /* recorded calls that run inside of the outermost one */
};
extern __thread struct mpi_open vftr_mpi_open
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

enum mpi_language { LANGUAGE_C, LANGUAGE_F77, LANGUAGE_F08, LANGUAGE_F08TS };

struct mpi_comm;

/*
 * One call. Only the arguments that the function has, by kinds.tab, are set:
 * numbers and handles as in C, addresses as passed, with contents in the form of
 * the caller's language. Arguments that are not significant, as at other ranks
 * than the root or with MPI_IN_PLACE, may have any value.
 */
struct mpi_call {
	enum mpi_id id; /* of the C function; + 1 for the large-count form */
	uint8_t language;
	bool wide; /* arrays of counts are of MPI_Count, not int */
	int rc;	   /* after the call */
	int peer, source, tag, rtag, root, n;
	MPI_Count count, rcount, tcount;
	MPI_Datatype type, rtype, ttype;
	MPI_Comm comm;
	MPI_Win win;
	MPI_File file;
	MPI_Group group;
	MPI_Request handle;
	MPI_Op op;
	MPI_Offset offset;
	void *sendbuf, *recvbuf;  /* LANGUAGE_F08TS: descriptors */
	void *counts, *rcounts;	  /* int[] or MPI_Count[] */
	void *types, *rtypes;	  /* handles */
	void *newcomm, *comms;	  /* a handle: communicator made, freed */
	void *wins, *files;	  /* the same */
	void *sessions;		  /* the same */
	void *request, *requests; /* a handle, n handles */
	void *message;		  /* a handle */
	void *status;		  /* is passed to MPI: a recorder may put another one here */
	void *flag, *index, *outcount, *indices;
	const char *text;
	size_t text_length; /* SIZE_MAX: up to the NUL */

	/* owned by the recorder, from begin to end */
	struct mpi_comm *on; /* NULL: nothing is recorded */
	void *own;	     /* scratch memory */
	uint64_t number;
	uint32_t ticket, request_number;
	union {
		MPI_Status c;
		MPI_Fint fortran[MPI_F_STATUS_SIZE];
	} own_status;
};

/*
 * True if records of communication are wanted now: vftr_messages_wanted(), and
 * MPI_Pcontrol has not switched them off.
 */
bool vftr_mpi_recording(void);
extern uint32_t vftr_mpi_level_off __attribute__((visibility("hidden")));
/* MPI_Pcontrol(level) was called: 0 switches them off, 1 and 2 on, others change nothing. */
void vftr_mpi_pcontrol(int level);

/* After MPI's initialization: makes all tables ready and sends the agent our rank. Later calls do
 * nothing. */
void vftr_mpi_started(void);

/* True if several threads may be inside of MPI at once. */
extern bool vftr_mpi_multiple __attribute__((visibility("hidden")));

/* Read an argument at an address, in the form of the caller's language. */
static inline MPI_Request call_request(const struct mpi_call *k, const void *at, int i)
{
	return k->language == LANGUAGE_C ? ((const MPI_Request *)at)[i]
					 : PMPI_Request_f2c(((const MPI_Fint *)at)[i]);
}

static inline MPI_Datatype call_type(const struct mpi_call *k, const void *types, int i)
{
	return k->language == LANGUAGE_C ? ((const MPI_Datatype *)types)[i]
					 : PMPI_Type_f2c(((const MPI_Fint *)types)[i]);
}

static inline MPI_Comm call_comm(const struct mpi_call *k, const void *at)
{
	return k->language == LANGUAGE_C ? *(const MPI_Comm *)at
					 : PMPI_Comm_f2c(*(const MPI_Fint *)at);
}

static inline MPI_Count call_count(const struct mpi_call *k, const void *counts, int i)
{
	return k->wide ? ((const MPI_Count *)counts)[i] : ((const int *)counts)[i];
}

static inline int call_int(const void *at)
{
	return *(const int *)at;
}

/* The number of an array's first element: 0 in C, 1 in Fortran, but see fortran/sentinel.c. */
int vftr_call_first_position(const struct mpi_call *k);

static inline int call_position(const struct mpi_call *k, const void *at, int i)
{
	int n = ((const int *)at)[i];

	return n == MPI_UNDEFINED || k->language == LANGUAGE_C ? n
							       : n - vftr_call_first_position(k);
}

/* True if the buffer is MPI_IN_PLACE, if the status is MPI_STATUS(ES)_IGNORE, both as in the
 * caller's language. */
bool vftr_call_in_place(const struct mpi_call *k, const void *buffer);
bool vftr_call_status_ignored(const struct mpi_call *k);

#endif
