/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls: one record each, with how many messages this rank would
 * send and receive if they were point to point, and their bytes. A rooted one
 * is messages between the root and each rank including itself, one to all is
 * messages between all pairs, MPI_IN_PLACE leaves out those to oneself. Only
 * arguments that are significant on this rank are looked at.
 */
#include "mpi/recorder/amount.h"
#include "mpi/recorder/lengths.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"

/* The messages of one call, sent and received by this rank. */
struct moved {
	uint32_t root; /* as in the record */
	uint32_t sends, receives;
	uint64_t bytes_sent, bytes_received;
	uint32_t type;
	struct lengths {
		enum amount amount; /* NONE: all are alike */
		struct whom whom;
	} sent, received;
};

struct shape;

struct pattern {
	void (*measure)(
		const struct mpi_call *, struct mpi_comm *, const struct pattern *, struct moved *);
	enum amount sent, received, sent_in_place;
	const struct shape *shape; /* or NULL: measure() only */
};

static void send_to(const struct mpi_call *k, const struct mpi_comm *c, enum amount a,
	const struct whom *whom, struct moved *m)
{
	m->sends += whom_number(whom);
	m->bytes_sent = plus(m->bytes_sent, vftr_amount_for(k, c, a, whom));
	m->type = vftr_amount_type(k, a, whom);
	if (amount_differs(a))
		m->sent = (struct lengths){a, *whom};
}

static void receive_from(const struct mpi_call *k, const struct mpi_comm *c, enum amount a,
	const struct whom *whom, struct moved *m)
{
	const uint64_t bytes = vftr_amount_for(k, c, a, whom);

	m->receives += whom_number(whom);
	m->bytes_received = plus(m->bytes_received, bytes);
	if (!m->sends)
		m->type = vftr_amount_type(k, a, whom);
	if (amount_differs(a))
		m->received = (struct lengths){a, *whom};
}

static const struct whom one = {.n = 1, .self = NOT_THERE};

/* All ranks that messages may come from; leave_out_self: without this rank. */
static struct whom peers(const struct mpi_comm *c, bool leave_out_self)
{
	return (struct whom){.n = comm_peers(c), .self = leave_out_self ? c->rank : NOT_THERE};
}

static bool in_place(const struct mpi_call *k, const struct mpi_comm *c, const void *buffer)
{
	return !c->remote_size && vftr_call_in_place(k, buffer);
}

enum role { IS_ROOT, IS_OTHER, IS_ASIDE };

static enum role role_in(const struct mpi_call *k, const struct mpi_comm *c, struct moved *m)
{
	if (c->remote_size && k->root == MPI_ROOT) {
		m->root = MESSAGE_ROOT_HERE;
		return IS_ROOT;
	}
	if (k->root < 0 || (uint32_t)k->root >= comm_peers(c))
		return IS_ASIDE; /* MPI_PROC_NULL, or an error */
	m->root = (uint32_t)k->root;
	return !c->remote_size && m->root == c->rank ? IS_ROOT : IS_OTHER;
}

static void nothing(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	(void)k, (void)c, (void)p, (void)m;
}

/* The root's message to itself is sent and not received. */
static void broadcast(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	const enum role role = role_in(k, c, m);
	const struct whom all = peers(c, false);

	if (role == IS_ROOT)
		send_to(k, c, p->sent, &all, m);
	if (role == IS_OTHER)
		receive_from(k, c, p->received, &one, m);
}

static void to_root(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	const enum role role = role_in(k, c, m);
	const bool alone = role == IS_ROOT && in_place(k, c, k->sendbuf);
	const struct whom all = peers(c, alone);

	if (role == IS_OTHER || (role == IS_ROOT && !c->remote_size && !alone))
		send_to(k, c, p->sent, &one, m);
	if (role == IS_ROOT)
		receive_from(k, c, p->received, &all, m);
}

static void from_root(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	const enum role role = role_in(k, c, m);
	const bool alone = role == IS_ROOT && in_place(k, c, k->recvbuf);
	const struct whom all = peers(c, alone);

	if (role == IS_ROOT)
		send_to(k, c, p->sent, &all, m);
	if (role == IS_OTHER || (role == IS_ROOT && !c->remote_size && !alone))
		receive_from(k, c, p->received, &one, m);
}

static void between_all(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	const bool alone = in_place(k, c, k->sendbuf);
	const struct whom all = peers(c, alone);

	send_to(k, c, alone ? p->sent_in_place : p->sent, &all, m);
	receive_from(k, c, p->received, &all, m);
}

/*
 * A reduction of everything to rank 0 (of the other group, if there are two),
 * which then scatters (to its own).
 */
static void reduce_scatter(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	const bool alone = in_place(k, c, k->sendbuf), first = c->rank == 0;
	const struct whom group = {.n = c->size, .self = NOT_THERE};
	const struct whom here = {.n = c->size, .self = alone ? c->rank : NOT_THERE};
	const struct whom all = peers(c, alone);
	const uint64_t total = vftr_amount_for(k, c, p->sent, &group);

	m->type = vftr_amount_type(k, p->sent, &group);
	if (!(first && alone)) {
		m->sends = 1;
		m->bytes_sent = total;
		m->receives = 1;
		m->bytes_received = vftr_amount_of(k, p->sent, c->rank);
	}
	if (first) {
		send_to(k, c, p->sent, &here, m);
		m->receives += whom_number(&all);
		m->bytes_received =
			plus(m->bytes_received, times((MPI_Count)whom_number(&all), total));
	}
}

/* From each rank to the next. */
static void chain(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	if (c->rank + 1 < c->size)
		send_to(k, c, p->sent, &one, m);
	if (c->rank > 0)
		receive_from(k, c, p->received, &one, m);
}

static void neighbours(
	const struct mpi_call *k, struct mpi_comm *c, const struct pattern *p, struct moved *m)
{
	const struct comm_neighbours *n = vftr_comm_neighbours(c);
	const struct whom out = {.n = n->out, .self = NOT_THERE, .missing = n->missing};
	const struct whom in = {.n = n->in, .self = NOT_THERE, .missing = n->missing};

	send_to(k, c, p->sent, &out, m);
	receive_from(k, c, p->received, &in, m);
}

/*
 * What most calls are: of ranks of one group, of one count for all, not in place. Then each rank
 * sends to nobody, to one or to all, and receives from so many.
 */
enum few { NOBODY, ONE, ALL };

struct shape {
	bool has_root, is_recvbuf; /* is it the receive buffer that may be MPI_IN_PLACE? */
	struct side {
		uint8_t sends, receives; /* enum few */
	} root, other;			 /* other: of all, if there is no root */
};

/* Each an array of one, so that NULL may stand in its place in COLLECTIVES(). */
static const struct shape shape_of_nothing[] = {{.has_root = false}};
static const struct shape shape_of_broadcast[] = {
	{.has_root = true, .root = {ALL, NOBODY}, .other = {NOBODY, ONE}}};
static const struct shape shape_of_to_root[] = {
	{.has_root = true, .root = {ONE, ALL}, .other = {ONE, NOBODY}}};
static const struct shape shape_of_from_root[] = {
	{.has_root = true, .is_recvbuf = true, .root = {ALL, ONE}, .other = {NOBODY, ONE}}};
static const struct shape shape_of_between_all[] = {{.other = {ALL, ALL}}};
/* these depend on more than the root */
#define shape_of_reduce_scatter NULL
#define shape_of_chain		NULL
#define shape_of_neighbours	NULL

/* In the order of mpi/generate/mpi.tab: function, pattern, what is sent, received, sent in place.
 */
#define COLLECTIVES(ROW)                                                                           \
	ROW(ALLGATHER, between_all, AMOUNT_COUNT, AMOUNT_RCOUNT, AMOUNT_RCOUNT)                    \
	ROW(ALLGATHERV, between_all, AMOUNT_COUNT, AMOUNT_RCOUNTS, AMOUNT_RCOUNTS_OWN)             \
	ROW(ALLREDUCE, between_all, AMOUNT_COUNT, AMOUNT_COUNT, AMOUNT_COUNT)                      \
	ROW(ALLTOALL, between_all, AMOUNT_COUNT, AMOUNT_RCOUNT, AMOUNT_RCOUNT)                     \
	ROW(ALLTOALLV, between_all, AMOUNT_COUNTS, AMOUNT_RCOUNTS, AMOUNT_RCOUNTS)                 \
	ROW(ALLTOALLW, between_all, AMOUNT_COUNTS_TYPES, AMOUNT_RCOUNTS_TYPES,                     \
		AMOUNT_RCOUNTS_TYPES)                                                              \
	ROW(BARRIER, nothing, 0, 0, 0)                                                             \
	ROW(BCAST, broadcast, AMOUNT_COUNT, AMOUNT_COUNT, 0)                                       \
	ROW(EXSCAN, chain, AMOUNT_COUNT, AMOUNT_COUNT, 0)                                          \
	ROW(GATHER, to_root, AMOUNT_COUNT, AMOUNT_RCOUNT, 0)                                       \
	ROW(GATHERV, to_root, AMOUNT_COUNT, AMOUNT_RCOUNTS, 0)                                     \
	ROW(REDUCE, to_root, AMOUNT_COUNT, AMOUNT_COUNT, 0)                                        \
	ROW(REDUCE_SCATTER, reduce_scatter, AMOUNT_COUNTS, 0, 0)                                   \
	ROW(REDUCE_SCATTER_BLOCK, reduce_scatter, AMOUNT_COUNT, 0, 0)                              \
	ROW(SCAN, chain, AMOUNT_COUNT, AMOUNT_COUNT, 0)                                            \
	ROW(SCATTER, from_root, AMOUNT_COUNT, AMOUNT_RCOUNT, 0)                                    \
	ROW(SCATTERV, from_root, AMOUNT_COUNTS, AMOUNT_RCOUNT, 0)                                  \
	ROW(NEIGHBOR_ALLGATHER, neighbours, AMOUNT_COUNT, AMOUNT_RCOUNT, 0)                        \
	ROW(NEIGHBOR_ALLGATHERV, neighbours, AMOUNT_COUNT, AMOUNT_RCOUNTS, 0)                      \
	ROW(NEIGHBOR_ALLTOALL, neighbours, AMOUNT_COUNT, AMOUNT_RCOUNT, 0)                         \
	ROW(NEIGHBOR_ALLTOALLV, neighbours, AMOUNT_COUNTS, AMOUNT_RCOUNTS, 0)                      \
	ROW(NEIGHBOR_ALLTOALLW, neighbours, AMOUNT_COUNTS_TYPES, AMOUNT_RCOUNTS_TYPES, 0)

/* The rows of the non-blocking and of the persistent forms are in the same order. */
#define PLACE(name)	 (VFTR_MPI_##name - VFTR_MPI_ALLGATHER)
#define IPLACE(name)	 (VFTR_MPI_I##name - VFTR_MPI_IALLGATHER)
#define INIT_PLACE(name) (VFTR_MPI_##name##_INIT - VFTR_MPI_ALLGATHER_INIT)
#define ROW(name, measure, sent, received, in_place)                                               \
	_Static_assert(PLACE(name) == IPLACE(name) && PLACE(name) == INIT_PLACE(name),             \
		"the forms of MPI_" #name " have different places in mpi/generate/mpi.tab");
COLLECTIVES(ROW)
#undef ROW

#define ROW(name, measure, sent, received, in_place)                                               \
	[PLACE(name) / 2] = {measure, sent, received, in_place,                                    \
		(sent) <= AMOUNT_RCOUNT && (received) <= AMOUNT_RCOUNT ? shape_of_##measure        \
								       : NULL},
static const struct pattern patterns[] = {COLLECTIVES(ROW)};
#undef ROW

#define N_PATTERNS (sizeof(patterns) / sizeof(patterns[0]))

static struct moved measure(const struct mpi_call *k, struct mpi_comm *c, enum mpi_id first)
{
	const size_t row = (k->id - first) / 2;
	struct moved m = {.root = MESSAGE_NO_RANK};

	if (row < N_PATTERNS)
		patterns[row].measure(k, c, &patterns[row], &m);
	return m;
}

/* Few calls have messages of different lengths. */
static void record_lengths(const struct mpi_call *k, const struct mpi_comm *c, enum mpi_id first,
	const struct moved *m)
{
	const size_t row = (k->id - first) / 2;
	uint32_t flags = 0;

	if (m->sent.amount == AMOUNT_NONE && m->received.amount == AMOUNT_NONE)
		return;
	if (row < N_PATTERNS && patterns[row].measure == neighbours)
		flags = LENGTHS_NEIGHBOURS;
	else if (!vftr_lengths_wanted())
		return;
	if (first == VFTR_MPI_ALLGATHER_INIT)
		flags |= LENGTHS_PERSISTENT;
	if (m->sent.amount != AMOUNT_NONE)
		vftr_lengths(k, c, m->sent.amount, &m->sent.whom, flags);
	if (m->received.amount != AMOUNT_NONE)
		vftr_lengths(k, c, m->received.amount, &m->received.whom, flags | LENGTHS_RECEIVED);
}

static __attribute__((noinline)) void record_measured(
	const struct mpi_call *k, struct mpi_comm *c, enum mpi_id first)
{
	const struct moved m = measure(k, c, first);

	record_lengths(k, c, first, &m);
	record_collective((uint32_t)k->id, c, m.root, k->ticket, m.type, k->request_number, m.sends,
		m.receives, m.bytes_sent, m.bytes_received);
}

static inline uint32_t number_of(uint8_t few, uint32_t all)
{
	return few == ALL ? all : few;
}

/* Bytes of n messages, each of AMOUNT_COUNT or AMOUNT_RCOUNT. */
static inline uint64_t bytes_of(const struct mpi_call *k, enum amount a, uint32_t n, uint32_t *type)
{
	const bool is_count = a == AMOUNT_COUNT;
	const uint64_t one = vftr_type_size(is_count ? k->type : k->rtype, type);

	return times((MPI_Count)n, times(is_count ? k->count : k->rcount, one));
}

/* Records what has a shape, as measure() and record() do; false: it has none in this call. */
static inline bool record_shape(
	const struct mpi_call *k, const struct mpi_comm *c, const struct pattern *p)
{
	const struct shape *shape = p->shape;
	const bool at_root = shape && shape->has_root && (uint32_t)k->root == c->rank;
	const struct side *side;
	uint32_t type = 0, sends, receives;
	uint64_t bytes_sent = 0, bytes_received = 0;

	if (!shape || c->remote_size || (shape->has_root && (uint32_t)k->root >= c->size))
		return false;
	if (shape->has_root && !at_root) {
		side = &shape->other;
	} else {
		side = shape->has_root ? &shape->root : &shape->other;
		/* MPI_Barrier() and MPI_Bcast() have no such buffer */
		if (side->sends && side->receives &&
			vftr_call_in_place(k, shape->is_recvbuf ? k->recvbuf : k->sendbuf))
			return false;
	}
	sends = number_of(side->sends, c->size);
	receives = number_of(side->receives, c->size);
	if (receives)
		bytes_received = bytes_of(k, p->received, receives, &type);
	if (sends && sends == receives && p->sent == p->received)
		bytes_sent = bytes_received; /* of the same arguments */
	else if (sends)
		bytes_sent = bytes_of(k, p->sent, sends, &type);
	record_collective((uint32_t)k->id, c, shape->has_root ? (uint32_t)k->root : MESSAGE_NO_RANK,
		k->ticket, type, k->request_number, sends, receives, bytes_sent, bytes_received);
	return true;
}

/* Records before the call, so that the record exists if this process dies in it. */
static inline void begin(struct mpi_call *k, enum mpi_id first, bool has_request)
{
	const size_t row = (k->id - first) / 2;
	struct mpi_comm *c;

	k->on = NULL;
	if (!vftr_messages_wanted())
		return;
	k->on = c = vftr_comm_find(k->comm);
	k->ticket = take_ticket(&c->collectives);
	k->request_number = 0;
	if (!comm_peers(c) || load_relaxed(&vftr_mpi_level_off))
		return;
	if (has_request)
		k->request_number = vftr_request_number();
	if (row >= N_PATTERNS || !record_shape(k, c, &patterns[row]))
		record_measured(k, c, first);
}

static void collective_failed(const struct mpi_call *k)
{
	if (k->on)
		vftr_meeting_failed(&k->on->collectives, k->ticket, k->rc);
}

void vftr_begin_collective(struct mpi_call *k)
{
	begin(k, VFTR_MPI_ALLGATHER, false);
}

void vftr_end_collective(struct mpi_call *k)
{
	if (k->rc != MPI_SUCCESS)
		collective_failed(k);
}

/* Nothing is sent that the program has asked for. */
void vftr_meeting_begin(struct mpi_call *k, bool has_request)
{
	struct mpi_comm *c;

	k->on = NULL;
	if (!vftr_messages_wanted())
		return;
	k->on = c = vftr_comm_find(k->comm);
	k->ticket = take_ticket(&c->collectives);
	k->request_number = 0;
	if (!comm_peers(c) || load_relaxed(&vftr_mpi_level_off))
		return;
	if (has_request)
		k->request_number = vftr_request_number();
	record_collective(
		(uint32_t)k->id, c, MESSAGE_NO_RANK, k->ticket, 0, k->request_number, 0, 0, 0, 0);
}

void vftr_meeting_end(struct mpi_call *k)
{
	vftr_end_collective(k);
}

void vftr_begin_icollective(struct mpi_call *k)
{
	begin(k, VFTR_MPI_IALLGATHER, true);
}

void vftr_end_icollective(struct mpi_call *k)
{
	const struct request r = {.kind = REQUEST_COLLECTIVE, .number = k->request_number};

	if (k->rc != MPI_SUCCESS)
		collective_failed(k);
	else if (k->on && k->request_number)
		vftr_request_put(call_request(k, k->request, 0), &r);
}

/* Recorded when it is started; its ticket is given in the order of the inits. */
void vftr_begin_collective_init(struct mpi_call *k)
{
	k->on = vftr_messages_wanted() ? vftr_comm_find(k->comm) : NULL;
	if (k->on)
		k->ticket = take_ticket(&k->on->collectives);
}

void vftr_end_collective_init(struct mpi_call *k)
{
	struct request r = {.kind = REQUEST_COLLECTIVE, .persistent = true, .ticket = k->ticket};
	struct mpi_comm *c = k->on;
	struct moved m;

	if (k->rc != MPI_SUCCESS)
		collective_failed(k);
	if (k->rc != MPI_SUCCESS || !c || !comm_peers(c))
		return;
	m = measure(k, c, VFTR_MPI_ALLGATHER_INIT);
	record_lengths(k, c, VFTR_MPI_ALLGATHER_INIT, &m);
	r.function = (uint16_t)k->id;
	r.comm = c;
	r.peer = m.root;
	r.type = (uint8_t)m.type;
	r.sends = m.sends;
	r.receives = m.receives;
	r.bytes = m.bytes_sent;
	r.bytes_received = m.bytes_received;
	add_relaxed_u32(&c->references, 1);
	vftr_request_put(call_request(k, k->request, 0), &r);
}
