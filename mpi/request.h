/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open requests: handle -> what was posted. One hash table per process; a
 * request is put in when it is made and taken out when the user's call has
 * learnt its completion, so open requests cost nothing anywhere else. Locked
 * only where several threads may be inside of MPI.
 *
 * An MPI library may hand out one handle for many requests that were complete
 * at once: those are recorded as done when they are made. When another handle
 * comes that is there already, the older request is recorded as done.
 */
#ifndef VFTR_MPI_REQUEST_H
#define VFTR_MPI_REQUEST_H

#include "mpi/call.h"
#include "mpi/comm.h"
#include "mpi/type.h"

enum request_kind {
	REQUEST_SEND = 1,
	REQUEST_RECEIVE,
	REQUEST_EXCHANGE, /* the receive of MPI_Isendrecv */
	REQUEST_COLLECTIVE,
	REQUEST_RMA,
	REQUEST_FILE,
	REQUEST_IDUP,	 /* of MPI_Comm_idup: the communicator is made by its completion */
	REQUEST_MESSAGE, /* not a request: a message matched by Mprobe */
};

struct request {
	uint64_t key;	 /* of the table: the handle and its kind of thing */
	uint32_t number; /* of the operation under way, as in the records; 0: none */
	uint8_t kind;	 /* enum request_kind */
	uint8_t type;	 /* of the elements, as in the records */
	bool persistent;
	bool cancelled; /* MPI_Cancel was called: the completion says whether it worked */
	bool exact;	/* a receive without wildcards, and bytes is its room */
	bool partitioned;
	uint16_t function;	  /* COLLECTIVE: index in mpi/mpi.tab, for Start */
	uint32_t peer, tag;	  /* as in the records */
	uint32_t flags;		  /* enum message_flag of the records */
	uint32_t ticket;	  /* MESSAGE, partitioned: its ticket */
	uint32_t sends, receives; /* COLLECTIVE */
	uint64_t bytes, bytes_received;
	struct mpi_comm *comm; /* posted on; the entry in the table counts in its references */
	void *newcomm;	       /* IDUP: where the handle will be ... */
	uint8_t language;      /* ... in this language */
};

/* Numbers for new operations, from 1. */
extern uint32_t vftr_request_last_number __attribute__((visibility("hidden")));
static inline uint32_t vftr_request_number(void)
{
	uint32_t n;

	do {
		n = (take_ticket(&vftr_request_last_number) + 1) & 0x7fffffff;
	} while (!n);
	return n;
}

/*
 * r (key unset) becomes known by this handle; with MPI_REQUEST_NULL it is over
 * already. A full memory is ignored.
 */
void vftr_request_put(MPI_Request handle, const struct request *r);
/*
 * The same for what needs no more than a number, a kind, and for a receive the
 * bytes it has room for; UINT64_MAX: its source or tag is a wildcard, or another kind.
 */
void vftr_request_made(MPI_Request handle, uint32_t number, enum request_kind kind, uint64_t bytes);
/*
 * Copies what is known by this handle; false: nothing. Of requests that are neither
 * persistent nor of MPI_Comm_idup only the number, the kind and cancelled are kept. take: and
 * forgets it, and its reference to comm is the caller's; of several it is the one with
 * this number, or the newest if number is 0, as is what the others give.
 */
bool vftr_request_get(MPI_Request handle, struct request *r);
bool vftr_request_take(MPI_Request handle, uint32_t number, struct request *r);
/* As take, but a persistent request stays, with number 0: it is idle. */
bool vftr_request_complete(MPI_Request handle, uint32_t number, struct request *r);
/*
 * The calling thread's call has completed all of these, and there are no threads:
 * says so of those of which that is all to say, which become MPI_REQUEST_NULL here.
 * Returns how many others may have more to say.
 */
int vftr_requests_complete(MPI_Request *handle, int n, const MPI_Status *status);
/* Writes back the number and cancelled of what vftr_request_get() gave. */
void vftr_request_update(const struct request *r);
/* The same for matched messages. */
void vftr_message_put(MPI_Message handle, const struct request *r);
bool vftr_message_take(MPI_Message handle, struct request *r);
/* Finds out which handle stands for requests that were complete at once; MPI is initialized. */
void vftr_request_start(void);
/* Many sends may have this one handle: they are over, and in no table. */
extern MPI_Request vftr_request_at_once __attribute__((visibility("hidden")));

/* Whether anything is known at all. */
bool vftr_requests_open(void);

#endif
