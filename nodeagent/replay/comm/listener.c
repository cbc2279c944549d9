/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/listener.h"

#include <stdlib.h>

#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/neighbours.h"

_Static_assert((int)VFD_MESSAGE_ANY_SOURCE == MESSAGE_ANY_SOURCE &&
		       (int)VFD_MESSAGE_ANY_TAG == MESSAGE_ANY_TAG &&
		       (int)VFD_MESSAGE_MATCHED == MESSAGE_MATCHED &&
		       (int)VFD_MESSAGE_PARTITIONED == MESSAGE_PARTITIONED &&
		       (int)VFD_MESSAGE_CANCELLED == MESSAGE_CANCELLED &&
		       (int)VFD_MESSAGE_UNKNOWN == MESSAGE_UNKNOWN,
	"flags of records are flags of messages");

#define OF_POST (MESSAGE_ANY_SOURCE | MESSAGE_ANY_TAG | MESSAGE_MATCHED | MESSAGE_PARTITIONED)
#define OF_DONE (MESSAGE_CANCELLED | MESSAGE_UNKNOWN)

void traffic_listener_set(struct traffic *t, const struct traffic_listener *listener)
{
	t->listener = *listener;
}

/* ---- what numbers stand for --------------------------------------------------- */

uint32_t listener_comm(struct traffic *t, struct comm *c)
{
	struct vfd_comm told;
	struct wire_run *runs;
	size_t remote = 0; /* runs */

	if (!c)
		return 0;
	if (c->told)
		return c->told;
	told = (struct vfd_comm){.id = c->id,
		.kind = (enum wire_comm_kind)c->kind,
		.name = c->name,
		.size = c->size,
		.remote_size = c->remote_size};
	runs = xcalloc(c->n_runs + 1, sizeof(*runs));
	while (remote < c->n_runs && c->runs[remote].before < c->remote_size)
		remote++;
	for (size_t k = 0; k < c->n_runs; k++) {
		size_t i = (k + remote) % c->n_runs; /* the own group first */
		const struct run *r = &c->runs[i];
		uint32_t end = i + 1 < c->n_runs ? r[1].before : c->members;

		runs[told.n_runs++] =
			(struct wire_run){r->first, r->stride, (int32_t)(end - r->before)};
	}
	told.runs = runs;
	c->told = t->listener.comm(t->listener.ctx, &told);
	spawned_tell(t, c);
	free(runs);
	return c->told;
}

static uint32_t object_told(struct traffic *t, const struct pending *p)
{
	struct vfd_object told = {.number = p->m.comm, .kind = WIRE_OBJECT_WINDOW};

	if (p->m.kind == RECORD_FILE) {
		if (p->m.comm == NO_SUMS)
			return 0;
		told.kind = WIRE_OBJECT_FILE;
		told.name = t->sums.files[p->m.comm].name;
	} else {
		told.comm = listener_comm(t, p->comm);
	}
	return t->listener.object(t->listener.ctx, &told);
}

/* 1 + a rank whose process is not known, or not in this job. */
static uint32_t other_told(const struct comm *c, uint32_t rank, uint32_t world)
{
	return world == VFD_NONE && c && c->joins && rank < comm_ranks(c) ? rank + 1 : 0;
}

static uint32_t peer_told(const struct comm *c, uint32_t rank)
{
	uint32_t world = c && rank < comm_ranks(c) ? comm_world(c, rank) : PROFILE_ELSEWHERE;

	return world == PROFILE_ELSEWHERE ? VFD_NONE : world;
}

/* ---- messages ------------------------------------------------------------------- */

/* Takes source, tag and bytes from the status of a posted receive, if it has them. */
static void take_status(struct vfd_message *m, const struct pending *p, const struct message *done)
{
	bool as_posted = done->flags & MESSAGE_AS_POSTED;

	m->bytes = as_posted ? p->m.bytes : done->bytes;
	m->tag = (int32_t)(as_posted ? p->m.field : done->field);
	if (!(p->m.flags & MESSAGE_ANY_SOURCE) || as_posted)
		return;
	m->peer = peer_told(p->comm, done->peer);
	m->sends = other_told(p->comm, done->peer, m->peer);
}

static bool in_file(struct vfd_message *m, const struct pending *p, const struct message *done)
{
	m->bytes = p->m.bytes;
	if (done && !(done->flags & (MESSAGE_AS_POSTED | OF_DONE)))
		m->bytes = done->bytes;
	m->offset = p->m.offset;
	m->flags = (p->m.flags & MESSAGE_READ ? VFD_MESSAGE_READ : 0) |
		   (p->m.flags & MESSAGE_WRITE ? VFD_MESSAGE_WRITE : 0);
	return !done || !(done->flags & MESSAGE_CANCELLED);
}

/* False: it is not told. */
static bool fill_message(struct traffic *t, struct vfd_message *m, const struct pending *p,
	const struct message *done)
{
	uint32_t flags = done ? done->flags & OF_DONE : 0;

	m->flags = p->m.flags & OF_POST;
	m->bytes = p->m.bytes;
	m->ticket = (uint64_t)p->m.start << 32 | p->m.ticket;
	switch (p->m.kind) {
	case RECORD_SEND:
	case RECORD_RECV:
	case RECORD_POST:
		m->kind = p->m.kind == RECORD_SEND ? VFD_SEND : VFD_RECEIVE;
		m->tag = (int32_t)p->m.field;
		m->peer = peer_told(p->comm, p->m.peer);
		m->sends = other_told(p->comm, p->m.peer, m->peer);
		m->offset = p->m.offset;
		if (m->kind == VFD_RECEIVE && flags)
			return false;
		if (p->m.kind == RECORD_POST)
			take_status(m, p, done);
		break;
	case RECORD_COLLECTIVE:
		m->kind = VFD_COLLECTIVE;
		m->function = p->m.field;
		m->flags = 0;
		m->bytes_received = p->m.bytes_received;
		m->sends = p->m.sends;
		m->receives = p->m.receives;
		m->peer = p->m.peer != MESSAGE_ROOT_HERE ? peer_told(p->comm, p->m.peer)
			  : p->comm && p->comm->job	 ? t->session_rank
			  : t->rank >= 0		 ? (uint32_t)t->rank
							 : VFD_NONE;
		m->offset = other_told(p->comm, p->m.peer, m->peer);
		break;
	case RECORD_RMA:
		m->kind = VFD_RMA;
		m->function = p->m.field;
		m->flags = 0;
		m->bytes_received = p->m.bytes_received;
		m->peer = peer_told(p->comm, p->m.peer);
		break;
	case RECORD_EPOCH:
		m->kind = VFD_EPOCH;
		m->function = p->m.field;
		m->flags = p->m.flags & MESSAGE_EXCLUSIVE ? VFD_MESSAGE_EXCLUSIVE : 0;
		m->bytes = 0;
		m->offset = p->m.bytes;
		m->peer = peer_told(p->comm, p->m.peer);
		break;
	case RECORD_FILE:
		m->kind = VFD_FILE;
		m->ticket = 0;
		if (!in_file(m, p, done))
			return false;
		break;
	default:
		return false;
	}
	m->flags |= flags | (p->m.request && done ? 0 : VFD_MESSAGE_BLOCKING);
	return true;
}

static bool is_wanted(struct traffic *t, const struct vfd_message *m)
{
	if (t->all_ranks || m->kind == VFD_FILE)
		return true;
	return t->listed &&
	       (m->kind == VFD_COLLECTIVE || m->kind == VFD_EPOCH || sums_is_listed(t, m->peer));
}

void listener_tell(struct traffic *t, uint32_t thread, const struct pending *p,
	const struct message *done, uint64_t ticks)
{
	struct vfd_message m = {.stack = p->stack,
		.start = (int64_t)p->since,
		.end = (int64_t)(p->since + ticks_between(p->since, ticks)),
		.type = p->m.type,
		.peer = VFD_NONE,
		.sender_thread = VFD_NONE,
		.self = p->comm && p->comm->job ? t->session_rank + 1 : 0};

	if (!fill_message(t, &m, p, done) || !is_wanted(t, &m))
		return;
	m.comm = m.kind == VFD_RMA || m.kind == VFD_FILE || m.kind == VFD_EPOCH
			 ? object_told(t, p)
			 : listener_comm(t, p->comm);
	if (m.kind == VFD_COLLECTIVE && p->comm)
		neighbours_notify(t, p->comm, m.comm);
	t->listener.message(t->listener.ctx, thread, &m);
}

void traffic_listener_rest(struct traffic *t, uint64_t ticks)
{
	const struct message unknown = {.kind = RECORD_DONE, .flags = MESSAGE_UNKNOWN};

	for (size_t i = 0; t->listener.message && i < t->requests.n; i++) {
		const struct request *q = &t->requests.at[i];

		if (q->of.node && q->taken && q->of.m.kind == RECORD_SEND)
			listener_notify(t, q->thread, &q->of, &unknown, ticks);
	}
}
