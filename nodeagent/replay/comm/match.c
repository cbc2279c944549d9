/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives settled records to the matcher, with ids of processes in place of ranks. */
#include <string.h>

#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/match/probes.h"
#include "nodeagent/match/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/history.h"
#include "nodeagent/replay/comm/internal.h"

void traffic_match(struct traffic *t, struct match_process *match, uint64_t job)
{
	t->match = match;
	t->match_job = job;
}

void traffic_session(struct traffic *t, struct match_process *match, uint32_t rank, uint64_t job)
{
	t->session_rank = rank;
	t->session_match = match;
	t->session_job = job;
}

/* The id (match_proc_id()) of a rank in c, or in its remote group. */
static uint64_t place_of(const struct traffic *t, const struct comm *c, uint32_t rank)
{
	uint32_t world = rank < comm_ranks(c) ? comm_world(c, rank) : PROFILE_ELSEWHERE;

	return world == PROFILE_ELSEWHERE ? MATCH_ELSEWHERE
					  : match_proc_id(c->job ? c->job : t->match_job, world);
}

static enum match_send_mode send_mode(const struct node *n)
{
	switch (key_mpi(n->key) & ~LARGE_COUNT) {
	case VFTR_MPI_SEND:
	case VFTR_MPI_ISEND:
	case VFTR_MPI_SENDRECV:
	case VFTR_MPI_SENDRECV_REPLACE:
		return MATCH_SEND_STANDARD;
	case VFTR_MPI_SSEND:
	case VFTR_MPI_ISSEND:
		return MATCH_SEND_SYNCHRONOUS;
	default:
		return MATCH_SEND_OTHER;
	}
}

#define WAITED_FOR_BYTES 4096u /* shorter messages are sent at once, mostly */

/* Of what the thread did before it sent or received, if the other one may have waited on another
 * node. */
static uint32_t history_before(
	struct traffic_track *l, uint64_t since, const struct match_process *match, uint64_t peer)
{
	struct causes *c = l->traffic->all_causes;
	struct histories *h = c ? causes_histories(c) : NULL;

	if (!h || !l->activity || match_process_meets(match, peer))
		return 0;
	return history_note(h, l, since);
}

static bool is_waited_for(const struct pending *p)
{
	return p->m.kind == RECORD_SEND || p->m.bytes >= WAITED_FOR_BYTES;
}

/* ---- probes -------------------------------------------------------------------------------- */

bool traffic_asks_probes(const struct traffic_track *l)
{
	return l->traffic->conf->mpi_waits;
}

void traffic_probed(struct traffic_track *l, struct node *n, uint64_t enter, uint64_t leave)
{
	if (l->n_probes == PROBES_KEPT)
		memmove(l->probes, l->probes + 1, --l->n_probes * sizeof(l->probes[0]));
	*LIST_ADD(l, probes) = (struct probed){n, enter, leave};
}

const struct match_probe *traffic_probe(const struct traffic *t, uint32_t number)
{
	return match_probes_find(&t->probes, number);
}

/* The calls before a receive of the thread; the number of the last one, or 0. */
static __attribute__((noinline)) uint32_t take_probes(
	struct traffic_track *l, const struct message *posted)
{
	uint32_t before = 0;

	if (posted->flags & (MESSAGE_MATCHED | MESSAGE_PARTITIONED))
		return 0;
	for (size_t i = 0; i < l->n_probes; i++)
		before = match_probes_add(
			&l->traffic->probes, &(struct match_probe){.enter = l->probes[i].enter,
						     .leave = l->probes[i].leave,
						     .path = path_number(l, l->probes[i].node),
						     .before = before});
	l->n_probes = 0;
	return before;
}

/* -------------------------------------------------------------------------------------------- */

void match_call(struct traffic_track *l, const struct pending *p, uint64_t until, bool failed)
{
	const struct traffic *t = l->traffic;
	struct match_message m = {.m = &p->m,
		.since = p->since,
		.until = until,
		.thread = l->number,
		.failed = failed};

	struct match_process *match;

	if (!p->comm)
		return;
	match = p->comm->job ? t->session_match : t->match;
	if (!match)
		return;
	if (p->m.kind == RECORD_SEND)
		m.mode = send_mode(p->node);
	if (p->m.kind == RECORD_RECV || (m.mode != MATCH_SEND_OTHER && !p->m.request))
		m.path = path_number(l, p->node);
	m.probe = p->m.kind == RECORD_POST && p->m.flags & MESSAGE_MATCHED &&
		  is_matched_probe(p->node);
	if (m.probe && key_mpi(p->node->key) == VFTR_MPI_MPROBE)
		m.path = path_number(l, p->node);
	if (l->n_probes && p->m.kind == RECORD_RECV && !failed)
		m.probes = take_probes(l, &p->m);
	if (p->comm->joins) { /* where the other one is, it is too early to say */
		m.history =
			is_waited_for(p) ? history_before(l, p->since, match, MATCH_ELSEWHERE) : 0;
		if (spawned_match(l->traffic, p->comm, p->m.peer, NULL, &m))
			return;
	}
	m.comm = p->comm->id;
	m.peer = place_of(t, p->comm, p->m.peer);
	m.history = is_waited_for(p) ? history_before(l, p->since, match, m.peer) : 0;
	match_process_message(match, &m);
}

void match_part(const struct traffic *t, const struct message *m, uint64_t since)
{
	if (t->match)
		match_process_part(t->match, m->request, since);
	if (t->session_match)
		match_process_part(t->session_match, m->request, since);
}

void match_comm_gone(struct traffic *t, const struct comm *c)
{
	if (t->match)
		match_process_comm_gone(
			t->match, spawned_told(c), (uint64_t)c->size + c->remote_size);
}

void match_completion(struct traffic *t, const struct request *q, const struct completion *c)
{
	struct match_message m = {.m = &c->m,
		.comm = q->of.comm ? q->of.comm->id : 0,
		.peer = q->of.comm ? place_of(t, q->of.comm, c->m.peer) : MATCH_ELSEWHERE,
		.since = c->since,
		.until = c->ticks,
		.thread = c->thread,
		.path = c->path};

	if (!t->match || !q->of.comm)
		return;
	if (q->track && q->track->n_probes && q->of.m.kind == RECORD_POST &&
		!(c->m.flags & (MESSAGE_CANCELLED | MESSAGE_UNKNOWN)))
		m.probes = take_probes(q->track, &q->of.m);
	if (!q->of.comm->joins || !spawned_match(t, q->of.comm, c->m.peer, &q->of.m, &m))
		match_process_done(t->match, &q->of.m, &m);
}
