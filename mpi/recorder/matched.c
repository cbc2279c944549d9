/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matched probes take a message out of the queue: they are what competes with
 * receives, and have their ticket. What receives it later goes by the handle.
 * Where threads may receive at the same time the ticket is taken before the call, and
 * given back, or recorded as failed, if there was no message.
 */
#include "mpi/handle.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"
#include "mpi/recorder/status.h"

static MPI_Message message_of(const struct mpi_call *k)
{
	if (!k->message)
		return MPI_MESSAGE_NULL;
	return k->language == LANGUAGE_C ? *(const MPI_Message *)k->message
					 : PMPI_Message_f2c(*(const MPI_Fint *)k->message);
}

static void begin_probe(struct mpi_call *k)
{
	k->on = NULL;
	if (k->source == MPI_PROC_NULL || !vftr_messages_wanted())
		return;
	k->on = vftr_comm_find(k->comm);
	if (vftr_mpi_multiple)
		k->ticket = take_ticket(&k->on->posted);
	want_status(k);
}

static uint32_t wildcards(const struct mpi_call *k)
{
	return (k->source == MPI_ANY_SOURCE ? MESSAGE_ANY_SOURCE : 0) |
	       (k->tag == MPI_ANY_TAG ? MESSAGE_ANY_TAG : 0);
}

/* Gives the ticket back; if another thread has a later one, records a POST that failed. */
static void not_matched(const struct mpi_call *k)
{
	struct mpi_comm *c = k->on;

	if (!vftr_mpi_multiple || claim_u32(&c->posted, k->ticket + 1, k->ticket) ||
		!vftr_mpi_recording())
		return;
	record_message(RECORD_POST, c, 0, 0, k->ticket, 0, vftr_request_number(),
		MESSAGE_ANY_SOURCE | MESSAGE_ANY_TAG, 0);
	record_failed(k->rc);
}

static void matched(const struct mpi_call *k)
{
	struct mpi_comm *c = k->on;
	uint32_t number = vftr_request_number(), flags;
	uint32_t ticket = vftr_mpi_multiple ? k->ticket : take_ticket(&c->posted);
	MPI_Status room;
	const MPI_Status *s = status_at(k, 0, &room);
	struct request r = {.number = number, .kind = REQUEST_MESSAGE, .comm = c, .ticket = ticket};

	if (!vftr_mpi_recording())
		return;
	flags = MESSAGE_MATCHED | wildcards(k);
	r.peer = (uint32_t)s->MPI_SOURCE;
	r.tag = (uint32_t)s->MPI_TAG;
	r.flags = flags;
	r.bytes = status_count(s);
	record_message(RECORD_POST, c, r.peer, r.tag, ticket, 0, number, flags, r.bytes);
	add_relaxed_u32(&c->references, 1);
	vftr_message_put(message_of(k), &r);
}

void vftr_begin_mprobe(struct mpi_call *k)
{
	begin_probe(k);
	if (k->on && vftr_mpi_recording())
		begin_to_receive(k, k->tag);
}

void vftr_end_mprobe(struct mpi_call *k)
{
	if (!k->on)
		return;
	vftr_receive_end();
	if (k->rc == MPI_SUCCESS)
		matched(k);
	else
		not_matched(k);
}

void vftr_begin_improbe(struct mpi_call *k)
{
	begin_probe(k);
}

void vftr_end_improbe(struct mpi_call *k)
{
	if (!k->on)
		return;
	if (k->rc == MPI_SUCCESS && call_int(k->flag))
		matched(k);
	else
		not_matched(k);
}

/* The handle is gone after the call. */
static void begin_matched(struct mpi_call *k)
{
	struct request r;
	MPI_Message handle = message_of(k);

	k->on = NULL;
	k->request_number = 0;
	if (!vftr_message_take(handle, &r))
		return;
	k->on = r.comm;
	k->request_number = r.number;
	k->ticket = r.ticket;
	k->peer = (int)r.peer;
	k->rtag = (int)r.tag;
	k->root = (int)r.flags;
	k->number = r.bytes;
}

/* As of MPI_Imrecv: what follows is a DONE. */
static void record_post(const struct mpi_call *k)
{
	uint32_t type;

	vftr_type_size(k->type, &type);
	record_message(RECORD_POST, k->on, (uint32_t)k->peer, (uint32_t)k->rtag, k->ticket, type,
		k->request_number, (uint32_t)k->root, k->number);
	add_relaxed_u32(&k->on->references, (uint32_t)-1);
}

/* True if the call that has failed took the message all the same. MPICH leaves the handle as it
 * was. */
static bool is_taken(const struct mpi_call *k)
{
	int class = 0;

	PMPI_Error_class(k->rc, &class);
	return class == MPI_ERR_TRUNCATE || message_of(k) == MPI_MESSAGE_NULL;
}

static void failed(const struct mpi_call *k)
{
	const struct request r = {.number = k->request_number,
		.kind = REQUEST_MESSAGE,
		.comm = k->on,
		.ticket = k->ticket,
		.peer = (uint32_t)k->peer,
		.tag = (uint32_t)k->rtag,
		.flags = (uint32_t)k->root,
		.bytes = k->number};

	if (!is_taken(k)) {
		vftr_message_put(message_of(k), &r);
		return;
	}
	record_post(k);
	record_done(k->request_number, 0, 0, MESSAGE_UNKNOWN, 0);
}

void vftr_begin_mrecv(struct mpi_call *k)
{
	begin_matched(k);
	if (k->on)
		want_status(k);
}

void vftr_end_mrecv(struct mpi_call *k)
{
	uint32_t type;
	MPI_Status room;

	if (!k->on)
		return;
	if (k->rc != MPI_SUCCESS) {
		failed(k);
		return;
	}
	vftr_type_size(k->type, &type);
	record_message(RECORD_RECV, k->on, (uint32_t)k->peer, (uint32_t)k->rtag, k->ticket, type,
		k->request_number, (uint32_t)k->root, status_count(status_at(k, 0, &room)));
	add_relaxed_u32(&k->on->references, (uint32_t)-1);
}

void vftr_begin_imrecv(struct mpi_call *k)
{
	begin_matched(k);
}

void vftr_end_imrecv(struct mpi_call *k)
{
	const struct request r = {.number = k->request_number, .kind = REQUEST_RECEIVE};

	if (!k->on)
		return;
	if (k->rc != MPI_SUCCESS) {
		failed(k);
		return;
	}
	record_post(k);
	vftr_request_put(call_request(k, k->request, 0), &r);
}
