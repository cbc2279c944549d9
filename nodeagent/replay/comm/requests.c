/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests from their POST (or SEND, COLLECTIVE, RMA, FILE) to their DONE. The
 * two may be read in either order, as they may come from two threads; what a
 * DONE says is kept until then. The record of a matched probe and that of the
 * Imrecv that follows it carry the same number, and either may come first, too.
 */
#include <stdlib.h>
#include "mpi_id.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/trace/collective.h"

#define NONE UINT32_MAX

/* ---- open requests ----------------------------------------------------------- */

static struct request *find_open(struct traffic *t, uint32_t number)
{
	const uint32_t *i = map32_find(&t->requests.open, number);

	return i ? &t->requests.at[*i] : NULL;
}

static struct request *open_request(struct traffic *t, uint32_t number)
{
	struct requests *r = &t->requests;
	uint32_t i = r->free_at;

	if (i != NONE) {
		r->free_at = r->at[i].next_free;
	} else {
		r->at = grow(r->at, r->n, &r->cap, sizeof(*r->at));
		i = (uint32_t)r->n++;
	}
	map32_add(&r->open, number, i);
	return &r->at[i];
}

static void close_request(struct traffic *t, struct request *q)
{
	struct requests *r = &t->requests;

	if (q->track)
		q->track->n_open--;
	comm_drop(t, q->of.comm);
	map32_remove(&r->open, q->of.m.request);
	q->of.node = NULL; /* so it is not in use */
	q->next_free = r->free_at;
	r->free_at = (uint32_t)(q - r->at);
}

static uint32_t open_kind(const struct message *m)
{
	return m->kind == RECORD_SEND	? OPEN_SEND
	       : m->kind == RECORD_POST ? OPEN_RECEIVE
					: OPEN_OTHER;
}

/* What p has posted will be followed no more: it stays open. */
static void give_up(struct traffic *t, const struct pending *p)
{
	calltree_extra(p->node)->open[open_kind(&p->m)]++;
	t->requests.forgotten++;
}

static void forget_request(struct traffic *t, struct request *q)
{
	give_up(t, &q->of);
	close_request(t, q);
}

ORDER_BY(
	by_node, struct traffic_open, ORDER((uintptr_t)x->node, (uintptr_t)y->node) ?: RISING(kind))

struct traffic_open *traffic_open(const struct traffic *t, size_t *n)
{
	const struct requests *r = &t->requests;
	struct traffic_open *all = xcalloc(r->open.n, sizeof(*all));
	size_t found = 0, kept = 0;

	for (size_t i = 0; i < r->n && found < r->open.n; i++)
		if (r->at[i].of.node)
			all[found++] = (struct traffic_open){
				r->at[i].of.node, open_kind(&r->at[i].of.m), 1};
	if (found)
		qsort(all, found, sizeof(*all), by_node);
	for (size_t i = 1; i < found; i++)
		if (by_node(&all[kept], &all[i]))
			all[++kept] = all[i];
		else
			all[kept].requests++;
	*n = found ? kept + 1 : 0;
	return all;
}

void requests_move(struct traffic_track *l)
{
	struct requests *r = &l->traffic->requests;

	for (size_t i = 0; i < r->n && l->n_open; i++) {
		struct request *q = &r->at[i];

		if (!q->of.node || q->track != l)
			continue;
		if (!q->of.node->counterpart) { /* calltree_forget(): nobody counts it any more */
			close_request(l->traffic, q);
			r->forgotten++;
			continue;
		}
		q->of.node = q->of.node->counterpart;
		q->track = NULL;
		l->n_open--;
	}
}

void requests_moved(struct traffic_track *l, const struct node *from)
{
	struct requests *r = &l->traffic->requests;

	for (size_t i = 0; i < r->n && l->n_open; i++) {
		struct request *q = &r->at[i];

		if (q->of.node && q->track == l && calltree_is_below(q->of.node, from))
			q->of.node = q->of.node->counterpart;
	}
}

/* ---- early ones ------------------------------------------------------------------ */

static void drop_early(struct requests *r, uint32_t number)
{
	const uint32_t *at = map32_find(&r->early, number);
	uint32_t i;

	if (!at)
		return;
	i = *at;
	map32_remove(&r->early, number);
	r->early_at[i].c.m.request = 0;
	r->early_at[i].next_free = r->free_early;
	r->free_early = i;
}

static void keep_early(struct traffic *t, const struct completion *c)
{
	struct requests *r = &t->requests;
	uint32_t i;

	drop_early(r, c->m.request);
	if (r->early.n >= TRAFFIC_EARLY_MAX) { /* the next in turn, most likely the oldest */
		t->limits |= 1u << LIMIT_EARLY;
		r->hand = (r->hand + 1) % r->n_early;
		drop_early(r, r->early_at[r->hand].c.m.request);
	}
	i = r->free_early;
	if (i != NONE) {
		r->free_early = r->early_at[i].next_free;
	} else {
		r->early_at = grow(r->early_at, r->n_early, &r->cap_early, sizeof(*r->early_at));
		i = (uint32_t)r->n_early++;
	}
	r->early_at[i] = (struct early){.c = *c};
	map32_add(&r->early, c->m.request, i);
}

static struct early *find_early(struct traffic *t, uint32_t number)
{
	const uint32_t *i = map32_find(&t->requests.early, number);

	return i ? &t->requests.early_at[*i] : NULL;
}

/* The record of the probe with this number is still to come, and no longer counts. */
static void expect_probe(struct traffic *t, uint32_t number)
{
	struct completion c = {.m = {.kind = RECORD_POST, .request = number}};

	keep_early(t, &c);
}

/* ---- completion --------------------------------------------------------------------- */

static const char *receive_over(
	struct traffic *t, struct request *q, const struct message *done, uint64_t duration)
{
	const struct comm *c = q->of.comm;
	uint32_t peer;

	if (done->flags & MESSAGE_AS_POSTED)
		done = &q->of.m;
	/* without a wildcard the status can say nothing else */
	peer = q->of.m.flags & MESSAGE_ANY_SOURCE ? done->peer : q->of.m.peer;
	if (c && peer >= comm_ranks(c))
		return "a message from a rank that its communicator lacks";
	peer = comm_world(c, peer);
	sums_receive(t, &q->of, peer, done->bytes);
	sums_receive_time(t, &q->of, peer, done->bytes, duration);
	return NULL;
}

static void send_over(
	struct traffic *t, struct request *q, const struct message *done, uint64_t duration)
{
	uint32_t peer = comm_world(q->of.comm, q->of.m.peer);

	if (done->flags & MESSAGE_UNKNOWN)
		return;
	if (done->flags & MESSAGE_CANCELLED)
		sums_send_cancelled(t, &q->of, peer, q->of.m.bytes);
	else
		sums_send_time(t, &q->of, peer, q->of.m.bytes, duration);
}

static void rma_over(
	struct traffic *t, struct request *q, const struct message *done, uint64_t duration)
{
	const struct message *m = &q->of.m;
	uint32_t peer = comm_world(q->of.comm, m->peer);

	if (done->flags & MESSAGE_UNKNOWN)
		return;
	if (m->bytes)
		sums_send_time(t, &q->of, peer, m->bytes, duration);
	if (!m->bytes_received)
		return;
	sums_receive(t, &q->of, peer, m->bytes_received);
	sums_receive_time(t, &q->of, peer, m->bytes_received, duration);
}

/* What the node's messages have become, of a thread that has ended, since `before`. */
static void note_late(struct traffic *t, uint32_t thread, const struct node_messages *before,
	const struct node_messages *now)
{
	const uint32_t *at = map32_find(&t->late_at, thread + 1);
	struct traffic_thread *late;

	if (now->sends == before->sends && now->receives == before->receives)
		return;
	if (!at && t->n_late >= TRAFFIC_LATE_MAX) {
		t->limits |= 1u << LIMIT_THREADS;
		thread = PROFILE_NONE;
		at = map32_find(&t->late_at, NONE);
	}
	if (!at) {
		t->late = grow(t->late, t->n_late, &t->cap_late, sizeof(*t->late));
		t->late[t->n_late] = (struct traffic_thread){.thread = thread};
		map32_add(&t->late_at, thread == PROFILE_NONE ? NONE : thread + 1,
			(uint32_t)t->n_late);
		late = &t->late[t->n_late++];
	} else {
		late = &t->late[*at];
	}
	late->sends += now->sends - before->sends;
	late->receives += now->receives - before->receives;
	late->bytes_sent += now->bytes_sent - before->bytes_sent;
	late->bytes_received += now->bytes_received - before->bytes_received;
}

static void collective_over(struct traffic *t, struct request *q, const struct completion *c)
{
	if (!collective_is_meeting(q->of.m.field)) {
		sums_collective_over(t, &q->of);
		sums_collective_time(t, &q->of, ticks_between(q->of.since, c->ticks));
	}
	if (t->sync && q->of.comm && q->of.timed)
		sync_complete(t->sync, t, q, c);
}

/* The request is over: what it was for counts. */
static const char *finish_request(struct traffic *t, struct request *q, const struct completion *c)
{
	const struct message *done = &c->m;
	uint64_t duration = ticks_between(q->of.since, c->ticks);
	bool known = !(done->flags & (MESSAGE_CANCELLED | MESSAGE_UNKNOWN));
	const char *why = NULL;

	switch (q->of.m.kind) {
	case RECORD_SEND:
		send_over(t, q, done, duration);
		break;
	case RECORD_POST:
		if (known)
			why = receive_over(t, q, done, duration);
		break;
	case RECORD_COLLECTIVE:
		if (known)
			collective_over(t, q, c);
		break;
	case RECORD_RMA:
		rma_over(t, q, done, duration);
		break;
	case RECORD_FILE:
		if (!(done->flags & MESSAGE_CANCELLED))
			sums_file(t, &q->of,
				known && !(done->flags & MESSAGE_AS_POSTED) ? done->bytes
									    : q->of.m.bytes,
				duration);
		break;
	default:
		break;
	}
	return why;
}

static const char *complete_request(
	struct traffic *t, struct request *q, const struct completion *c)
{
	uint32_t number = q->of.m.request;
	bool probe_to_come = q->of.m.flags & MESSAGE_MATCHED && !q->probed;
	struct node *n = q->of.node;
	struct node_messages before = {0};
	const char *why;

	if (!q->track && n->extra)
		before = n->extra->messages;
	match_completion(t, q, c);
	why = finish_request(t, q, c);
	if (!why)
		listener_notify(t, q->thread, &q->of, &c->m, c->ticks);
	if (!q->track && n->extra)
		note_late(t, q->thread, &before, &n->extra->messages);
	close_request(t, q);
	if (probe_to_come)
		expect_probe(t, number);
	return why;
}

const char *request_done(struct traffic *t, const struct completion *c)
{
	struct request *q = find_open(t, c->m.request);

	if (q && !(q->probed && !q->taken))
		return complete_request(t, q, c);
	if (!c->in_pause) /* else its posting may not have been stored either */
		keep_early(t, c);
	return NULL;
}

uint64_t request_received(struct traffic *t, uint32_t number, uint64_t since)
{
	struct request *q = find_open(t, number);
	uint64_t before = 0;

	if (q) {
		before = ticks_between(q->of.since, since);
		close_request(t, q);
	} else {
		expect_probe(t, number);
	}
	return before;
}

void request_part(struct traffic *t, uint32_t number, uint64_t since)
{
	struct request *q = find_open(t, number);
	uint64_t after;

	if (!q || q->of.m.kind != RECORD_SEND)
		return;
	after = ticks_between(q->of.since, since);
	if (after > q->of.m.offset)
		q->of.m.offset = after;
}

/* ---- posting ---------------------------------------------------------------------------- */

bool is_matched_probe(const struct node *n)
{
	const uint32_t function = key_mpi(n->key) & ~LARGE_COUNT;

	return function == VFTR_MPI_MPROBE || function == VFTR_MPI_IMPROBE;
}

/* Is it the record of a probe that found a message, not that of its Imrecv? */
static bool is_probe(const struct pending *p, const struct request *open)
{
	if (p->m.kind != RECORD_POST || !(p->m.flags & MESSAGE_MATCHED))
		return false;
	if (key_mpi(p->node->key) >= vftr_mpi_n) /* not known: then by their order */
		return !open;
	return is_matched_probe(p->node);
}

static void fill_request(struct request *q, struct traffic_track *l, const struct pending *p)
{
	q->of = *p;
	q->track = l;
	q->thread = l->number;
	comm_hold(q->of.comm);
	l->n_open++;
}

/* The second of a probe and its Imrecv: the latter is what counts. */
static void pair_up(struct traffic_track *l, struct request *q, const struct pending *p, bool probe)
{
	if (!probe) {
		const uint64_t before = ticks_between(q->of.since, p->since);

		if (q->track)
			q->track->n_open--;
		comm_drop(l->traffic, q->of.comm);
		fill_request(q, l, p);
		q->of.m.offset = before;
	}
	q->probed = q->taken = true;
}

static struct request *post_anew(
	struct traffic_track *l, struct request *q, const struct pending *p, bool probe)
{
	struct traffic *t = l->traffic;

	if (q)
		forget_request(t, q);
	if (t->requests.open.n >= TRAFFIC_REQUESTS_MAX) {
		t->limits |= 1u << LIMIT_REQUESTS;
		give_up(t, p);
		return NULL;
	}
	q = open_request(t, p->m.request);
	fill_request(q, l, p);
	q->probed = probe;
	q->taken = !probe;
	return q;
}

const char *request_post(struct traffic_track *l, const struct pending *p)
{
	struct traffic *t = l->traffic;
	uint32_t number = p->m.request;
	struct request *q = find_open(t, number);
	const struct early *early = find_early(t, number);
	const bool is_over = early && early->c.m.kind == RECORD_DONE;
	bool probe = is_probe(p, q);
	struct completion c;

	if (probe && early && early->c.m.kind == RECORD_POST) {
		drop_early(&t->requests, number);
		return NULL;
	}
	if (q && p->m.kind == RECORD_POST && q->of.m.kind == RECORD_POST &&
		p->m.flags & q->of.m.flags & MESSAGE_MATCHED && (probe ? !q->probed : !q->taken))
		pair_up(l, q, p, probe);
	else
		q = post_anew(l, q, p, probe);
	if (!q || !q->taken || !is_over)
		return NULL;
	c = early->c;
	drop_early(&t->requests, number);
	return complete_request(t, q, &c);
}

void requests_free(struct traffic *t)
{
	for (size_t i = 0; i < t->requests.n; i++)
		if (t->requests.at[i].of.node)
			comm_drop(t, t->requests.at[i].of.comm);
	map32_free(&t->requests.open);
	map32_free(&t->requests.early);
	free(t->requests.at);
	free(t->requests.early_at);
}
