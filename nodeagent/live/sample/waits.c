/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/requests.h"
#include "nodeagent/live/sample/unpublished.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/waiting.h"

#define LARGE_COUNT 1u /* in the id of a function: its form with large counts */
#define ROWS_MOST   16u

/* Requests that are alike, or one blocking message. */
struct row {
	struct message m; /* of the first one */
	uint32_t n;	  /* requests */
};

struct rows {
	const struct waiting_thread *who;
	size_t n;
	uint32_t of; /* that the thread may wait for */
	struct row at[ROWS_MOST];
	struct requests only; /* those that it waits for, if they are open; none: not known */
	struct message *done; /* by request */
	size_t n_done, cap_done;
};

enum call_kind { WAITS_FOR_REQUESTS = 1, RECEIVES };

static enum call_kind kind_of(uint32_t function)
{
	static const struct {
		uint32_t function;
		enum call_kind kind;
	} calls[] = {
		{VFTR_MPI_WAIT, WAITS_FOR_REQUESTS},
		{VFTR_MPI_WAITALL, WAITS_FOR_REQUESTS},
		{VFTR_MPI_WAITANY, WAITS_FOR_REQUESTS},
		{VFTR_MPI_WAITSOME, WAITS_FOR_REQUESTS},
		{VFTR_MPI_RECV, RECEIVES},
		{VFTR_MPI_PROBE, RECEIVES},
		{VFTR_MPI_MPROBE, RECEIVES},
		{VFTR_MPI_SENDRECV, RECEIVES},
		{VFTR_MPI_SENDRECV_REPLACE, RECEIVES},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].function == (function & ~LARGE_COUNT))
			return calls[i].kind;
	return 0;
}

/* ---- requests ---------------------------------------------------------------------------- */

ORDER_BY(by_request, struct message, RISING(request))

static bool is_done(const struct rows *r, uint32_t request)
{
	const size_t from = LOWER_BOUND(i, 0, r->n_done, r->done[i].request <= request);

	return from && request - r->done[from - 1].request <= r->done[from - 1].more;
}

static bool is_alike(const struct message *a, const struct message *b)
{
	return a->kind == b->kind && a->comm == b->comm && a->peer == b->peer &&
	       a->field == b->field && a->flags == b->flags && a->kind != RECORD_COLLECTIVE;
}

static void add_open(struct rows *r, const struct message *m)
{
	r->of += r->of < UINT32_MAX;
	for (size_t i = 0; i < r->n; i++)
		if (is_alike(&r->at[i].m, m)) {
			r->at[i].n++;
			return;
		}
	if (r->n < ROWS_MOST)
		r->at[r->n++] = (struct row){*m, 1};
}

static void take_done(void *ctx, const struct message *m)
{
	struct rows *r = ctx;

	if (m->kind == RECORD_DONE)
		*APPEND(r->done, r->n_done, r->cap_done) = *m;
}

static void take_open(void *ctx, const struct message *m)
{
	struct rows *r = ctx;

	if (m->kind != RECORD_DONE && (!r->only.n || requests_have(&r->only, m->request)) &&
		!is_done(r, m->request))
		add_open(r, m);
}

static void find_open(struct rows *r)
{
	const struct unpublished *u = r->who->words;
	const struct traffic_track *track = r->who->thread->track;

	traffic_requests(track, take_open, r);
	for (size_t i = 0; i < u->n_posted; i++)
		if (!traffic_is_over(track, u->posted[i].request))
			take_open(r, &u->posted[i]);
}

/* In MPI_Wait the thread may have said which one it is, now or in an earlier call; else its process
 * knows, as long as it is there. */
static void read_only(struct rows *r)
{
	const struct unpublished *u = r->who->words;

	if (r->who->function == VFTR_MPI_WAIT && u->receives &&
		u->receive.comm == MESSAGE_COMM_NONE) {
		r->only.number = xcalloc(1, sizeof(*r->only.number));
		r->only.number[r->only.n++] = u->receive.field;
	} else {
		requests_read(&r->only, r->who->thread, r->who->function);
	}
}

static void find_requests(struct rows *r)
{
	const struct unpublished *u = r->who->words;
	const struct traffic_track *track = r->who->thread->track;

	read_only(r);
	for (size_t i = 0; i < u->n_done; i++)
		take_done(r, &u->done[i]);
	traffic_requests(track, take_done, r);
	if (r->n_done)
		qsort(r->done, r->n_done, sizeof(*r->done), by_request);
	find_open(r);
	if (r->only.n && !r->of) {
		r->only.n = 0;
		find_open(r);
	}
	free(r->only.number);
	free(r->done);
}

/* ---- blocking calls -------------------------------------------------------------------------- */

/* MPI_Sendrecv may wait for either of two. */
static void add_blocking(struct rows *r, enum call_kind kind)
{
	const struct unpublished *u = r->who->words;
	struct message m;

	if (u->moved ? u->known : traffic_open_call(r->who->thread->track, &m) || u->known)
		r->at[r->n++] = (struct row){.m = u->known ? u->m : m};
	if (u->receives && kind == RECEIVES && u->receive.comm != MESSAGE_COMM_NONE)
		r->at[r->n++] = (struct row){.m = u->receive};
	r->of = (uint32_t)r->n;
}

/* ---- what is told of them ---------------------------------------------------------------------
 */

static void add_call(const struct rows *r, const struct message *m, struct where_place *place)
{
	const struct traffic *t = r->who->thread->process->traffic;
	struct traffic_group g;
	const char *name;

	if (!traffic_find_group(t, m->comm, &g))
		return;
	place->comm = g.id;
	place->call = m->ticket;
	place->kind = traffic_call_kind(m);
	if (!traffic_member(t, m->comm, m->peer, &place->root, &name))
		place->root = WHERE_ANY;
}

/* One row, if its peer is known. */
static void add_wait(
	const struct rows *r, const struct row *row, struct where *w, const struct where_place *p)
{
	const struct traffic *t = r->who->thread->process->traffic;
	const struct message *m = &row->m;
	struct where_wait wait = {.rank = r->who->rank,
		.kind = m->kind == RECORD_SEND ? WHERE_SEND : WHERE_RECEIVE,
		.peer = WHERE_ANY,
		.tag = m->flags & MESSAGE_ANY_TAG ? WHERE_ANY : m->field,
		.n = row->n,
		.of = r->of,
		.alone = r->who->alone,
		.since = p->since_most};
	struct traffic_group g;
	const char *name;

	if (!traffic_find_group(t, m->comm, &g) ||
		(!(m->flags & MESSAGE_ANY_SOURCE) &&
			!traffic_member(t, m->comm, m->peer, &wait.peer, &name)))
		return;
	wait.comm_id = g.id;
	snprintf(wait.comm, sizeof(wait.comm), "%s", g.name ? g.name : "");
	where_add_wait(w, &wait);
}

static void tell_rows(const struct rows *r, struct where *w, struct where_place *place)
{
	if (r->of == 1 && r->n && r->at[0].m.kind == RECORD_COLLECTIVE) {
		add_call(r, &r->at[0].m, place);
		return;
	}
	for (size_t i = 0; i < r->n && r->who->rank != WHERE_NO_RANK; i++)
		if (r->at[i].m.kind == RECORD_SEND || r->at[i].m.kind == RECORD_POST)
			add_wait(r, &r->at[i], w, place);
}

void waits_look(const struct waiting_thread *who, struct where *w, struct where_place *place)
{
	const enum call_kind kind = kind_of(who->function);
	struct rows r = {.who = who};

	if (!who->thread->process->traffic || !who->thread->track)
		return;
	if (kind == WAITS_FOR_REQUESTS) {
		find_requests(&r);
	} else {
		add_blocking(&r, kind);
	}
	tell_rows(&r, w, place);
}
