/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/comm.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/replay/window/exposure.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/neighbours.h"
#include "nodeagent/replay/comm/order.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/trace/collective.h"
#include "shm/session.h"

/* An order_found. */
static void count_ambiguous(void *ctx, const struct order_call *c, uint64_t n)
{
	struct traffic *t = ctx;
	struct traffic_comm *on = &t->sums.comms[c->sums];

	if (c->kind == ORDER_SEND) {
		t->sums.ambiguous_sends += n;
		on->ambiguous_sends += n;
	} else {
		t->sums.ambiguous_receives += n;
		on->ambiguous_receives += n;
	}
}

struct traffic *traffic_new(const struct conf *c, struct sync *sync)
{
	struct traffic *t = xcalloc(1, sizeof(*t));

	t->conf = c;
	t->sync = sync;
	t->all_causes = sync ? sync_causes(sync) : NULL;
	t->rank = WIRE_UNKNOWN;
	t->all_ranks = t->listed = !strcmp(c->mpi_only_for_ranks, "all");
	if (!t->all_ranks)
		t->ranges = rank_list_ranges(c->mpi_only_for_ranks, &t->n_ranges);
	t->order = order_new(count_ambiguous, t);
	t->requests.free_at = t->requests.free_early = UINT32_MAX;
	return t;
}

void traffic_free(struct traffic *t)
{
	if (!t)
		return;
	if (t->sync)
		sync_forget(t->sync, t);
	requests_free(t);
	causes_of_process_free(t);
	free(t->paths.at);
	match_probes_free(&t->probes);
	spawned_sources_free(t);
	comms_free(t);
	sums_free(t);
	order_free(t->order);
	map32_free(&t->late_at);
	free(t->late);
	free(t->ranges);
	free(t);
}

void traffic_rank(struct traffic *t, int rank, uint64_t job)
{
	t->rank = rank;
	t->job = job;
	sums_rank_changed(t);
}

uint64_t traffic_job(const struct traffic *t)
{
	return t->job;
}

_Static_assert(TRAFFIC_COMMS_MAX == 262144 && TRAFFIC_RUNS_MAX == 1048576 &&
		       TRAFFIC_REQUESTS_MAX == 1048576 && TRAFFIC_EARLY_MAX == 65536 &&
		       TRAFFIC_PEERS_MAX == 1048576 && TRAFFIC_SUMS_MAX == 4096 &&
		       TRAFFIC_LATE_MAX == 4096 && NEIGHBOURS_MAX == 65536 &&
		       PERSISTENT_MOST == 4096 && TRAFFIC_LENGTHS_MAX == 1048576,
	"the texts below");

const char *traffic_limit_reached(const struct traffic *t, unsigned i)
{
	static const char *const texts[LIMITS] = {
		[LIMIT_COMMS] = "it has more communicators than are kept (262144, of 1048576 runs "
				"of ranks): peers in the others are not known",
		[LIMIT_NEIGHBOURS] =
			"it has more neighbours than are kept (65536 in one direction, 1048576 "
			"runs of ranks with those of communicators): messages with them "
			"are not in the matrix of communication",
		[LIMIT_PERSISTENT] =
			"it makes more persistent collective calls with lengths of their own on a "
			"communicator than are kept (4096, those with lengths in both directions "
			"count twice): if the oldest are still started, their lengths are not "
			"known",
		[LIMIT_LENGTHS] =
			"collective calls that it has not ended have more lengths of messages than "
			"are kept (1048576): messages of the others between neighbours are not in "
			"the matrix of communication, and with mpi.only_for_ranks the others count "
			"as messages of equal lengths",
		[LIMIT_GONE] = "it frees communicators faster than all its threads are read: "
			       "some peers are not known",
		[LIMIT_REQUESTS] = "it has more open requests than are kept (1048576): the others "
				   "count as never completed",
		[LIMIT_EARLY] = "more requests than are kept (65536) were completed by other "
				"threads than posted them: some count as never completed",
		[LIMIT_PEERS] = "it has more peers than are kept (1048576): the others are one",
		[LIMIT_COMM_SUMS] = "it uses more communicators than are listed (4096): the rest "
				    "is listed as others",
		[LIMIT_FILE_SUMS] =
			"it opens more files than are listed (4096): the rest is listed as others",
		[LIMIT_ORDER] = "threads communicate at the same time in longer calls than are "
				"compared: there may be more ambiguous messages",
		[LIMIT_THREADS] = "more threads than are kept (4096) ended before their requests: "
				  "their messages are those of others",
	};

	for (unsigned k = 0; k < LIMITS; k++)
		if (t->limits & 1u << k && !i--)
			return texts[k];
	return NULL;
}

uint64_t traffic_open_requests(const struct traffic *t)
{
	return t->requests.open.n + t->requests.forgotten;
}

const struct traffic_sums *traffic_sums(const struct traffic *t)
{
	return &t->sums;
}

LIST_GETTER(traffic_late, struct traffic, struct traffic_thread, late)

bool traffic_in_use(const struct traffic *t)
{
	return t->numbers[0].highest || t->numbers[1].highest || t->numbers[2].highest;
}

/* ---- tracks ---------------------------------------------------------------- */

struct traffic_track *traffic_track_new(struct traffic *t, struct calltree *tree)
{
	struct traffic_track *l = xcalloc(1, sizeof(*l));

	l->traffic = t;
	l->tree = tree;
	l->number = t->tracks_ever++;
	t->n_tracks++;
	return l;
}

static inline void drop_pending(struct traffic_track *l, size_t from)
{
	for (size_t i = from; i < l->n; i++)
		comm_drop(l->traffic, l->pending[i].comm);
	l->traffic->n_pending -= l->n - from;
	l->n = from;
}

void traffic_track_end(struct traffic_track *l, struct calltree *past)
{
	struct traffic *t = l->traffic;

	drop_pending(l, 0);
	if (l->activity)
		thread_activity_end(l->activity, past);
	requests_move(l);
	paths_move(l);
	if (t->sync)
		sync_move(t->sync, l, past);
	if (!--t->n_tracks) {
		order_settle(t->order);
		t->limits |= (unsigned)order_incomplete(t->order) << LIMIT_ORDER;
	}
	free(l->pending);
	free(l->probes);
	free(l);
}

void traffic_track_moved(struct traffic_track *l, const struct node *from)
{
	l->n_probes = 0; /* some may have moved, and are over for long */
	requests_moved(l, from);
	paths_moved(l, from);
	if (l->traffic->sync)
		sync_moved(l->traffic->sync, l, from);
}

void traffic_lost(struct traffic *t)
{
	t->lost = true;
}

void traffic_track_lost(struct traffic_track *l)
{
	traffic_lost(l->traffic);
}

bool traffic_pending(const struct traffic_track *l)
{
	return l->n > 0;
}

/* ---- from a record to what is pending --------------------------------------- */

static const char *check_rank(const struct comm *c, uint32_t rank)
{
	return c && rank >= comm_ranks(c) ? "a message with a rank that its communicator lacks"
					  : NULL;
}

/* The numbers in a record: p->comm is found and held, a file's is made an index. */
static const char *look_up(struct traffic *t, struct pending *p)
{
	const struct message *m = &p->m;
	struct comm *c = NULL;
	const char *why = NULL;

	p->comm = NULL;
	switch (m->kind) {
	case RECORD_SEND:
	case RECORD_RECV:
		why = find_comm(t, m->comm, &c);
		if (!why)
			why = check_rank(c, m->peer);
		break;
	case RECORD_POST:
		why = find_comm(t, m->comm, &c);
		if (!why && !(m->flags & MESSAGE_ANY_SOURCE))
			why = check_rank(c, m->peer);
		break;
	case RECORD_COLLECTIVE:
		why = find_comm(t, m->comm, &c);
		break;
	case RECORD_RMA:
		why = find_window(t, m->comm, &c);
		if (!why)
			why = check_rank(c, m->peer);
		break;
	case RECORD_EPOCH:
		why = find_window(t, m->comm, &c);
		p->m.bytes = c ? window_id(t, m->comm) : 0;
		break;
	case RECORD_FILE:
		return find_file(t, m->comm, &p->m.comm);
	default:
		break;
	}
	p->comm = why ? NULL : comm_hold(c);
	return why;
}

/* The call has failed: what it has recorded did not take place. What it has
 * completed is complete. */
static void fail_call(struct traffic_track *l, const struct traffic_frame *f, uint64_t now)
{
	size_t from = l->n, to;

	while (from && l->pending[from - 1].level == f->level &&
		l->pending[from - 1].depth == f->depth)
		from--;
	to = from;
	for (size_t i = from; i < l->n; i++) {
		if (l->pending[i].m.kind == RECORD_DONE) {
			l->pending[to++] = l->pending[i];
			continue;
		}
		match_call(l, &l->pending[i], now, true);
		comm_drop(l->traffic, l->pending[i].comm);
	}
	l->traffic->n_pending -= l->n - to;
	l->n = to;
}

/* ---- what a frame told, when it is over --------------------------------------- */

/* The function of MPI as which a logged operation is shown. */
static uint32_t logged_function(uint32_t function)
{
	static const uint32_t ids[SESSION_COLLECTIVES] = {
		[SESSION_BARRIER] = VFTR_MPI_BARRIER,
		[SESSION_BROADCAST] = VFTR_MPI_BCAST,
		[SESSION_REDUCE] = VFTR_MPI_REDUCE,
		[SESSION_ALLREDUCE] = VFTR_MPI_ALLREDUCE,
		[SESSION_GATHER] = VFTR_MPI_GATHER,
		[SESSION_ALLGATHER] = VFTR_MPI_ALLGATHER,
		[SESSION_SCATTER] = VFTR_MPI_SCATTER,
		[SESSION_ALLTOALL] = VFTR_MPI_ALLTOALL,
	};

	if (function < SESSION_FUNCTION || function - SESSION_FUNCTION >= SESSION_COLLECTIVES)
		return function;
	return ids[function - SESSION_FUNCTION];
}

/* Whether the waits of a call that is over are looked at. */
static bool is_compared(const struct traffic *t, const struct pending *p)
{
	return t->sync && p->timed && p->comm && key_mpi(p->node->key) != KEY_NO_MPI;
}

/* A call on a window that is over. */
struct window_call {
	struct traffic_track *l;
	const struct pending *p;
	uint64_t until;
};

static void meet_one(void *arg, const struct exposure_pair *pair)
{
	const struct window_call *c = arg;

	sync_meet(c->l->traffic->sync, c->l, c->p, c->until, pair);
}

static void settle_epoch(struct traffic_track *l, const struct pending *p, uint64_t ticks)
{
	struct window_call c = {l, p, ticks};
	struct traffic *t = l->traffic;

	if (!is_compared(t, p))
		return;
	sync_arrive_at_window(t->sync, l, p, ticks);
	window_locks_call(sync_window_locks(t->sync), l, p, ticks);
	exposure_pairs(&t->exposures,
		&(struct exposure_call){.window = p->m.comm,
			.function = p->m.field & ~LARGE_COUNT,
			.epoch = p->m.ticket,
			.self = p->comm->rank,
			.other = p->m.peer,
			.ranks = comm_ranks(p->comm)},
		meet_one, &c);
}

static const char *settle_collective(
	struct traffic_track *l, const struct pending *p, uint64_t ticks)
{
	struct traffic *t = l->traffic;

	/* these have no messages, and the higher numbers */
	if (p->m.field >= VFTR_MPI_COMM_COMPARE && collective_is_meeting(p->m.field)) {
		if (p->comm && p->comm->joins)
			spawned_made_from(t, p->comm, p->m.field);
		if (p->m.request)
			return request_post(l, p);
		if (is_compared(t, p))
			sync_arrive(t->sync, l, p, ticks);
		return NULL;
	}
	if (p->comm && p->comm->topology)
		neighbours_count(t, p);
	if (p->timed && !p->m.request) {
		sums_collective_call(t, p, ticks_between(p->since, ticks));
	} else {
		sums_collective(t, p);
		if (p->m.request)
			return request_post(l, p);
		sums_collective_over(t, p);
		return NULL;
	}
	if (is_compared(t, p))
		sync_arrive(t->sync, l, p, ticks);
	return NULL;
}

/* A send, or a receive that was posted, is compared with those of other threads. As long as there
 * is one only there are none: a thread is known before what it calls, and before what others have
 * called since. */
static void note_order(struct traffic_track *l, const struct pending *p, uint64_t ticks)
{
	struct traffic *t = l->traffic;
	const struct message *m = &p->m;
	struct order_call c;
	uint32_t sums;

	if (!p->timed || !m->comm || !t->listed || m->flags & MESSAGE_PARTITIONED ||
		(m->flags & MESSAGE_MATCHED && !is_matched_probe(p->node)))
		return;
	sums = sums_of_comm(t, p->comm);
	if (t->tracks_ever == 1)
		return;
	c = (struct order_call){.since = p->since,
		.until = ticks,
		.track = l->number,
		.comm = m->comm,
		.peer = m->peer,
		.tag = m->field,
		.sums = sums,
		.kind = m->kind == RECORD_SEND ? ORDER_SEND : ORDER_RECEIVE};
	if (c.kind == ORDER_RECEIVE) {
		c.any_source = m->flags & MESSAGE_ANY_SOURCE;
		c.any_tag = m->flags & MESSAGE_ANY_TAG;
		c.peer = c.any_source ? 0 : c.peer;
		c.tag = c.any_tag ? 0 : c.tag;
	}
	order_add(t->order, &c);
}

static const char *settle_rma(struct traffic_track *l, const struct pending *p, uint64_t ticks)
{
	struct traffic *t = l->traffic;
	uint32_t peer = comm_peer(p->comm, p->m.peer);
	uint64_t duration = ticks_between(p->since, ticks);

	if (p->m.bytes)
		sums_send(t, p, peer, p->m.bytes);
	if (p->m.request)
		return request_post(l, p);
	if (p->m.bytes_received)
		sums_receive(t, p, peer, p->m.bytes_received);
	if (p->timed && p->m.bytes)
		sums_send_time(t, p, peer, p->m.bytes, duration);
	if (p->timed && p->m.bytes_received)
		sums_receive_time(t, p, peer, p->m.bytes_received, duration);
	return NULL;
}

static const char *count_pending(struct traffic_track *l, struct pending *p, uint64_t ticks)
{
	struct traffic *t = l->traffic;
	uint64_t duration = ticks_between(p->since, ticks);
	uint32_t peer;
	bool in_pause;

	switch (p->m.kind) {
	case RECORD_SEND:
		peer = comm_peer(p->comm, p->m.peer);
		if (p->timed && !p->m.request)
			sums_send_call(t, p, peer, p->m.bytes, duration);
		else
			sums_send(t, p, peer, p->m.bytes);
		note_order(l, p, ticks);
		match_call(l, p, ticks, false);
		return p->m.request ? request_post(l, p) : NULL;
	case RECORD_RECV:
		note_order(l, p, ticks);
		match_call(l, p, ticks, false);
		peer = comm_peer(p->comm, p->m.peer);
		if (p->m.request)
			p->m.offset = request_received(t, p->m.request, p->since);
		if (p->timed)
			sums_receive_call(t, p, peer, p->m.bytes, duration);
		else
			sums_receive(t, p, peer, p->m.bytes);
		return NULL;
	case RECORD_POST:
		note_order(l, p, ticks);
		match_call(l, p, ticks, false);
		return request_post(l, p);
	case RECORD_DONE: /* in a pause nobody is known to have waited */
		in_pause = p->node->key == KEY_PAUSE;
		return request_done(
			t, &(struct completion){p->m, in_pause ? ticks : p->since, ticks, l->number,
				   path_number(l, p->node), in_pause});
	case RECORD_COLLECTIVE:
		return settle_collective(l, p, ticks);
	case RECORD_RMA:
		return settle_rma(l, p, ticks);
	case RECORD_EPOCH:
		settle_epoch(l, p, ticks);
		return NULL;
	case RECORD_FILE:
		if (p->m.request)
			return request_post(l, p);
		sums_file(t, p, p->m.bytes, p->timed ? duration : 0);
		return NULL;
	default:
		return NULL;
	}
}

/* Settles a record at the end of its frame; one with a request is reported when that ends. */
static const char *settle_pending(struct traffic_track *l, struct pending *p, uint64_t ticks)
{
	const char *why = count_pending(l, p, ticks);

	if (!why && p->m.kind != RECORD_POST && p->m.kind != RECORD_DONE &&
		(!p->m.request || p->m.kind == RECORD_RECV))
		listener_notify(l->traffic, l->number, p, NULL, ticks);
	return why;
}

/* The place of the next one, of any content. */
static inline struct pending *next_pending(struct traffic_track *l)
{
	l->pending = grow(l->pending, l->n, &l->cap, sizeof(*l->pending));
	return &l->pending[l->n];
}

/* A record of a frame, taken apart: p is the next of those that are pending. */
static const char *take_message(
	struct traffic_track *l, struct pending *p, const struct traffic_frame *f, uint64_t now)
{
	struct traffic *t = l->traffic;
	const char *why = look_up(t, p);

	if (why)
		return why;
	switch (p->m.kind) {
	case RECORD_FAILED:
		fail_call(l, f, now);
		return NULL;
	case RECORD_PARTITION:
		request_part(t, p->m.request, p->since);
		match_part(t, &p->m, p->since);
		return NULL; /* nothing that is summed up */
	case RECORD_START:   /* of the record before it */
		if (l->n && l->pending[l->n - 1].m.request == p->m.request)
			l->pending[l->n - 1].m.start = p->m.start;
		return NULL;
	case RECORD_COLLECTIVE:
		if (p->comm)
			p->comm->called = p->m.ticket + 1;
		if (t->all_ranks)
			p->share = (struct share){
				p->m.sends, p->m.receives, p->m.bytes, p->m.bytes_received};
		else
			share_collective(t, p);
		break;
	default:
		break;
	}
	if (f->call && t->n_pending < TRAFFIC_PENDING_MAX) {
		l->n++;
		t->n_pending++;
		return NULL;
	}
	p->timed = false;
	why = settle_pending(l, p, now);
	comm_drop(t, p->comm);
	return why;
}

/* All but the message and its communicator. */
static void set_pending(struct pending *p, const struct traffic_frame *f, uint64_t now)
{
	p->node = f->node;
	p->since = f->call ? f->since : now;
	p->depth = f->depth;
	p->level = f->level;
	p->stack = f->stack;
	p->timed = f->call;
	p->entered = f->entered;
}

/* Requests with successive numbers are over. */
static const char *take_more(
	struct traffic_track *l, struct pending *p, const struct traffic_frame *f, uint64_t now)
{
	struct pending one = *p;
	uint32_t more = p->m.more;
	const char *why;

	p->m.more = one.m.more = 0;
	why = take_message(l, p, f, now);
	for (; more && !why; more--) {
		one.m.request++;
		p = next_pending(l);
		*p = one;
		why = take_message(l, p, f, now);
	}
	return why;
}

const char *traffic_record(
	struct traffic_track *l, const uint64_t *words, const struct traffic_frame *f, uint64_t now)
{
	struct pending *p = next_pending(l);

	if (!message_read(words, &p->m))
		return "a record of communication that contradicts its format";
	if ((p->m.kind == RECORD_POST || p->m.kind == RECORD_DONE) && !p->m.request)
		return "a request without a number";
	if (p->m.kind == RECORD_LENGTHS)
		return traffic_lengths(l->traffic, words);
	if (p->m.kind == RECORD_EARLIER) {
		l->earlier = p->m.offset;
		return NULL;
	}
	set_pending(p, f, now);
	if (l->earlier && l->earlier < p->since)
		p->since = l->earlier;
	l->earlier = 0;
	if (p->m.kind == RECORD_COLLECTIVE)
		p->m.field = logged_function(p->m.field);
	return p->m.more ? take_more(l, p, f, now) : take_message(l, p, f, now);
}

const char *traffic_left(struct traffic_track *l, uint32_t level, uint64_t depth, uint64_t ticks)
{
	size_t from = l->n;
	const char *why = NULL;

	while (from && (l->pending[from - 1].level > level ||
			       (l->pending[from - 1].level == level &&
				       l->pending[from - 1].depth >= depth)))
		from--;
	for (size_t i = from; i < l->n && !why; i++)
		why = settle_pending(l, &l->pending[i], ticks);
	drop_pending(l, from);
	return why;
}
