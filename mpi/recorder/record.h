/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of shm/message.h, stored in the calling thread's ring. */
#ifndef VFTR_MPI_RECORDER_RECORD_H
#define VFTR_MPI_RECORDER_RECORD_H

#include "libhook/emit.h"
#include "mpi/object/comm.h"
#include "mpi/recorder/request.h"
#include "shm/message.h"

/* SEND, RECV or POST: one message between this rank and `peer` of c. */
static inline void record_message(enum record_id kind, const struct mpi_comm *c, uint32_t peer,
	uint32_t tag, uint32_t ticket, uint32_t type, uint32_t request, uint32_t flags,
	uint64_t bytes)
{
	vftr_emit_4(message_head(kind, tag), message_pair(ticket, peer),
		message_subject(c->number, type, request), message_last(flags, bytes));
}

/* The thread is about to wait for a message: what it waits for is shown to viewers meanwhile. */
static inline void begin_to_receive(const struct mpi_call *k, int tag)
{
	const uint32_t flags = (k->source == MPI_ANY_SOURCE ? MESSAGE_ANY_SOURCE : 0) |
			       (tag == MPI_ANY_TAG ? MESSAGE_ANY_TAG : 0);

	vftr_receive_begin(message_receive(flags, k->on->number),
		message_pair((uint32_t)k->source, (uint32_t)tag));
}

static inline void record_done(
	uint32_t request, uint32_t source, uint32_t tag, uint32_t flags, uint64_t bytes)
{
	vftr_emit_3(message_head(RECORD_DONE, tag), message_pair(request, source),
		message_last(flags, bytes));
}

/* COMPLETE: the request is done, with the values it was posted with. */
static inline void record_complete(uint32_t request)
{
	vftr_emit_1(message_head(RECORD_COMPLETE, request));
}

/* The same for n requests: `first` and the n - 1 numbers after it. */
static inline void record_complete_range(uint32_t first, uint32_t n)
{
	if (n > 1)
		vftr_emit((const uint64_t[EMIT_WORDS]){
			message_head(RECORD_COMPLETE_RANGE, first), MESSAGE_MARK | n});
	else if (n)
		record_complete(first);
}

static inline void record_collective(uint32_t function, const struct mpi_comm *c, uint32_t root,
	uint32_t ticket, uint32_t type, uint32_t request, uint32_t sends, uint32_t receives,
	uint64_t bytes_sent, uint64_t bytes_received)
{
	vftr_emit_6(message_head(RECORD_COLLECTIVE, function), message_pair(ticket, root),
		message_subject(c->number, type, request), message_pair(sends, receives),
		bytes_sent, MESSAGE_MARK | bytes_received);
}

/*
 * Records a call that makes an object for all members of k->comm. They all make it, after equally
 * many collective calls on k->comm. Begin: before the call; has_request: gives k->request_number a
 * number. End: after the call, which may have failed.
 */
void vftr_meeting_begin(struct mpi_call *k, bool has_request);
void vftr_meeting_end(struct mpi_call *k);

/* True for an error that MPI finds in the arguments of a call, before it has said a word to other
 * ranks. */
bool vftr_call_refused(int rc);

/*
 * A call has failed that all members have a ticket for. If MPI has refused it for its arguments on
 * this rank alone the others have not made it, and their next call has this ticket: it is given
 * back, unless another thread has a later one.
 */
void vftr_meeting_failed(uint32_t *tickets, uint32_t ticket, int rc);

static inline void record_partition(uint32_t request, uint32_t first, uint32_t n)
{
	const uint64_t w[EMIT_WORDS] = {
		message_head(RECORD_PARTITION, 0), message_pair(request, first), MESSAGE_MARK | n};

	vftr_emit(w);
}

/* START: behind the record of a start, of which this is the number; 0: not known. */
static inline void record_start(uint32_t request, uint32_t number)
{
	vftr_emit((const uint64_t[EMIT_WORDS]){
		message_head(RECORD_START, request), MESSAGE_MARK | number});
}

/* FAILED: the records of the present frame do not count. */
static inline void record_failed(int rc)
{
	uint64_t w[EMIT_WORDS] = {0, MESSAGE_MARK};
	int class = 0;

	PMPI_Error_class(rc, &class);
	w[0] = message_head(RECORD_FAILED, (uint32_t) class);
	vftr_emit(w);
}

#endif
