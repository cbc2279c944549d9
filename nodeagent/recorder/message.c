/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the traffic of a process to messages in the sampling file, and from the
 * matcher to their senders. What a match is of has a number in the file once its
 * receive was told, which may be a moment after the match: so matches wait a
 * little. Those of what was not told are left out.
 */
#include "nodeagent/process/host.h"
#include "nodeagent/match/match.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/process/process.h"
#include "nodeagent/recorder/internal.h"
#include "nodeagent/replay/comm/listener.h"

/* Sides of an intercommunicator differ. */
static uint64_t comm_key(uint64_t id, uint32_t process, bool is_inter)
{
	return id ^ (is_inter ? (uint64_t)(process + 1) << 40 : 0);
}

/* Ranks of one job have the same number. */
static uint32_t on_comm(void *ctx, const struct vfd_comm *c)
{
	struct recorder_process *s = ctx;
	uint64_t key = comm_key(c->id, s->number, c->remote_size);
	uint32_t *number = map64_at(&s->recorder->comms, key, 0);

	if (!*number)
		*number = vfd_define_comm(s->recorder->writer, c);
	return *number;
}

/* Matches of its messages have the number that both sides have. */
static void on_link(void *ctx, const struct vfd_comm *c)
{
	struct recorder_process *s = ctx;

	if (!s->recorder->writer)
		return;
	*map64_at(&s->recorder->comms, comm_key(c->link, s->number, true), 0) = c->number;
	vfd_define_link(s->recorder->writer, c);
}

static uint32_t on_object(void *ctx, const struct vfd_object *o)
{
	struct recorder_process *s = ctx;
	uint32_t *number = map64_at(&s->objects, (uint64_t)o->kind << 32 | o->number, 0);

	if (!*number)
		*number = vfd_define_object(s->recorder->writer, o);
	return *number;
}

static void on_message(void *ctx, uint32_t thread, const struct vfd_message *m)
{
	struct recorder_process *s = ctx;
	struct vfd_message told = *m;

	if (thread >= s->n_threads || s->threads[thread].number == VFD_NONE)
		return;
	told.track = s->threads[thread].number;
	vfd_message(s->recorder->writer, s->threads[thread].track, &told);
}

static void on_neighbours(void *ctx, const struct vfd_neighbours *n)
{
	struct recorder_process *s = ctx;
	struct vfd_neighbours told = *n;

	told.process = s->number;
	vfd_define_neighbours(s->recorder->writer, &told);
}

static void on_lengths(void *ctx, const struct vfd_lengths *l)
{
	struct recorder_process *s = ctx;
	struct vfd_lengths told = *l;

	told.process = s->number;
	vfd_lengths(s->recorder->writer, &told);
}

static void on_wait(void *ctx, uint32_t thread, uint64_t key, const struct vfd_wait *wait)
{
	struct recorder_process *s = ctx;
	struct vfd_wait told = *wait;

	if (thread >= s->n_threads || s->threads[thread].number == VFD_NONE || !s->recorder->writer)
		return;
	told.track = s->threads[thread].number;
	told.function = recorder_function(s, key);
	vfd_wait(s->recorder->writer, &told);
}

/* The number of a thread's track in the file, or VFD_NONE. */
static uint32_t track_of(const struct recorder_process *s, uint32_t thread)
{
	return thread < s->n_threads ? s->threads[thread].number : VFD_NONE;
}

void recorder_thread_waited(struct process *p, const struct thread_wait *w)
{
	const struct recorder_process *s = p->sampled;
	struct vfd_lock_wait told = {.kind = w->kind,
		.start = (int64_t)w->from,
		.end = (int64_t)w->to,
		.goes_on = w->goes_on};

	if (!s || !s->recorder->writer)
		return;
	told.track = track_of(s, w->waiter);
	told.holder = track_of(s, w->holder);
	if (told.track != VFD_NONE && told.holder != VFD_NONE)
		vfd_lock_wait(s->recorder->writer, &told);
}

void recorder_listen(struct recorder_process *s)
{
	const struct traffic_listener listener = {.comm = on_comm,
		.link = on_link,
		.object = on_object,
		.message = on_message,
		.neighbours = on_neighbours,
		.lengths = on_lengths,
		.wait = on_wait,
		.ctx = s};

	traffic_listener_set(s->process->traffic, &listener);
}

/* ---- matches --------------------------------------------------------------------- */

static void write_match(struct recorder *s, const struct sampled_match *m)
{
	const uint32_t *process = map64_find(&s->proc_ids, m->proc_id), *comm;
	const uint64_t start = (uint64_t)m->start << 32;
	struct vfd_pair p = {.ticket = start | m->ticket,
		.partitioned = m->partitioned,
		.match = m->match,
		.sender_ticket = start | m->sender_ticket,
		.sender_thread = m->sender_thread};

	if (!process)
		return;
	comm = map64_find(&s->comms, comm_key(m->comm, *process, false));
	if (!comm)
		comm = map64_find(&s->comms, comm_key(m->comm, *process, true));
	if (!comm)
		return;
	p.process = *process;
	p.comm = *comm;
	vfd_pair(s->writer, &p);
}

void recorder_notify_matches(struct recorder *s)
{
	for (uint32_t i = 0; i < s->n_matches; i++)
		write_match(s, &s->matches[i]);
	s->n_matches = 0;
}

static void on_pair(
	void *arg, const struct match_send *send, const struct match_receive *r, unsigned label)
{
	static const enum vfd_match labels[MATCH_LABELS] = {[MATCH_EXACT] = VFD_MATCH_EXACT,
		[MATCH_AMBIGUOUS] = VFD_MATCH_AMBIGUOUS,
		[MATCH_ASSUMED] = VFD_MATCH_ASSUMED,
		[MATCH_BROKEN] = VFD_MATCH_BROKEN,
		[MATCH_GUESS] = VFD_MATCH_GUESS};
	struct recorder *s = arg;

	if (!s->writer || label >= MATCH_LABELS)
		return;
	/* all but the very last are of receives that were told */
	if (s->n_matches == SAMPLED_MATCHES)
		recorder_notify_matches(s);
	s->matches[s->n_matches++] = (struct sampled_match){.comm = r->comm,
		.proc_id = r->destination,
		.ticket = r->ticket,
		.sender_ticket = send->ticket,
		.sender_thread = send->thread,
		.start = r->start,
		.match = labels[label],
		.partitioned = r->flags & MATCH_PARTITIONED};
}

void recorder_listen_matches(struct recorder *s)
{
	const struct matching_listener listener = {.pair = on_pair, .arg = s};

	s->matches = xmalloc(SAMPLED_MATCHES * sizeof(*s->matches));
	matching_set_listener(s->host, &listener);
}
