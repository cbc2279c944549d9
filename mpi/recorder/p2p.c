/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking and non-blocking messages. A send is recorded before the call, so
 * that no message is ever received whose send is unknown; a blocking receive
 * after it, when the source, the tag and the length are known.
 */
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"
#include "mpi/recorder/status.h"

/*
 * The communicator of a send, and its ticket, which it has whether it is
 * recorded or not. NULL: nothing to record, or an argument that MPI is about
 * to refuse.
 */
static struct mpi_comm *sends_on(const struct mpi_call *k, uint32_t *ticket)
{
	struct mpi_comm *c;

	if (k->peer < 0 || k->count < 0 || k->tag < 0 || !vftr_messages_wanted())
		return NULL;
	c = vftr_comm_find(k->comm);
	if ((uint32_t)k->peer >= comm_peers(c))
		return NULL;
	*ticket = take_ticket(&c->sent[k->peer]);
	return load_relaxed(&vftr_mpi_level_off) ? NULL : c;
}

/* The same for a receive; its ticket goes into the call. */
static struct mpi_comm *receives_on(struct mpi_call *k, int tag)
{
	struct mpi_comm *c;

	if ((k->source < 0 && k->source != MPI_ANY_SOURCE) || (tag < 0 && tag != MPI_ANY_TAG) ||
		!vftr_messages_wanted())
		return NULL;
	c = vftr_comm_find(k->comm);
	if (k->source >= 0 && (uint32_t)k->source >= comm_peers(c))
		return NULL;
	k->ticket = take_ticket(&c->posted);
	return load_relaxed(&vftr_mpi_level_off) ? NULL : c;
}

static void record_send(
	const struct mpi_call *k, struct mpi_comm *c, uint32_t ticket, uint32_t request)
{
	uint32_t type;
	uint64_t bytes = (uint64_t)k->count * vftr_type_size(k->type, &type);

	record_message(RECORD_SEND, c, (uint32_t)k->peer, (uint32_t)k->tag, ticket, type, request,
		0, bytes);
}

static uint32_t wildcards(const struct mpi_call *k, int tag)
{
	return (k->source == MPI_ANY_SOURCE ? MESSAGE_ANY_SOURCE : 0) |
	       (tag == MPI_ANY_TAG ? MESSAGE_ANY_TAG : 0);
}

/* Leaves in number what vftr_request_made() wants to know. */
static void record_post(
	struct mpi_call *k, struct mpi_comm *c, int tag, MPI_Count count, MPI_Datatype datatype)
{
	uint32_t type, flags = wildcards(k, tag);
	uint64_t bytes = vftr_type_size(datatype, &type) * (uint64_t)(count > 0 ? count : 0);

	k->number = flags ? UINT64_MAX : bytes;
	record_message(RECORD_POST, c, flags & MESSAGE_ANY_SOURCE ? 0 : (uint32_t)k->source,
		flags & MESSAGE_ANY_TAG ? 0 : (uint32_t)tag, k->ticket, type, k->request_number,
		flags, bytes);
}

/* A blocking receive; what it got is in the status. */
static void record_receive(const struct mpi_call *k, int tag, MPI_Datatype datatype)
{
	struct mpi_comm *c = k->on;
	MPI_Status room;
	const MPI_Status *s;
	uint32_t type;

	vftr_receive_end();
	vftr_type_size(datatype, &type);
	if (k->rc != MPI_SUCCESS) {
		record_message(RECORD_RECV, c, k->source < 0 ? 0 : (uint32_t)k->source,
			tag < 0 ? 0 : (uint32_t)tag, k->ticket, type, 0, wildcards(k, tag), 0);
		record_failed(k->rc);
		return;
	}
	s = status_at(k, 0, &room);
	record_message(RECORD_RECV, c, (uint32_t)s->MPI_SOURCE, (uint32_t)s->MPI_TAG, k->ticket,
		type, 0, wildcards(k, tag), status_count(s));
}

static void begin_receive(struct mpi_call *k, int tag)
{
	k->on = receives_on(k, tag);
	if (!k->on)
		return;
	want_status(k);
	begin_to_receive(k, tag);
}

/* After a call that makes a request: enters it into the table, unless the call failed. */
static void made_request(const struct mpi_call *k, enum request_kind kind)
{
	if (!k->on)
		return;
	if (k->rc != MPI_SUCCESS)
		record_failed(k->rc);
	else
		vftr_request_made(
			call_request(k, k->request, 0), k->request_number, kind, k->number);
}

void vftr_begin_send(struct mpi_call *k)
{
	k->on = sends_on(k, &k->ticket);
	if (k->on)
		record_send(k, k->on, k->ticket, 0);
}

void vftr_end_send(struct mpi_call *k)
{
	if (k->on && k->rc != MPI_SUCCESS)
		record_failed(k->rc);
}

void vftr_begin_isend(struct mpi_call *k)
{
	k->on = sends_on(k, &k->ticket);
	if (!k->on)
		return;
	k->request_number = vftr_request_number();
	k->number = UINT64_MAX;
	record_send(k, k->on, k->ticket, k->request_number);
}

void vftr_end_isend(struct mpi_call *k)
{
	made_request(k, REQUEST_SEND);
}

void vftr_begin_recv(struct mpi_call *k)
{
	begin_receive(k, k->tag);
}

void vftr_end_recv(struct mpi_call *k)
{
	if (k->on)
		record_receive(k, k->tag, k->type);
}

/* It takes nothing, so nothing is recorded of it. */
void vftr_begin_probe(struct mpi_call *k)
{
	k->on = k->source != MPI_PROC_NULL && vftr_mpi_recording() ? vftr_comm_find(k->comm) : NULL;
	if (k->on)
		begin_to_receive(k, k->tag);
}

void vftr_end_probe(struct mpi_call *k)
{
	if (k->on)
		vftr_receive_end();
}

void vftr_begin_irecv(struct mpi_call *k)
{
	k->on = receives_on(k, k->tag);
	if (!k->on)
		return;
	k->request_number = vftr_request_number();
	record_post(k, k->on, k->tag, k->count, k->type);
}

void vftr_end_irecv(struct mpi_call *k)
{
	made_request(k, REQUEST_RECEIVE);
}

/* Either half may go nowhere, to or from MPI_PROC_NULL. */
void vftr_begin_sendrecv(struct mpi_call *k)
{
	uint32_t ticket;
	struct mpi_comm *c = sends_on(k, &ticket);

	k->number = c != NULL;
	if (c)
		record_send(k, c, ticket, 0);
	begin_receive(k, k->rtag);
}

/*
 * As by a message that is too long, after the send: what was recorded of the send holds. Of the
 * receive it is known that it was posted, and that it is over.
 */
static void half_failed(struct mpi_call *k)
{
	vftr_receive_end();
	k->request_number = vftr_request_number();
	record_post(k, k->on, k->rtag, k->rcount, k->rtype);
	record_done(k->request_number, 0, 0, MESSAGE_UNKNOWN, 0);
}

void vftr_end_sendrecv(struct mpi_call *k)
{
	if (k->on && k->rc != MPI_SUCCESS && k->number && !vftr_call_refused(k->rc))
		half_failed(k);
	else if (k->on)
		record_receive(k, k->rtag, k->rtype);
	else if (k->number && k->rc != MPI_SUCCESS)
		record_failed(k->rc);
}

void vftr_begin_sendrecv_replace(struct mpi_call *k)
{
	k->rtype = k->type;
	k->rcount = k->count;
	vftr_begin_sendrecv(k);
}

void vftr_end_sendrecv_replace(struct mpi_call *k)
{
	vftr_end_sendrecv(k);
}

/* One request for both halves: the receive's, or, without a receive, the send's. */
void vftr_begin_isendrecv(struct mpi_call *k)
{
	uint32_t send_ticket;
	struct mpi_comm *c = sends_on(k, &send_ticket);

	k->on = receives_on(k, k->rtag);
	k->n = c && !k->on ? REQUEST_SEND : REQUEST_EXCHANGE;
	k->number = UINT64_MAX;
	if (c || k->on)
		k->request_number = vftr_request_number();
	if (c)
		record_send(k, c, send_ticket, k->on ? 0 : k->request_number);
	if (k->on)
		record_post(k, k->on, k->rtag, k->rcount, k->rtype);
	else
		k->on = c;
}

void vftr_end_isendrecv(struct mpi_call *k)
{
	made_request(k, (enum request_kind)k->n);
}

void vftr_begin_isendrecv_replace(struct mpi_call *k)
{
	k->rtype = k->type;
	k->rcount = k->count;
	vftr_begin_isendrecv(k);
}

void vftr_end_isendrecv_replace(struct mpi_call *k)
{
	vftr_end_isendrecv(k);
}
