/* SPDX-License-Identifier: BSD-3-Clause */
/* A round: messages and other operations, mixed; and those that need no drawing. */
#include "app-mpi-random.h"
#include "app-mpi-random-message.h"

#include <string.h>

#define NEVER_SENT 30000 /* a tag */

static int base_tag(void)
{
	return 1 + stream->round % 500 * 2 * MESSAGES_MAX;
}

/* ---- rings ---------------------------------------------------------------------- */

struct exchange {
	const struct group *on;
	int to, from; /* world ranks, or -1 */
	int tag, from_tag, kind, count;
	MPI_Comm comm;
};

static int rank_or_null(const struct exchange *x, int world)
{
	return world < 0 ? MPI_PROC_NULL : rank_in(x->on, world, NULL);
}

static struct open wanted(const struct exchange *x, const void *p)
{
	return (struct open){.source = x->from < 0 ? -1 : rank_in(x->on, x->from, NULL),
		.tag = x->from_tag,
		.count = x->from < 0 ? 0 : x->count,
		.type = kinds[x->kind].type,
		.data = x->from < 0 ? NULL : p,
		.first = x->from_tag};
}

static void exchanged(const struct exchange *x)
{
	if (x->to >= 0)
		count_send(x->on, x->to, (long long)x->count * kinds[x->kind].bytes);
	if (x->from >= 0)
		count_receive(x->on, x->from, (long long)x->count * kinds[x->kind].bytes);
}

#define OUT_ARGUMENTS	  out, x->count, type, to, x->tag
#define IN_ARGUMENTS	  in, x->count, type, from, x->from_tag, x->comm
#define REPLACE_ARGUMENTS out, x->count, type, to, x->tag, from, x->from_tag, x->comm

/* Receives and sends at once. */
static void exchange(const struct exchange *x)
{
	const long long bytes = (long long)x->count * EXTENT_MAX;
	const MPI_Datatype type = kinds[x->kind].type;
	const int to = rank_or_null(x, x->to);
	int from = x->from >= 0 && !own_pick(3) ? MPI_ANY_SOURCE : rank_or_null(x, x->from);
	void *out = memset(room(bytes), x->tag, (size_t)bytes), *in = room(bytes);
	const struct open into_in = wanted(x, in), into_out = wanted(x, out);
	/*
	 * MPI_Isendrecv of MPICH 4.0 may stop in a ring, breaks on derived types and
	 * where both ends are MPI_PROC_NULL, and returns another message's status.
	 */
	const bool both = MPI_VERSION >= 4 && x->kind < KIND_BASIC &&
			  (x->to == world_rank || (x->to < 0) != (x->from < 0));
	const int how = own_pick(both ? 5 : 3);
	MPI_Request request;
	MPI_Status status, *s = own_pick(2) ? &status : MPI_STATUS_IGNORE;

	if (how > 2)
		from = rank_or_null(x, x->from);
	switch (how) {
	case 0:
		DO_LARGE(MPI_Sendrecv, OUT_ARGUMENTS, IN_ARGUMENTS, s);
		exchanged(x);
		if (s != MPI_STATUS_IGNORE)
			check_status(&into_in, s);
		check_data(&into_in);
		return;
	case 1:
		DO_LARGE(MPI_Sendrecv_replace, REPLACE_ARGUMENTS, s);
		exchanged(x);
		if (s != MPI_STATUS_IGNORE)
			check_status(&into_out, s);
		check_data(&into_out);
		return;
#if MPI_VERSION >= 4
	case 3:
		DO_LARGE(MPI_Isendrecv, OUT_ARGUMENTS, IN_ARGUMENTS, &request);
		exchanged(x);
		open_request(request, NULL);
		return;
	case 4:
		DO_LARGE(MPI_Isendrecv_replace, REPLACE_ARGUMENTS, &request);
		exchanged(x);
		open_request(request, NULL);
		return;
#endif
	default:
		DO(MPI_Irecv, IN_ARGUMENTS, &request);
		if (x->from >= 0)
			count_receive(x->on, x->from, (long long)x->count * kinds[x->kind].bytes);
		open_request(request, &into_in);
		DO(MPI_Isend, OUT_ARGUMENTS, x->comm, &request);
		if (x->to >= 0)
			count_send(x->on, x->to, (long long)x->count * kinds[x->kind].bytes);
		open_request(request, NULL);
	}
}

/* The ranks between two sides in pairs, or those of one side in a ring or a chain. */
static void neighbours_in(struct exchange *x, int stride, bool ring)
{
	const struct group *g = x->on;
	const int side = far_side(g, g->side), n = g->n[side];
	int to = g->rank, from = g->rank;

	if (!is_inter(g)) {
		to = g->rank + stride;
		from = g->rank - stride;
		if (ring) {
			to %= n;
			from = (from + n) % n;
		}
	}
	x->to = to >= 0 && to < n ? g->world[side][to] : -1;
	x->from = from >= 0 && from < n ? g->world[side][from] : -1;
}

static void ring(const struct group *g, MPI_Comm comm, int tag)
{
	struct exchange x = {.on = g, .tag = tag, .from_tag = tag, .comm = comm};
	const int stride = pick(g->n[0]);
	const bool closed = pick(2);

	x.kind = pick(KINDS);
	x.count = pick(5) ? pick(40) : pick(6000);
	if (g->rank < 0)
		return;
	neighbours_in(&x, stride, closed);
	exchange(&x);
}

/* On a communicator that is freed while the messages are on their way. */
static void temporary(int tag)
{
	struct group g = *pick_group(NULL);
	MPI_Comm comm = MPI_COMM_NULL;

	snprintf(g.name, sizeof(g.name), "temporary.%d", stream->thread);
	if (g.rank >= 0) {
		DO(MPI_Comm_dup, g.comm, &comm);
		DO(MPI_Comm_set_name, comm, g.name);
	}
	ring(&g, comm, tag);
	if (g.rank >= 0)
		DO(MPI_Comm_free, &comm);
}

/* ---- of one rank ------------------------------------------------------------------- */

static void cancel(void)
{
	const struct group *g = &stream->groups[own_pick(stream->n_groups)];
	const struct open w = {.source = -1, .cancelled = true};
	const int source = own_pick(2) ? MPI_ANY_SOURCE : 0;
	MPI_Request request;
	MPI_Status s;

	if (g->rank < 0)
		return;
	if (own_pick(3)) {
		DO(MPI_Irecv, room(8), 8, MPI_BYTE, source, NEVER_SENT, g->comm, &request);
		DO(MPI_Cancel, &request);
		DO(MPI_Wait, &request, &s);
		check_status(&w, &s);
		return;
	}
	DO(MPI_Recv_init, room(8), 8, MPI_BYTE, source, NEVER_SENT, g->comm, &request);
	for (int i = own_pick(3); i >= 0; i--) {
		DO(MPI_Start, &request);
		DO(MPI_Cancel, &request);
		DO(MPI_Wait, &request, &s);
		check_status(&w, &s);
	}
	DO(MPI_Request_free, &request);
}

static void nowhere(void)
{
	const struct group *g = &stream->groups[own_pick(stream->n_groups)];
	const struct open w = {.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG, .type = MPI_BYTE};
	MPI_Message message;
	MPI_Request request;
	MPI_Status s;
	void *p = room(64);

	if (g->rank < 0)
		return;
	switch (own_pick(6)) {
	case 0:
		DO(MPI_Send, p, 10, MPI_BYTE, MPI_PROC_NULL, 1, g->comm);
		break;
	case 1:
		DO(MPI_Recv, p, 10, MPI_BYTE, MPI_PROC_NULL, 1, g->comm, &s);
		check_status(&w, &s);
		break;
	case 2:
		DO(MPI_Isend, p, 10, MPI_BYTE, MPI_PROC_NULL, 1, g->comm, &request);
		open_request(request, NULL);
		break;
	case 3:
		DO(MPI_Irecv, p, 10, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, g->comm, &request);
		open_request(request, &w);
		break;
	case 4:
		DO(MPI_Mprobe, MPI_PROC_NULL, MPI_ANY_TAG, g->comm, &message, &s);
		DO(MPI_Mrecv, p, 10, MPI_BYTE, &message, &s);
		check_status(&w, &s);
		break;
	default:
		DO(MPI_Ssend_init, p, 10, MPI_BYTE, MPI_PROC_NULL, 1, g->comm, &request);
		DO(MPI_Start, &request);
		DO(MPI_Wait, &request, MPI_STATUS_IGNORE);
		DO(MPI_Request_free, &request);
	}
}

/* On MPI_COMM_SELF, which is another communicator on each rank. */
static void to_oneself(void)
{
	static _Thread_local struct group self = {.comm = MPI_COMM_NULL, .n = {1, 0}};
	struct exchange x = {.on = &self, .to = world_rank, .from = world_rank, .tag = 5};

	snprintf(self.name, sizeof(self.name), "MPI_COMM_SELF");
	self.world[0][0] = world_rank;
	x.comm = self.comm = MPI_COMM_SELF;
	x.from_tag = 5;
	x.kind = own_pick(KINDS);
	x.count = own_pick(50);
	exchange(&x);
}

/* ---- a round ------------------------------------------------------------------------- */

enum operation { MESSAGE, RING, COLLECTIVE, ONE_SIDED, TEMPORARY, CANCEL, NOWHERE, ONESELF };

static enum operation draw_operation(void)
{
	static const enum operation others[] = {RING, RING, COLLECTIVE, COLLECTIVE, COLLECTIVE,
		ONE_SIDED, TEMPORARY, CANCEL, NOWHERE, ONESELF};

	return pick(3) ? MESSAGE : others[pick(sizeof(others) / sizeof(others[0]))];
}

static void barrier(void)
{
	DO(MPI_Barrier, stream->groups[0].comm);
	count_collective(&stream->groups[0], &(struct tally){0});
}

static void operate(enum operation what, int tag)
{
	const struct group *g;

	switch (what) {
	case RING:
		g = pick_group(NULL);
		ring(g, g->comm, tag);
		break;
	case COLLECTIVE:
		collective();
		break;
	case ONE_SIDED:
		one_sided();
		break;
	case TEMPORARY:
		temporary(tag);
		break;
	case CANCEL:
		cancel();
		break;
	case NOWHERE:
		nowhere();
		break;
	default:
		if (!stream->thread)
			to_oneself();
	}
}

void round_of_messages(void)
{
	const int n = 1 + pick(MESSAGES_MAX);
	const bool ready = !pick(4), alone = !pick(6);
	enum operation operations[MESSAGES_MAX];
	struct message messages[MESSAGES_MAX];
	int k = 0;
	bool rings = false;

	for (int i = 0; i < n; i++) {
		operations[i] = draw_operation();
		rings |= operations[i] == RING;
		if (operations[i] == MESSAGE)
			draw_message(&messages[k++], base_tag() + i, ready);
	}
	if (!rings)
		draw_wildcards(messages, k, alone);
	if (alone)
		barrier();
	post_receives(messages, k, 0);
	if (ready)
		barrier();
	for (int i = 0, j = 0; i < n; i++) {
		if (operations[i] != MESSAGE) {
			operate(operations[i], base_tag() + MESSAGES_MAX + i);
			continue;
		}
		send_message(&messages[j]);
		receive_message(&messages[j++]);
	}
	complete_all();
	repeat_messages(messages, k);
	if (alone || stream->round % 8 == 7)
		barrier();
	rooms_free();
}
