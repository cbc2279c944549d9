/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators that are made, named and freed: classes comm_new to comm_name. */
#include <string.h>
#include "libhook/emit.h"
#include "mpi/object/comm.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"
#include "mpi/recorder/request.h"

#define LONGEST_STRINGTAG 256 /* MPI_MAX_STRINGTAG_LEN, where there is one */

enum distinguished_by { BY_NOTHING, BY_TAG, BY_TEXT, BY_PORT };

/* How a function makes a communicator. has_parent: from k->comm. */
struct origin {
	enum mpi_id id;
	enum wire_comm_kind kind;
	bool has_parent;
	enum distinguished_by by;
};

static const struct origin origins[] = {
	{VFTR_MPI_COMM_DUP, WIRE_COMM_DUP, true, BY_NOTHING},
	{VFTR_MPI_COMM_DUP_WITH_INFO, WIRE_COMM_DUP, true, BY_NOTHING},
	{VFTR_MPI_COMM_SPLIT, WIRE_COMM_SPLIT, true, BY_NOTHING},
	{VFTR_MPI_COMM_SPLIT_TYPE, WIRE_COMM_SPLIT, true, BY_NOTHING},
	{VFTR_MPI_COMM_CREATE, WIRE_COMM_CREATE, true, BY_NOTHING},
	{VFTR_MPI_COMM_CREATE_GROUP, WIRE_COMM_FROM_GROUP, true, BY_TAG},
	{VFTR_MPI_COMM_CREATE_FROM_GROUP, WIRE_COMM_FROM_GROUP, false, BY_TEXT},
	{VFTR_MPI_CART_CREATE, WIRE_COMM_TOPOLOGY, true, BY_NOTHING},
	{VFTR_MPI_CART_SUB, WIRE_COMM_TOPOLOGY, true, BY_NOTHING},
	{VFTR_MPI_GRAPH_CREATE, WIRE_COMM_TOPOLOGY, true, BY_NOTHING},
	{VFTR_MPI_DIST_GRAPH_CREATE, WIRE_COMM_TOPOLOGY, true, BY_NOTHING},
	{VFTR_MPI_DIST_GRAPH_CREATE_ADJACENT, WIRE_COMM_TOPOLOGY, true, BY_NOTHING},
	{VFTR_MPI_INTERCOMM_CREATE, WIRE_COMM_INTER, true, BY_NOTHING},
	{VFTR_MPI_INTERCOMM_CREATE_FROM_GROUPS, WIRE_COMM_INTER, false, BY_TEXT},
	{VFTR_MPI_INTERCOMM_MERGE, WIRE_COMM_MERGE, true, BY_NOTHING},
	{VFTR_MPI_COMM_SPAWN, WIRE_COMM_SPAWN, true, BY_NOTHING},
	{VFTR_MPI_COMM_SPAWN_MULTIPLE, WIRE_COMM_SPAWN, true, BY_NOTHING},
	{VFTR_MPI_COMM_GET_PARENT, WIRE_COMM_PARENT, false, BY_NOTHING},
	{VFTR_MPI_COMM_ACCEPT, WIRE_COMM_ACCEPT, true, BY_PORT},
	{VFTR_MPI_COMM_CONNECT, WIRE_COMM_ACCEPT, true, BY_PORT},
	{VFTR_MPI_COMM_JOIN, WIRE_COMM_ACCEPT, false, BY_NOTHING},
};

static const struct origin *origin_of(enum mpi_id id)
{
	static const struct origin unknown = {.kind = WIRE_COMM_UNKNOWN};

	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]); i++)
		if (origins[i].id == id)
			return &origins[i];
	return &unknown;
}

/* At most `most` characters of the text; Fortran pads it with blanks. */
static size_t text_length(const struct mpi_call *k, size_t most)
{
	size_t n = k->text_length < most ? k->text_length : most;

	if (!k->text)
		return 0;
	n = strnlen(k->text, n);
	if (k->language != LANGUAGE_C)
		while (n && k->text[n - 1] == ' ')
			n--;
	return n;
}

/* Whether all members of k->comm take part, in the order of their other collective calls on it. Of
 * those that are spawned and connected, others do. */
static bool is_meeting(const struct origin *o)
{
	switch (o->kind) {
	case WIRE_COMM_DUP:
	case WIRE_COMM_SPLIT:
	case WIRE_COMM_CREATE:
	case WIRE_COMM_TOPOLOGY:
	case WIRE_COMM_MERGE:
		return true;
	case WIRE_COMM_INTER:
		return o->has_parent;
	default:
		return false;
	}
}

void vftr_begin_comm_new(struct mpi_call *k)
{
	k->on = NULL;
	if (is_meeting(origin_of(k->id)))
		vftr_meeting_begin(k, false);
}

/* All members of what was made have met to make it: their first collective call on it. */
static void meet_on(const struct mpi_call *k, MPI_Comm made)
{
	struct mpi_comm *c = vftr_comm_find(made);
	const uint32_t ticket = take_ticket(&c->collectives);

	if (comm_peers(c) && !load_relaxed(&vftr_mpi_level_off))
		record_collective((uint32_t)k->id, c, MESSAGE_NO_RANK, ticket, 0, 0, 0, 0, 0, 0);
}

/* 0: this is not the root, whose text alone is one. */
static uint64_t port_of(const struct mpi_call *k)
{
	if ((uint32_t)k->root != vftr_comm_find(k->comm)->rank)
		return 0;
	return vftr_mix_text(0, k->text, text_length(k, MPI_MAX_PORT_NAME));
}

void vftr_end_comm_new(struct mpi_call *k)
{
	const struct origin *o = origin_of(k->id);
	uint64_t more = 0;
	MPI_Comm handle;

	vftr_meeting_end(k);
	if (k->rc != MPI_SUCCESS || !vftr_messages_wanted())
		return;
	handle = call_comm(k, k->newcomm);
	if (o->kind == WIRE_COMM_PARENT && vftr_comm_is(handle, WIRE_COMM_PARENT))
		return; /* the same each time */
	if (o->by == BY_TAG) {
		more = (uint64_t)k->tag + 1;
		vftr_comm_tell_joint(k->comm); /* by which the new one is known */
	}
	if (o->by == BY_TEXT)
		more = vftr_mix_text(0, k->text, text_length(k, LONGEST_STRINGTAG));
	if (o->by == BY_PORT)
		more = port_of(k);
	vftr_comm_made(handle, o->kind, o->has_parent ? k->comm : MPI_COMM_NULL, more);
	if (o->by == BY_PORT && more) /* the agent learns of it now */
		vftr_comm_find(handle);
	else if (o->by != BY_NOTHING && o->by != BY_PORT && handle != MPI_COMM_NULL)
		meet_on(k, handle);
}

void vftr_begin_comm_idup(struct mpi_call *k)
{
	vftr_meeting_begin(k, true);
}

void vftr_end_comm_idup(struct mpi_call *k)
{
	struct request r = {.kind = REQUEST_IDUP, .newcomm = k->newcomm, .language = k->language};
	MPI_Request handle;

	vftr_meeting_end(k);
	if (k->rc != MPI_SUCCESS || !vftr_messages_wanted())
		return;
	r.number = k->on ? k->request_number : 0;
	r.bytes = vftr_comm_identity(k->comm, WIRE_COMM_DUP, 0);
	r.comm = vftr_comm_find(k->comm);
	handle = call_request(k, k->request, 0);
	if (handle != vftr_request_at_once && handle != MPI_REQUEST_NULL) {
		add_relaxed_u32(&r.comm->references, 1);
		vftr_request_put(handle, &r);
		return;
	}
	vftr_comm_made_as(call_comm(k, k->newcomm), WIRE_COMM_DUP, r.comm, r.bytes);
	if (r.number)
		record_complete(r.number);
}

/* In the call, its attributes' delete functions may use it and may refuse. */
void vftr_begin_comm_free(struct mpi_call *k)
{
	k->comm = k->comms ? call_comm(k, k->comms) : MPI_COMM_NULL;
	k->number = vftr_comm_number(k->comm);
}

void vftr_end_comm_free(struct mpi_call *k)
{
	if (k->rc == MPI_SUCCESS && k->number)
		vftr_comm_freed(k->comm, (uint32_t)k->number);
}

void vftr_begin_comm_name(struct mpi_call *k)
{
	(void)k;
}

void vftr_end_comm_name(struct mpi_call *k)
{
	struct wire_about name = {.head.kind = WIRE_NAME, .object = WIRE_OBJECT_COMM};
	const size_t length = text_length(k, MPI_MAX_OBJECT_NAME - 1);
	char text[MPI_MAX_OBJECT_NAME];

	if (k->rc != MPI_SUCCESS || !k->text || !vftr_active() || !vftr_messages_wanted())
		return;
	name.number = vftr_comm_find(k->comm)->number;
	if (!name.number)
		return;
	memcpy(text, k->text, length);
	text[length] = '\0';
	vftr_define(&name.head, sizeof(name), text, length + 1);
}
