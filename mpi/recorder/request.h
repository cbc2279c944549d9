/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open requests: handle -> what was posted. One hash table per process; a
 * request is put in when it is made and taken out when the user's call has
 * learnt its completion, so open requests cost nothing anywhere else. Locked
 * only where several threads may be inside of MPI.
 *
 * An MPI library may hand out one handle for many requests that were complete
 * at once: these requests are recorded as done when they are made. If a request gets a
 * handle that another one has in the table, the older one is recorded as done.
 */
#ifndef VFTR_MPI_RECORDER_REQUEST_H
#define VFTR_MPI_RECORDER_REQUEST_H

#include "mpi/call.h"
#include "mpi/object/comm.h"
#include "mpi/object/type.h"
#include "shm/look.h"

enum request_kind {
	REQUEST_SEND = 1,
	REQUEST_RECEIVE,
	REQUEST_EXCHANGE, /* the receive of MPI_Isendrecv */
	REQUEST_COLLECTIVE,
	REQUEST_RMA,
	REQUEST_FILE,
	REQUEST_IDUP,	 /* of MPI_Comm_idup: its completion makes the communicator */
	REQUEST_MESSAGE, /* a message matched by Mprobe, which is no request */
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
	bool uncounted;		  /* starts is not sure: a call may have made one and failed */
	uint16_t function;	  /* COLLECTIVE: index in mpi/generate/mpi.tab, for Start */
	uint32_t peer, tag;	  /* as in the records */
	uint32_t flags;		  /* enum message_flag of the records */
	uint32_t ticket;	  /* MESSAGE, partitioned: its ticket */
	uint32_t sends, receives; /* COLLECTIVE */
	uint32_t starts;	  /* COLLECTIVE, partitioned: so far, recorded or not */
	uint64_t bytes, bytes_received;
	struct mpi_comm *comm; /* posted on; the entry in the table holds a reference */
	void *newcomm;	       /* IDUP: address of the new handle */
	uint8_t language;      /* IDUP: the language of that handle */
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
 * Enters r (key unset) under this handle. With MPI_REQUEST_NULL or vftr_request_at_once r is
 * complete already, and is recorded as done, unless it is persistent or of MPI_Comm_idup.
 * Without memory it does nothing.
 */
void vftr_request_put(MPI_Request handle, const struct request *r);
/*
 * The same for a request of which only number, kind and, for a receive, the bytes of its
 * room are needed; UINT64_MAX: its source or tag is a wildcard, or it is of another kind.
 */
void vftr_request_made(MPI_Request handle, uint32_t number, enum request_kind kind, uint64_t bytes);
/*
 * Copies the request of this handle; false: there is none. Requests that are neither
 * persistent nor of MPI_Comm_idup have only number, kind and cancelled. take also removes it,
 * and the caller gets its reference to comm. Of several requests with this handle take finds
 * the one with this number; the newest if number is 0, as the other functions do.
 */
bool vftr_request_get(MPI_Request handle, struct request *r);
bool vftr_request_take(MPI_Request handle, uint32_t number, struct request *r);
/* As take, but a persistent request stays, with number 0: it is idle. */
bool vftr_request_complete(MPI_Request handle, uint32_t number, struct request *r);
/*
 * For a call that has completed all n requests, while vftr_requests_open() and without threads:
 * records those that need no more than a COMPLETE, and sets their handles here to
 * MPI_REQUEST_NULL. Returns the number of the others.
 */
int vftr_requests_complete(MPI_Request *handle, int n, const MPI_Status *status);
/* Writes back the number, starts, uncounted and cancelled of a request from vftr_request_get(). */
void vftr_request_update(const struct request *r);
/* The same for matched messages. */
void vftr_message_put(MPI_Message handle, const struct request *r);
bool vftr_message_take(MPI_Message handle, struct request *r);
/* Finds the handle that MPI uses for requests that are complete at once; MPI is initialized. */
void vftr_request_start(void);
/* That handle. Many sends may have it: they are complete, and not in the table. */
extern MPI_Request vftr_request_at_once __attribute__((visibility("hidden")));

/* Where the table is, for who looks at the process from outside. */
void vftr_request_look(struct mpi_look *look);

/* True if the table has a request. */
bool vftr_requests_open(void);

#endif
