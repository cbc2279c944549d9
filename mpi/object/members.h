/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is in a communicator: the world ranks of its members as runs, and a hash
 * of them that is the same on both sides of an intercommunicator.
 */
#ifndef VFTR_MPI_OBJECT_MEMBERS_H
#define VFTR_MPI_OBJECT_MEMBERS_H

#include "mpi/object/comm.h"

struct comm_members {
	uint32_t references;
	uint32_t n_runs;
	uint64_t hash;	       /* of the local and the remote group */
	struct wire_run run[]; /* of the remote group first, if there is one */
};

/* Asks MPI about c->handle, which must be good; c->remote_size is set. from: what it was made from,
 * whose handle is good, or NULL. NULL: no memory. */
struct comm_members *vftr_members_new(const struct mpi_comm *c, const struct mpi_comm *from);
struct comm_members *vftr_members_share(struct comm_members *m);
void vftr_members_drop(struct comm_members *m); /* NULL is ignored */

/* Tells the agent of c and its members. */
void vftr_members_define(const struct mpi_comm *c);

/* True if some are members of another job that the agent may know; m may be NULL. */
bool vftr_members_have_others(const struct comm_members *m);
/* True if nothing is known of some; m may be NULL. */
bool vftr_members_have_unknown(const struct comm_members *m);

/*
 * Notes the other side of an intercommunicator between two jobs, which has this number. Its ranks
 * are found in communicators that have no parent with ranks of both jobs. The first ORIGINS_MAX of
 * a process are kept, until vftr_members_forget_origins(), before MPI_Finalize.
 */
#define ORIGINS_MAX 16
void vftr_members_keep_origin(const struct mpi_comm *c, uint32_t number);
void vftr_members_forget_origins(void);
/*
 * The members of an intercommunicator, c->members of which are those of this job, all in the own
 * group of one noted before, and further ones, all in its other group: so that each member has
 * noted it, too. In *origin and *number the first one of these, whose handle may have been freed.
 * NULL: there is none.
 */
struct comm_members *vftr_members_of_jobs(
	const struct mpi_comm *c, MPI_Comm *origin, uint32_t *number);

#endif
