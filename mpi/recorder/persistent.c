/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent and partitioned messages, and the starting of persistent
 * requests of any kind: making one records nothing, each start is a message
 * or a collective call of its own.
 */
#include "mpi/handle.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"

static void begin_init(struct mpi_call *k, int peer, bool any)
{
	struct mpi_comm *c;

	k->on = NULL;
	if (!vftr_messages_wanted() || (peer < 0 && !(any && peer == MPI_ANY_SOURCE)))
		return;
	c = vftr_comm_find(k->comm);
	if (c->number && (peer < 0 || (uint32_t)peer < comm_peers(c)))
		k->on = c;
}

static void end_init(const struct mpi_call *k, struct request *r, int peer, uint64_t elements)
{
	uint32_t type;
	uint64_t size = vftr_type_size(k->type, &type);

	r->persistent = true;
	r->type = (uint8_t)type;
	r->peer = peer < 0 ? 0 : (uint32_t)peer;
	r->tag = k->tag < 0 ? 0 : (uint32_t)k->tag;
	r->flags |= (peer == MPI_ANY_SOURCE ? MESSAGE_ANY_SOURCE : 0) |
		    (k->tag == MPI_ANY_TAG ? MESSAGE_ANY_TAG : 0);
	r->bytes = elements * size;
	r->comm = k->on;
	add_relaxed_u32(&k->on->references, 1);
	vftr_request_put(call_request(k, k->request, 0), r);
}

void vftr_begin_send_init(struct mpi_call *k)
{
	begin_init(k, k->peer, false);
}

void vftr_end_send_init(struct mpi_call *k)
{
	struct request r = {.kind = REQUEST_SEND};

	if (k->on && k->rc == MPI_SUCCESS)
		end_init(k, &r, k->peer, (uint64_t)k->count);
}

void vftr_begin_recv_init(struct mpi_call *k)
{
	begin_init(k, k->source, true);
}

void vftr_end_recv_init(struct mpi_call *k)
{
	struct request r = {.kind = REQUEST_RECEIVE};

	if (k->on && k->rc == MPI_SUCCESS)
		end_init(k, &r, k->source, (uint64_t)k->count);
}

/* Partitioned messages match by the order of these calls: the ticket is theirs. */
void vftr_begin_psend_init(struct mpi_call *k)
{
	begin_init(k, k->peer, false);
	if (k->on)
		k->ticket = take_ticket(&k->on->sent[comm_peers(k->on) + (uint32_t)k->peer]);
}

void vftr_end_psend_init(struct mpi_call *k)
{
	struct request r = {.kind = REQUEST_SEND,
		.partitioned = true,
		.flags = MESSAGE_PARTITIONED,
		.ticket = k->ticket};

	if (k->on && k->rc == MPI_SUCCESS)
		end_init(k, &r, k->peer, (uint64_t)k->n * (uint64_t)k->count);
}

void vftr_begin_precv_init(struct mpi_call *k)
{
	begin_init(k, k->source, false);
	if (k->on)
		k->ticket = take_ticket(&k->on->partitioned_posted);
}

void vftr_end_precv_init(struct mpi_call *k)
{
	struct request r = {.kind = REQUEST_RECEIVE,
		.partitioned = true,
		.flags = MESSAGE_PARTITIONED,
		.ticket = k->ticket};

	if (k->on && k->rc == MPI_SUCCESS)
		end_init(k, &r, k->source, (uint64_t)k->n * (uint64_t)k->count);
}

/* All starts have one ticket, that of the init. */
static bool is_numbered(const struct request *r)
{
	return r->partitioned || r->kind == REQUEST_COLLECTIVE;
}

/* True if a record was stored. */
static bool start(MPI_Request handle)
{
	struct request r;
	uint32_t ticket = 0;

	if (!vftr_request_get(handle, &r) || !r.persistent || !vftr_messages_wanted())
		return false;
	if (r.number) /* the last one ended with an error, or behind our back */
		record_done(r.number, 0, 0, MESSAGE_UNKNOWN, 0);
	if (r.partitioned)
		ticket = r.ticket;
	else if (r.kind == REQUEST_SEND)
		ticket = take_ticket(&r.comm->sent[r.peer]);
	else if (r.kind == REQUEST_RECEIVE)
		ticket = take_ticket(&r.comm->posted);
	r.starts++;
	r.number = vftr_mpi_recording() ? vftr_request_number() : 0;
	r.cancelled = false;
	vftr_request_update(&r);
	if (!r.number)
		return false;
	switch (r.kind) {
	case REQUEST_SEND:
		record_message(RECORD_SEND, r.comm, r.peer, r.tag, ticket, r.type, r.number,
			r.flags, r.bytes);
		break;
	case REQUEST_RECEIVE:
		record_message(RECORD_POST, r.comm, r.peer, r.tag, ticket, r.type, r.number,
			r.flags, r.bytes);
		break;
	case REQUEST_COLLECTIVE:
		record_collective(r.function, r.comm, r.peer, r.ticket, r.type, r.number, r.sends,
			r.receives, r.bytes, r.bytes_received);
		break;
	default:
		return false;
	}
	if (is_numbered(&r))
		record_start(r.number, r.uncounted ? 0 : r.starts);
	return true;
}

/* alone: of the call that failed. MPI may have started some of several requests before. */
static void not_started(MPI_Request handle, bool alone)
{
	struct request r;

	if (!vftr_request_get(handle, &r) || !r.persistent)
		return;
	r.number = 0;
	if (r.starts && vftr_messages_wanted()) { /* or start() has not counted it */
		r.uncounted |= !alone;
		r.starts--;
	}
	vftr_request_update(&r);
}

void vftr_begin_start(struct mpi_call *k)
{
	k->number = vftr_requests_open() && k->request && start(call_request(k, k->request, 0));
}

void vftr_end_start(struct mpi_call *k)
{
	if (k->rc == MPI_SUCCESS)
		return;
	if (k->number)
		record_failed(k->rc);
	if (k->request)
		not_started(call_request(k, k->request, 0), true);
}

void vftr_begin_startall(struct mpi_call *k)
{
	k->number = 0;
	if (!vftr_requests_open() || !k->requests)
		return;
	for (int i = 0; i < k->n; i++)
		k->number |= start(call_request(k, k->requests, i));
}

void vftr_end_startall(struct mpi_call *k)
{
	if (k->rc == MPI_SUCCESS)
		return;
	if (k->number)
		record_failed(k->rc);
	for (int i = 0; k->requests && i < k->n; i++)
		not_started(call_request(k, k->requests, i), k->n == 1);
}

static void ready(const struct mpi_call *k, int first, int n)
{
	struct request r;

	if (n > 0 && vftr_request_get(k->handle, &r) && r.partitioned && r.number)
		record_partition(r.number, (uint32_t)first, (uint32_t)n);
}

void vftr_begin_pready(struct mpi_call *k)
{
	ready(k, k->n, 1);
}

void vftr_end_pready(struct mpi_call *k)
{
	if (k->rc != MPI_SUCCESS)
		record_failed(k->rc);
}

void vftr_begin_pready_range(struct mpi_call *k)
{
	if (k->n >= 0 && k->root >= k->n)
		ready(k, k->n, (int)((unsigned)(k->root - k->n) + 1));
}

void vftr_end_pready_range(struct mpi_call *k)
{
	vftr_end_pready(k);
}

void vftr_begin_pready_list(struct mpi_call *k)
{
	for (int i = 0; k->indices && i < k->n; i++)
		ready(k, ((const int *)k->indices)[i], 1);
}

void vftr_end_pready_list(struct mpi_call *k)
{
	vftr_end_pready(k);
}
