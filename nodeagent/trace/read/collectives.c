/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which messages they are is decided where the call was recorded: how many, and
 * their bytes, stand in the record. Here is how they are spread over the ranks.
 * A number that does not fit the communicator, the neighbours or the lengths is
 * not believed.
 */
#include "nodeagent/trace/read/collectives.h"

#include "nodeagent/trace/collective.h"
#include "nodeagent/trace/read/internal.h"

/* A call, and what is known of its communicator. */
struct call {
	struct vfd_expansion *x;
	const struct vfd_message *m;
	uint32_t peers, group; /* ranks that messages go to; of the own group */
	bool inter;
	uint32_t self, rank; /* own world rank, and rank in comm; or VFD_NONE */
	uint32_t process;
};

/* ---- parts ------------------------------------------------------------------------ */

static void add_part(const struct call *k, struct vfd_part part)
{
	if (part.n && k->x->n_parts < VFD_PARTS_MOST)
		k->x->parts[k->x->n_parts++] = part;
}

static void one(const struct call *k, bool send, uint32_t peer, uint64_t bytes)
{
	add_part(k, (struct vfd_part){.send = send, .peer = peer, .n = 1, .bytes = bytes});
}

/* n of together that many bytes, which can't be told apart. */
static void heap(const struct call *k, bool send, uint32_t n, uint64_t bytes)
{
	if (n || bytes)
		one(k, send, VFD_NONE, bytes);
}

/* Messages to or from the ranks of a group. */
struct many {
	bool send, own; /* own: the own group, else that of the peers */
	uint32_t first; /* rank to begin with */
	uint32_t n;
	bool even;
	uint64_t bytes; /* of all n */
};

/*
 * Each with its own length, if they have one or the file knows it. False: they can't be
 * told apart. part: who they are with.
 */
static bool each(const struct call *k, struct vfd_part part, uint64_t bytes, bool even)
{
	const struct vfd_lengths which = {.process = k->process,
		.comm = k->m->comm,
		.ticket = (uint32_t)k->m->ticket, /* of all starts */
		.received = !part.send,
		.n = part.n};

	if (!part.n)
		return !bytes;
	if (even || !bytes || part.n == 1) {
		part.bytes = bytes / part.n;
		if (bytes % part.n)
			return false;
	} else {
		part.differ = true;
		if (!reader_lengths(k->x->file, &part.lengths, &which, bytes))
			return false;
	}
	add_part(k, part);
	return true;
}

static void all(const struct call *k, const struct many *a)
{
	const uint32_t group = a->own ? k->group : k->peers;
	const uint32_t ranks = group > a->first ? group - a->first : 0;
	const bool but_me = !k->inter && a->n < ranks && k->rank != VFD_NONE && k->rank >= a->first;
	const struct vfd_part part = {.send = a->send,
		.runs = k->x->comm->runs,
		.n_runs = k->x->comm->n_runs,
		.first = a->first + (k->inter && !a->own ? (uint64_t)k->x->comm->size : 0),
		.without = but_me ? k->rank : UINT64_MAX,
		.n = a->n};

	/* older files have of an intercommunicator the other group only */
	if (!part.n_runs || (a->own && part.runs[0].first < 0) || !a->n || a->n + but_me != ranks ||
		!each(k, part, a->bytes, a->even))
		heap(k, a->send, a->n, a->bytes);
}

static void send_all(const struct call *k, const struct collective_shape *s)
{
	all(k, &(struct many){
		       .send = true, .n = k->m->sends, .even = s->sent_even, .bytes = k->m->bytes});
}

static void receive_all(const struct call *k, const struct collective_shape *s)
{
	all(k, &(struct many){.n = k->m->receives,
		       .even = s->received_even,
		       .bytes = k->m->bytes_received});
}

/* ---- how operations are spread ------------------------------------------------------ */

/* The root has a message to itself but for MPI_IN_PLACE; so it has of MPI_Bcast. */
static void to_root(const struct call *k, const struct collective_shape *s)
{
	if (k->m->sends)
		one(k, true, k->m->peer, k->m->bytes);
	receive_all(k, s);
}

static void from_root(const struct call *k, const struct collective_shape *s)
{
	send_all(k, s);
	if (k->m->receives)
		one(k, false, k->m->peer, k->m->bytes_received);
}

static void between_all(const struct call *k, const struct collective_shape *s)
{
	send_all(k, s);
	receive_all(k, s);
}

/* World rank of a rank of the communicator, or VFD_NONE. */
static uint32_t world_of(const struct call *k, uint32_t rank, bool remote)
{
	return vfd_comm_rank(k->x->comm, rank, remote);
}

static void chain(const struct call *k, const struct collective_shape *s)
{
	const bool known = k->rank != VFD_NONE;

	if (k->m->sends)
		one(k, true, known ? world_of(k, k->rank + 1, false) : VFD_NONE, k->m->bytes);
	if (k->m->receives)
		one(k, false, known ? world_of(k, k->rank - 1, false) : VFD_NONE,
			k->m->bytes_received);
}

/* Whether the file has the lengths of n messages sent. */
static bool knows(const struct call *k, uint32_t n, uint64_t bytes)
{
	const struct vfd_lengths which = {.process = k->process,
		.comm = k->m->comm,
		.ticket = (uint32_t)k->m->ticket,
		.n = n};
	struct lengths l;

	return reader_lengths(k->x->file, &l, &which, bytes);
}

/* What rank 0 has of a reduction and a scattering, each with a message to itself. */
static void reduce_scatter_zero(const struct call *k, const struct collective_shape *s)
{
	const struct vfd_message *m = k->m;
	const uint32_t from = m->receives - 1, zero = k->self;
	const uint64_t reduced = m->bytes / 2, own = m->bytes_received - reduced * from;
	struct many scattered = {.send = true,
		.own = true,
		.n = m->sends - 1,
		.even = s->sent_even,
		.bytes = reduced};

	one(k, true, k->inter ? world_of(k, 0, true) : zero, reduced);
	all(k, &(struct many){.n = from, .even = true, .bytes = reduced * from});
	if (!s->sent_even && own <= reduced && !knows(k, scattered.n, reduced)) {
		one(k, true, zero, own);
		scattered.first = 1;
		scattered.n--;
		scattered.bytes -= own;
	}
	all(k, &scattered);
	one(k, false, zero, own);
}

/* To rank 0, of the other group if there are two, which then scatters to its own. */
static void reduce_scatter(const struct call *k, const struct collective_shape *s)
{
	const struct vfd_message *m = k->m;
	const bool is_zero = m->sends > 1 || k->rank == 0;

	if (!is_zero) {
		if (m->sends)
			one(k, true, world_of(k, 0, k->inter), m->bytes);
		if (m->receives)
			one(k, false, world_of(k, 0, false), m->bytes_received);
	} else if (!k->inter && m->sends < k->group) {
		between_all(k, s); /* in place */
	} else if (m->sends > 1 && m->receives > 1 && m->bytes % 2 == 0 &&
		   m->bytes / 2 <= m->bytes_received / (m->receives - 1)) {
		reduce_scatter_zero(k, s);
	} else {
		heap(k, true, m->sends, m->bytes);
		heap(k, false, m->receives, m->bytes_received);
	}
}

/* Nothing is known of them. */
static void unknown(const struct call *k, const struct collective_shape *s)
{
	heap(k, true, k->m->sends, k->m->bytes);
	heap(k, false, k->m->receives, k->m->bytes_received);
}

static void with_neighbours(const struct call *k, bool send, bool even)
{
	const uint32_t n = send ? k->m->sends : k->m->receives;
	const uint64_t bytes = send ? k->m->bytes : k->m->bytes_received;
	const struct read_neighbours *who =
		reader_neighbours(k->x->file, k->process, k->m->comm, !send, n);
	const struct vfd_part part = {.send = send,
		.runs = who ? who->runs : NULL,
		.n_runs = who ? who->n_runs : 0,
		.without = UINT64_MAX,
		.n = n};

	if (!who || !each(k, part, bytes, even))
		heap(k, send, n, bytes);
}

static void neighbours(const struct call *k, const struct collective_shape *s)
{
	with_neighbours(k, true, s->sent_even);
	with_neighbours(k, false, s->received_even);
}

static void (*const spread[COLLECTIVE_KINDS])(
	const struct call *, const struct collective_shape *) = {
	[COLLECTIVE_UNKNOWN] = unknown,
	[COLLECTIVE_BETWEEN_ALL] = between_all,
	[COLLECTIVE_FROM_ROOT] = from_root,
	[COLLECTIVE_TO_ROOT] = to_root,
	[COLLECTIVE_CHAIN] = chain,
	[COLLECTIVE_REDUCE_SCATTER] = reduce_scatter,
	[COLLECTIVE_NEIGHBOURS] = neighbours,
};

/* ---- an operation ------------------------------------------------------------------- */

/* Rank of the process in its group of the communicator. */
static uint32_t rank_of(const struct vfd_comm *c, uint32_t world)
{
	uint64_t before = 0;

	for (size_t i = 0; i < c->n_runs && world != VFD_NONE; i++) {
		const struct wire_run *r = &c->runs[i];
		const int64_t way = (int64_t)world - r->first,
			      step = r->stride ? way / r->stride : 0;

		if (r->first >= 0 && step >= 0 && step < r->count && step * r->stride == way)
			return before + (uint64_t)step < c->size ? (uint32_t)(before + step)
								 : VFD_NONE;
		before += r->count > 0 ? (uint64_t)r->count : 0;
	}
	return VFD_NONE;
}

static void collective(struct vfd_expansion *x, struct vfd_file *f, const struct vfd_message *m)
{
	const struct vfd_comm *c = vfd_comm(f, m->comm);
	struct call k = {.x = x, .m = m, .rank = VFD_NONE};
	const struct collective_shape *s = collective_shape(m->function);
	const int rank = vfd_rank(f, m->track);

	x->comm = c;
	k.process = m->track < f->n_threads ? f->threads[m->track].process : VFD_NONE;
	k.self = m->self ? m->self - 1 : rank < 0 ? VFD_NONE : (uint32_t)rank;
	/* of a file that does not say how many messages there were */
	if (!c || (!m->sends && m->bytes) || (!m->receives && m->bytes_received)) {
		unknown(&k, NULL);
		return;
	}
	k.inter = c->remote_size > 0;
	k.group = c->size;
	k.peers = k.inter ? c->remote_size : c->size;
	k.rank = rank_of(c, k.self);
	spread[s->kind](&k, s);
}

void vfd_expand(struct vfd_expansion *x, struct vfd_file *f, const struct vfd_message *m)
{
	struct call k = {.x = x, .m = m};

	*x = (struct vfd_expansion){.message = *m, .file = f};
	x->as_is = !vfd_expands(m);
	if (x->as_is) {
		one(&k, false, m->peer, m->bytes);
		return;
	}
	if (m->kind == VFD_COLLECTIVE) {
		collective(x, f, m);
	} else {
		if (m->bytes_received)
			one(&k, false, m->peer, m->bytes_received);
		if (m->bytes)
			one(&k, true, m->peer, m->bytes);
	}
	x->message.tag = -1;
	x->message.ticket = x->message.bytes_received = 0;
	x->message.sends = x->message.receives = 0;
	x->message.match = VFD_MATCH_NONE;
	x->message.sender_thread = VFD_NONE;
}

uint64_t vfd_expand_count(const struct vfd_expansion *x)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < x->n_parts; i++)
		n += x->parts[i].n;
	return n;
}

/* ---- one message after the other ------------------------------------------------------ */

/* So many places further. Runs are gone through once. */
static void seek(struct vfd_expansion *x, const struct vfd_part *p, uint64_t ranks)
{
	x->rank += ranks;
	for (; x->run < p->n_runs; x->run++, x->at = 0) {
		const struct wire_run *r = &p->runs[x->run];
		const uint64_t left = r->count > 0 ? (uint64_t)r->count - x->at : 0;

		if (ranks < left) {
			x->at += (uint32_t)ranks;
			return;
		}
		ranks -= left;
	}
}

static uint32_t next_peer(struct vfd_expansion *x, const struct vfd_part *p)
{
	const struct wire_run *r;
	uint32_t world = VFD_NONE;

	if (!x->done) {
		x->rank = x->run = x->at = 0;
		seek(x, p, p->first);
	}
	if (x->rank == p->without)
		seek(x, p, 1);
	if (x->run < p->n_runs) {
		r = &p->runs[x->run];
		if (r->first >= 0)
			world = (uint32_t)(r->first + (int64_t)x->at * r->stride);
	}
	seek(x, p, 1);
	return world;
}

const struct vfd_message *vfd_expand_next(struct vfd_expansion *x)
{
	struct vfd_part *p;

	while (x->part < x->n_parts && x->done == x->parts[x->part].n) {
		x->part++;
		x->done = 0;
	}
	if (x->part == x->n_parts)
		return NULL;
	p = &x->parts[x->part];
	if (!x->as_is) {
		x->message.kind = p->send ? VFD_SEND : VFD_RECEIVE;
		x->message.peer = p->n_runs ? next_peer(x, p) : p->peer;
		x->message.bytes = p->differ ? lengths_next(x->file, &p->lengths) : p->bytes;
	}
	x->done++;
	return &x->message;
}
