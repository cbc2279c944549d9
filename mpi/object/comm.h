/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicators of this process: handle -> number, identity, tickets.
 *
 * The identity of a communicator is equal on all its members without a
 * message. Making one is collective, so all members of its parent have made the
 * same ones from it in the same order: the identity is a hash of the parent's,
 * of how many were made from it before, of how this one was made, and of the
 * world ranks of its members in order. Where only the new members take part, or
 * where there is no common parent, the earlier ones of the same members and
 * kind are counted instead. The two sides of what MPI_Comm_spawn and
 * MPI_Comm_accept make cannot agree: they do not know each other.
 *
 * Looking up a handle that the thread has used lately costs a compare. MPI uses handles
 * again: a generation, which is raised whenever a communicator is made or freed, keeps a new
 * communicator from being taken for the old one.
 */
#ifndef VFTR_MPI_OBJECT_COMM_H
#define VFTR_MPI_OBJECT_COMM_H

#include "mpi/call.h"
#include "mpi/handle.h"
#include "shm/atomic.h"
#include "shm/wire.h"

struct comm_members;

/* Neighbours in a topology, in the order of the neighbourhood collectives. */
struct comm_neighbours {
	bool known; /* MPI was asked */
	uint32_t in, out;
	uint64_t missing; /* bit i: neighbour i, of both directions, is MPI_PROC_NULL */
};

struct mpi_comm {
	MPI_Comm handle;
	uint32_t number; /* for records; 0: no room for more */
	uint32_t rank, size;
	uint32_t remote_size; /* 0: an intracommunicator */
	uint64_t id;
	uint64_t port;		     /* as in struct wire_comm */
	uint32_t posted;	     /* receives so far */
	uint32_t collectives;	     /* collective calls so far */
	uint32_t partitioned_posted; /* Precv_init so far */
	uint32_t *sent; /* sends so far, by destination (comm_peers()); then Psend_init, the same */
	uint32_t references; /* persistent requests, matched messages, MPI_Comm_idup: not reused
				before they are gone */
	uint32_t made;	     /* communicators made from it */
	uint32_t parent;     /* number of the one it was made from, or 0 */
	uint32_t defined;    /* the agent knows it */
	enum wire_comm_kind kind;
	struct comm_members *members; /* shared with its duplicates */
	struct comm_neighbours neighbours;
	struct mpi_comm *next;
};

/*
 * Never NULL: a communicator whose making was not seen is registered now, as
 * WIRE_COMM_UNKNOWN, and MPI_COMM_NULL or a bad handle gets one with number 0
 * and no peers. The agent learns of a communicator when it is first looked for.
 * Valid until the communicator is freed and `references` is 0.
 */
static inline struct mpi_comm *vftr_comm_find(MPI_Comm handle);

/* A handle that a thread has looked up, and the generation in which comm was its communicator. */
struct comm_seen {
	uint64_t key, generation;
	struct mpi_comm *comm;
};

/* The one of this thread's last lookup. */
extern __thread const struct comm_seen *vftr_comm_last
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
extern uint64_t vftr_comm_generation __attribute__((visibility("hidden")));

struct mpi_comm *vftr_comm_look_up(MPI_Comm handle);

static inline struct mpi_comm *vftr_comm_find(MPI_Comm handle)
{
	const struct comm_seen *s = vftr_comm_last;

	/* pairs with put() and take_out(): a generation that is still the same is no stale one */
	if (__builtin_expect(s->key == HANDLE_KEY(handle) &&
				     s->generation == load_acquire(&vftr_comm_generation),
		    1))
		return s->comm;
	return vftr_comm_look_up(handle);
}

/* Ranks that messages on it can have. */
static inline uint32_t comm_peers(const struct mpi_comm *c)
{
	return c->remote_size ? c->remote_size : c->size;
}

/*
 * World ranks are known from here on (MPI_Init); registers the predefined ones.
 * Harmless again, and before MPI_Init (sessions).
 */
void vftr_comm_start(void);

/* The identity of our MPI_COMM_WORLD; of the pset mpi://WORLD where there is none. */
uint64_t vftr_world_id(void);

/*
 * The communicator `handle` was made in this way from `parent` (MPI_COMM_NULL: from none).
 * `more` tells it from others of the same parent and kind, or is 0; of an ACCEPT it is the port, or
 * 0. If handle is MPI_COMM_NULL, this process is no member, and the communicator is only counted.
 */
void vftr_comm_made(MPI_Comm handle, enum wire_comm_kind kind, MPI_Comm parent, uint64_t more);

/*
 * The same in two steps, for MPI_Comm_idup: the identity is settled by the order of
 * the calls, the handle is good after the completion. from: the parent, whose handle may be freed.
 */
uint64_t vftr_comm_identity(MPI_Comm parent, enum wire_comm_kind kind, uint64_t more);
void vftr_comm_made_as(
	MPI_Comm handle, enum wire_comm_kind kind, const struct mpi_comm *from, uint64_t id);

/* True if the handle is that of a communicator of this kind. */
bool vftr_comm_is(MPI_Comm handle, enum wire_comm_kind kind);

/* Has the agent know the communicator with this handle if ranks of two jobs are in it. */
void vftr_comm_tell_joint(MPI_Comm handle);

/* The number of the communicator with this handle; MESSAGE_COMM_NONE: it is not known. */
uint32_t vftr_comm_number(MPI_Comm handle);

/*
 * The communicator with this number has ended; MPI may have given its handle to
 * another one already.
 */
void vftr_comm_freed(MPI_Comm handle, uint32_t number);

/* Neighbours of this process in c, which has a number; asks MPI the first time. */
const struct comm_neighbours *vftr_comm_neighbours(struct mpi_comm *c);

/* A ticket: a plain increment unless several threads may take one. */
static inline uint32_t take_ticket(uint32_t *counter)
{
	uint32_t n;

	if (vftr_mpi_multiple)
		return add_relaxed_u32(counter, 1);
	n = *counter;
	*counter = n + 1;
	return n;
}

/* Hashes a text for an identity; numbers: identity_mix(). */
uint64_t vftr_mix_text(uint64_t hash, const char *text, size_t length);

#endif
