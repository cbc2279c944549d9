/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from one rank to another. All ranks draw the same ones; each takes
 * them in the same order, so that nobody waits in a circle. Tags are unique in
 * a round and for long after it; where a receive takes any tag, its message is
 * the only one there is for it.
 */
#include "app-mpi-random.h"
#include "app-mpi-random-message.h"

#include <sched.h>
#include <string.h>

/* ---- drawing ----------------------------------------------------------------- */

static bool holds_up(enum how_sent how)
{
	return how <= RSEND && how != BSEND;
}

bool posts_before(const struct message *m)
{
	return m->received >= IRECV;
}

static bool is_buffered(const struct message *m)
{
	return m->sent == BSEND || m->sent == IBSEND || m->sent == BSEND_INIT;
}

static bool is_ready(const struct message *m)
{
	return m->sent == RSEND || m->sent == IRSEND || m->sent == RSEND_INIT;
}

static void choose_ways(struct message *m, bool ready)
{
	const bool partitioned = MPI_VERSION >= 4 && !pick(12);

	/* with threads MPICH 4.0 may break in matched probes */
	do {
		m->received = (enum how_received)pick(PRECV);
	} while (stream->threads > 1 && m->received >= MPROBE_MRECV &&
		 m->received <= IMPROBE_IMRECV);
	m->repeats = pick(3) ? 1 : 1 + pick(4);
	if (partitioned) {
		m->sent = PSEND;
		m->received = PRECV;
		m->repeats = 1; /* MPICH 4.0 stops at the second start */
		m->parts = 1 + pick(4);
		m->count = m->parts * pick(40);
		return;
	}
	do {
		m->sent = (enum how_sent)pick(PSEND);
	} while ((is_buffered(m) && m->count * kinds[m->kind].bytes > 4096) ||
		 (is_ready(m) && !ready));
	if (is_ready(m)) {
		m->received = pick(2) ? IRECV : RECV_INIT;
		m->repeats = 1;
	}
	if (m->sent == ISEND_FREE)
		m->repeats = 1;
	if (m->sent == BSEND_INIT && m->from == m->to) /* Open MPI 4.1 may send zeros */
		m->sent = SSEND_INIT;
	if (m->from == m->to && holds_up(m->sent) && !posts_before(m))
		m->received = pick(2) ? IRECV : RECV_INIT;
}

void draw_message(struct message *m, int tag, bool ready)
{
	int side = 0;

	memset(m, 0, sizeof(*m));
	m->on = pick_group(NULL);
	if (is_inter(m->on))
		side = pick(2);
	m->from = m->on->world[side][pick(m->on->n[side])];
	side = far_side(m->on, side);
	m->to = m->on->world[side][pick(m->on->n[side])];
	m->tag = tag;
	m->kind = pick(KINDS);
	m->count = pick(6) ? pick(40) : pick(3) ? 0 : pick(9000);
	m->spare = pick(3) ? 0 : pick(20);
	choose_ways(m, ready);
	m->any_source = m->sent != PSEND && !pick(3);
}

/* Of n messages, the only ones on their way may be received with any tag. */
void draw_wildcards(struct message *all, int n, bool alone)
{
	for (int i = 0; i < n; i++) {
		struct message *m = &all[i];
		bool unique = m->sent != PSEND, sole = alone && m->sent != PSEND;

		for (int j = 0; j < n; j++) {
			const struct message *o = &all[j];

			if (i == j || o->on != m->on || o->to != m->to)
				continue;
			sole = false;
			if (o->from == m->from || m->any_source)
				unique = false;
		}
		m->any_tag = pick(2) && (sole || (unique && !m->any_source));
	}
}

static const struct open partitioned = {.source = -1, .partitioned = true};

/* ---- sending ------------------------------------------------------------------ */

static long long bytes_of(const struct message *m)
{
	return (long long)m->count * kinds[m->kind].bytes;
}

static void *filled(const struct message *m)
{
	const long long bytes = (long long)m->count * EXTENT_MAX;
	void *p = m->sent == ISEND_FREE ? room_for_ever(bytes) : room(bytes);

	memset(p, m->tag, (size_t)bytes);
	return p;
}

static int peer_in(const struct message *m, int world)
{
	return rank_in(m->on, world, NULL);
}

static void sent(const struct message *m)
{
	count_send(m->on, m->to, bytes_of(m));
}

#define SEND_ARGUMENTS p, m->count, kinds[m->kind].type, peer_in(m, m->to), m->tag, m->on->comm

static void make_persistent_send(struct message *m)
{
	void *p = filled(m);

	m->has_sends = true;
	if (m->sent == SEND_INIT)
		DO_LARGE(MPI_Send_init, SEND_ARGUMENTS, &m->sends);
	else if (m->sent == BSEND_INIT)
		DO_LARGE(MPI_Bsend_init, SEND_ARGUMENTS, &m->sends);
	else if (m->sent == SSEND_INIT)
		DO_LARGE(MPI_Ssend_init, SEND_ARGUMENTS, &m->sends);
	else if (m->sent == RSEND_INIT)
		DO_LARGE(MPI_Rsend_init, SEND_ARGUMENTS, &m->sends);
#if MPI_VERSION >= 4
	else
		DO(MPI_Psend_init, p, m->parts, m->count / m->parts, kinds[m->kind].type,
			peer_in(m, m->to), m->tag, m->on->comm, MPI_INFO_NULL, &m->sends);
#endif
}

static void parts_ready(const struct message *m)
{
#if MPI_VERSION >= 4
	int list[4], n = 0;

	if (m->sent != PSEND)
		return;
	switch (own_pick(3)) {
	case 0:
		DO(MPI_Pready_range, 0, m->parts - 1, m->sends);
		return;
	case 1:
		for (int i = m->parts - 1; i >= 0; i--)
			list[n++] = i;
		DO(MPI_Pready_list, n, list, m->sends);
		return;
	default:
		for (int i = m->parts - 1; i >= 0; i--)
			DO(MPI_Pready, i, m->sends);
	}
#else
	(void)m;
#endif
}

static void start_send(struct message *m)
{
	if (own_pick(2))
		DO(MPI_Start, &m->sends);
	else
		DO(MPI_Startall, 1, &m->sends);
	sent(m);
	parts_ready(m);
	open_request(m->sends, m->sent == PSEND ? &partitioned : NULL);
}

static void isend(struct message *m)
{
	void *p = filled(m);
	MPI_Request request;

	switch (m->sent) {
	case IBSEND:
		DO_LARGE(MPI_Ibsend, SEND_ARGUMENTS, &request);
		break;
	case ISSEND:
		DO_LARGE(MPI_Issend, SEND_ARGUMENTS, &request);
		break;
	case IRSEND:
		DO_LARGE(MPI_Irsend, SEND_ARGUMENTS, &request);
		break;
	default:
		DO_LARGE(MPI_Isend, SEND_ARGUMENTS, &request);
		break;
	}
	sent(m);
	if (m->sent == ISEND_FREE)
		DO(MPI_Request_free, &request);
	else
		open_request(request, NULL);
}

static void blocking_send(const struct message *m)
{
	void *p = filled(m);

	switch (m->sent) {
	case BSEND:
		DO_LARGE(MPI_Bsend, SEND_ARGUMENTS);
		break;
	case SSEND:
		DO_LARGE(MPI_Ssend, SEND_ARGUMENTS);
		break;
	case RSEND:
		DO_LARGE(MPI_Rsend, SEND_ARGUMENTS);
		break;
	default:
		DO_LARGE(MPI_Send, SEND_ARGUMENTS);
		break;
	}
	sent(m);
}

void send_message(struct message *m)
{
	if (m->from != world_rank)
		return;
	if (m->sent >= SEND_INIT) {
		make_persistent_send(m);
		start_send(m);
	} else if (m->sent >= ISEND) {
		isend(m);
	} else {
		blocking_send(m);
	}
}

/* ---- receiving -------------------------------------------------------------------- */

static int source_of(const struct message *m)
{
	return m->any_source ? MPI_ANY_SOURCE : peer_in(m, m->from);
}

static int tag_of(const struct message *m)
{
	return m->any_tag ? MPI_ANY_TAG : m->tag;
}

static struct open wanted(const struct message *m, const void *p)
{
	return (struct open){.source = peer_in(m, m->from),
		.tag = m->tag,
		.count = m->count,
		.type = kinds[m->kind].type,
		.data = p,
		.first = m->tag};
}

static void received(const struct message *m)
{
	count_receive(m->on, m->from, bytes_of(m));
}

#define RECEIVE_ARGUMENTS                                                                          \
	p, m->count + m->spare, kinds[m->kind].type, source_of(m), tag_of(m), m->on->comm

static void make_persistent_receive(struct message *m, void *p)
{
	m->has_receives = true;
#if MPI_VERSION >= 4
	if (m->received == PRECV) {
		const int parts = own_pick(2) ? m->parts : 1;

		DO(MPI_Precv_init, p, parts, m->count / parts, kinds[m->kind].type,
			peer_in(m, m->from), m->tag, m->on->comm, MPI_INFO_NULL, &m->receives);
		return;
	}
#endif
	DO_LARGE(MPI_Recv_init, RECEIVE_ARGUMENTS, &m->receives);
}

static void irecv(struct message *m)
{
	const int bytes = (m->count + m->spare) * EXTENT_MAX;
	void *p = room(bytes);
	const struct open w = wanted(m, p);
	MPI_Request request;

	DO_LARGE(MPI_Irecv, RECEIVE_ARGUMENTS, &request);
	received(m);
	open_request(request, &w);
}

static void start_receives(struct message **some, int n)
{
	MPI_Request requests[MESSAGES_MAX];

	for (int i = 0; i < n; i++)
		requests[i] = some[i]->receives;
	if (n != 1 || own_pick(2)) {
		DO(MPI_Startall, n, requests);
	} else {
		DO(MPI_Start, requests);
	}
	for (int i = 0; i < n; i++) {
		const struct open w = wanted(some[i], NULL);

		received(some[i]);
		open_request(requests[i], some[i]->received == PRECV ? &partitioned : &w);
	}
}

void post_receives(struct message *all, int n, int again)
{
	struct message *some[MESSAGES_MAX];
	int k = 0;

	for (int i = 0; i < n; i++) {
		struct message *m = &all[i];

		if (m->to != world_rank || m->repeats <= again || (!again && !posts_before(m)))
			continue;
		if (m->received == RECV_INIT || m->received == PRECV) {
			if (!again)
				make_persistent_receive(
					m, room((m->count + m->spare) * EXTENT_MAX));
			some[k++] = m;
		} else {
			irecv(m);
		}
	}
	if (k)
		start_receives(some, k);
}

static void probe(const struct message *m, MPI_Status *s)
{
	int flag = 0;

	if (m->received == PROBE_RECV)
		DO(MPI_Probe, source_of(m), tag_of(m), m->on->comm, s);
	while (m->received == IPROBE_RECV && !flag) {
		DO(MPI_Iprobe, source_of(m), tag_of(m), m->on->comm, &flag, s);
		sched_yield();
	}
}

static void matched_probe(const struct message *m, MPI_Message *message, MPI_Status *s)
{
	int flag = 0;

	if (m->received == MPROBE_MRECV || m->received == MPROBE_IMRECV)
		DO(MPI_Mprobe, source_of(m), tag_of(m), m->on->comm, message, s);
	else
		while (!flag) {
			DO(MPI_Improbe, source_of(m), tag_of(m), m->on->comm, &flag, message, s);
			sched_yield();
		}
}

static void receive_matched(const struct message *m, void *p, const struct open *w)
{
	const int n = m->count + m->spare;
	MPI_Message message;
	MPI_Request request;
	MPI_Status probed;
	MPI_Status *s = own_pick(2) ? &probed : MPI_STATUS_IGNORE;

	matched_probe(m, &message, s);
	if (s != MPI_STATUS_IGNORE)
		check_status(w, s);
	if (m->received == MPROBE_MRECV || m->received == IMPROBE_MRECV) {
		DO_LARGE(MPI_Mrecv, p, n, kinds[m->kind].type, &message, MPI_STATUS_IGNORE);
		received(m);
		check_data(w);
	} else {
		DO_LARGE(MPI_Imrecv, p, n, kinds[m->kind].type, &message, &request);
		received(m);
		open_request(request, w);
	}
}

void receive_message(struct message *m)
{
	MPI_Status status, *s;
	struct open w;
	void *p;

	if (m->to != world_rank || posts_before(m))
		return;
	p = room((m->count + m->spare) * EXTENT_MAX);
	w = wanted(m, p);
	if (m->received >= MPROBE_MRECV) {
		receive_matched(m, p, &w);
		return;
	}
	s = own_pick(2) ? &status : MPI_STATUS_IGNORE;
	probe(m, &status);
	if (m->received == PROBE_RECV || m->received == IPROBE_RECV)
		check_status(&w, &status);
	DO_LARGE(MPI_Recv, RECEIVE_ARGUMENTS, s);
	received(m);
	if (s != MPI_STATUS_IGNORE)
		check_status(&w, s);
	check_data(&w);
}

/* ---- once more, and the end ---------------------------------------------------------- */

void repeat_messages(struct message *all, int n)
{
	for (int again = 1; again < 4; again++) {
		post_receives(all, n, again);
		for (int i = 0; i < n; i++) {
			struct message *m = &all[i];

			if (m->from != world_rank || m->repeats <= again)
				continue;
			if (m->sent >= SEND_INIT)
				start_send(m);
			else
				isend(m);
		}
		complete_all();
	}
	for (int i = 0; i < n; i++) {
		if (all[i].has_sends)
			DO(MPI_Request_free, &all[i].sends);
		if (all[i].has_receives)
			DO(MPI_Request_free, &all[i].receives);
	}
}
