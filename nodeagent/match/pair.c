/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives as they are kept, and pairs and leftovers as they are told. */
#include <stddef.h>
#include "nodeagent/match/internal.h"

/* ---- sends and receives ----------------------------------------------------------- */

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return is_later(a, b) ? a : b;
}

struct send *send_make(struct match *m, const struct match_send *from)
{
	struct send *s;

	if (m->sends.used >= MATCH_SENDS_MAX) {
		m->counts.overflow++;
		return NULL;
	}
	s = match_pool_take(&m->sends);
	s->call.position = from->ticket;
	s->call.enter = from->enter;
	s->call.leave = later_of(from->enter, from->leave);
	s->call.peer = from->source;
	s->call.tag = from->tag;
	s->call.thread = from->thread;
	s->call.flags = from->flags;
	s->comm = from->comm;
	s->destination = from->destination;
	s->bytes = from->bytes;
	s->done_enter = from->done_enter;
	s->done_leave = from->done_leave;
	s->path = from->path;
	s->mode = from->mode;
	s->history = from->history;
	return s;
}

void send_free(struct match *m, struct send *s)
{
	match_pool_give(&m->sends, s);
}

void receive_forget_request(struct match *m, struct receive *r)
{
	if (r->request && match_table_find(&m->request_at, r->proc_id, r->request) == r)
		match_table_remove(&m->request_at, r->proc_id, r->request);
	r->request = 0;
}

void receive_free(struct match *m, struct receive *r)
{
	receive_forget_request(m, r);
	if (r->partner)
		send_free(m, r->partner);
	match_pool_give(&m->receives, r);
}

/* The message was there when the probe returned: its receiver waited there, if at all. */
static void set_done_by_probe(struct receive *r)
{
	r->done.enter = r->call.enter;
	r->done.leave = r->call.leave;
	r->done.thread = r->call.thread;
	r->done.path = r->probe_path;
}

/* Takes source and tag from the completion only where the receive has wildcards. */
void receive_set_done(struct receive *r, const struct match_done *d)
{
	r->done = *d;
	r->complete = true;
	if (d->unknown && !r->known && (r->source == MATCH_ANYWHERE || r->tag == MATCH_ANY_TAG)) {
		r->complete = false; /* what it took will never be known */
		return;
	}
	if (r->known) { /* by a probe */
		r->done.source = r->call.peer;
		r->done.tag = r->call.tag;
		if (r->probe_path)
			set_done_by_probe(r);
		return;
	}
	if (r->source != MATCH_ANYWHERE)
		r->done.source = r->source;
	if (r->tag != MATCH_ANY_TAG)
		r->done.tag = r->tag;
	r->known = true;
	r->call.peer = r->done.source;
	r->call.tag = r->done.tag;
}

struct receive *receive_make(struct match *m, const struct match_receive *from)
{
	struct receive *r;

	if (m->receives.used >= MATCH_RECEIVES_MAX) {
		m->counts.overflow++;
		return NULL;
	}
	r = match_pool_take(&m->receives);
	r->call.position = from->ticket;
	r->call.enter = from->enter;
	r->call.leave = later_of(from->enter, from->leave);
	r->call.peer = from->source;
	r->call.tag = from->tag;
	r->call.thread = from->thread;
	r->call.flags = from->flags;
	r->proc_id = from->destination;
	r->comm = from->comm;
	r->source = from->source;
	r->tag = from->tag;
	r->request = from->flags & MATCH_DONE ? 0 : from->request;
	r->history = from->history;
	r->probe_path = from->probe_path;
	r->known = from->flags & MATCH_PROBED;
	if (from->flags & MATCH_DONE)
		receive_set_done(r, &from->done);
	return r;
}

/* ---- out ------------------------------------------------------------------------------ */

static struct match_send tell_send(const struct send *s)
{
	return (struct match_send){.comm = s->comm,
		.source = s->call.peer,
		.destination = s->destination,
		.enter = s->call.enter,
		.leave = s->call.leave,
		.bytes = s->bytes,
		.tag = s->call.tag,
		.ticket = (uint32_t)s->call.position,
		.thread = s->call.thread,
		.flags = s->call.flags,
		.done_enter = s->done_enter,
		.done_leave = s->done_leave,
		.path = s->path,
		.mode = s->mode,
		.history = s->history};
}

/* Without the start. */
struct match_receive tell_receive(const struct receive *r)
{
	return (struct match_receive){.comm = r->comm,
		.source = r->source,
		.destination = r->proc_id,
		.enter = r->call.enter,
		.leave = r->call.leave,
		.tag = r->tag,
		.ticket = (uint32_t)r->call.position,
		.thread = r->call.thread,
		.flags = (r->call.flags & ~(uint32_t)MATCH_DONE) |
			 (r->complete ? (uint32_t)MATCH_DONE : 0),
		.request = r->request,
		.history = r->history,
		.done = r->done};
}

/* Counts contradictions in length and time, of exact pairs only: others may be wrong. */
static void check_exact_pair(struct match *m, const struct send *s, const struct receive *r)
{
	uint64_t due = s->call.enter + m->options.latency;

	if (!r->complete || r->done.unknown || r->label != MATCH_EXACT)
		return;
	m->counts.too_long += r->done.bytes > s->bytes;
	if ((int64_t)(due - r->done.leave) <= 0 || due - r->done.leave <= m->options.clock_bound)
		return;
	m->counts.violations++;
	if (due - r->done.leave <= m->counts.worst)
		return;
	m->counts.worst = due - r->done.leave;
	m->counts.worst_source = s->call.peer;
	m->counts.worst_destination = r->proc_id;
}

static void tell_partners(struct match *m, struct receive *r)
{
	struct send *s = r->partner;
	struct match_send send = tell_send(s);
	struct match_receive receive = tell_receive(r);

	if (r->init)
		receive.start = (uint32_t)(r->call.position >> 32); /* of both */
	m->counts.pairs[r->label]++;
	check_exact_pair(m, s, r);
	if (m->options.pair)
		m->options.pair(m->options.arg, &send, &receive, r->label);
	r->partner = NULL;
	send_free(m, s);
	receive_free(m, r);
}

void tell_pair(struct match *m, struct receive *r)
{
	if (r->space)
		r->space->probed--;
	tell_partners(m, r);
}

void match_pair(struct match *m, struct send *s, struct receive *r, enum match_label label)
{
	if ((s->call.ambiguous || r->call.ambiguous) && label < MATCH_AMBIGUOUS)
		label = MATCH_AMBIGUOUS;
	if (((r->space && r->space->assumed) || r->done.unknown || s->call.flags & MATCH_UNSURE) &&
		label < MATCH_ASSUMED)
		label = MATCH_ASSUMED;
	if (s->channel && s->channel->tainted)
		label = MATCH_BROKEN;
	if ((s->call.flags | r->call.flags) & MATCH_OVERTAKING)
		label = MATCH_GUESS;
	r->label = label;
	r->partner = s;
	if (r->complete || !r->request)
		tell_partners(m, r);
	else if (r->space)
		r->space->probed++;
}

void unmatched_send(struct match *m, struct send *s, enum match_reason why)
{
	struct match_send send = tell_send(s);

	m->counts.unmatched_sends[why]++;
	if (m->options.unmatched)
		m->options.unmatched(m->options.arg, &send, NULL, why);
	send_free(m, s);
}

void unmatched_receive(struct match *m, struct receive *r, enum match_reason why)
{
	struct match_receive receive = tell_receive(r);

	m->counts.unmatched_receives[why]++;
	if (m->options.unmatched)
		m->options.unmatched(m->options.arg, NULL, &receive, why);
	receive_free(m, r);
}
