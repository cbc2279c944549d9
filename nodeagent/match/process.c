/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/match/process.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"

#define NONE UINT32_MAX

/* A send whose request is open; by age. */
struct held {
	struct match_send send;
	uint32_t request;
	uint32_t older, newer; /* indexes; newer also links what is not in use */
};

struct match_node {
	struct match_node_options options;
	struct match *match;
};

struct match_process {
	struct match_node *node;
	uint64_t proc_id;
	bool concurrent;
	struct map32 held_at; /* request -> index */
	struct held *held;
	size_t n, cap;
	uint32_t oldest, newest, vacant;
};

struct match_node *match_node_new(const struct match_node_options *o)
{
	struct match_node *n = xcalloc(1, sizeof(*n));

	n->options = *o;
	n->match = match_new(&o->match);
	return n;
}

void match_node_free(struct match_node *n)
{
	if (!n)
		return;
	match_free(n->match);
	free(n);
}

void match_node_end(struct match_node *n)
{
	match_end(n->match);
}

struct match *match_node_matcher(struct match_node *n)
{
	return n->match;
}

struct match_process *match_process_new(struct match_node *n, uint64_t proc_id, bool concurrent)
{
	struct match_process *p = xcalloc(1, sizeof(*p));

	p->node = n;
	p->proc_id = proc_id;
	p->concurrent = concurrent;
	p->oldest = p->newest = p->vacant = NONE;
	return p;
}

bool match_process_meets(const struct match_process *p, uint64_t proc_id)
{
	const struct match_node_options *o = &p->node->options;

	return !o->is_here || o->is_here(o->arg, proc_id);
}

/* ---- sends ----------------------------------------------------------------------- */

static void send_on(struct match_process *p, const struct match_send *s)
{
	const struct match_node_options *o = &p->node->options;

	if (s->destination == MATCH_ELSEWHERE || !o->is_here || o->is_here(o->arg, s->destination))
		match_send(p->node->match, s);
	else if (o->ship)
		o->ship(o->arg, s);
}

/* flags: MATCH_UNSURE if it is not known how it ended. */
static void release_send(struct match_process *p, uint32_t i, uint32_t flags)
{
	struct held *h = &p->held[i];
	struct match_send s = h->send;

	*(h->older != NONE ? &p->held[h->older].newer : &p->oldest) = h->newer;
	*(h->newer != NONE ? &p->held[h->newer].older : &p->newest) = h->older;
	map32_remove(&p->held_at, h->request);
	h->newer = p->vacant;
	p->vacant = i;
	s.flags |= flags;
	if (flags)
		s.mode = MATCH_SEND_OTHER;
	send_on(p, &s);
}

static void release_all(struct match_process *p)
{
	while (p->oldest != NONE)
		release_send(p, p->oldest, MATCH_UNSURE);
}

static void hold_send(struct match_process *p, const struct match_send *s, uint32_t request)
{
	const uint32_t *at = map32_find(&p->held_at, request);
	uint32_t i;

	if (at) /* its number is used again: the other one has ended unseen */
		release_send(p, *at, MATCH_UNSURE);
	if (p->held_at.n >= MATCH_HELD_MAX)
		release_send(p, p->oldest, MATCH_UNSURE);
	i = p->vacant;
	if (i != NONE) {
		p->vacant = p->held[i].newer;
	} else {
		p->held = grow(p->held, p->n, &p->cap, sizeof(*p->held));
		i = (uint32_t)p->n++;
	}
	p->held[i] = (struct held){*s, request, p->newest, NONE};
	*(p->newest != NONE ? &p->held[p->newest].newer : &p->oldest) = i;
	p->newest = i;
	map32_add(&p->held_at, request, i);
}

static uint32_t flags_of(const struct match_process *p, const struct match_message *c)
{
	return (p->concurrent ? (uint32_t)MATCH_CONCURRENT : 0) |
	       (c->m->flags & MESSAGE_PARTITIONED ? (uint32_t)MATCH_PARTITIONED : 0) |
	       (c->overtaking ? (uint32_t)MATCH_OVERTAKING : 0) |
	       (c->failed ? (uint32_t)MATCH_VOID : 0);
}

static void note_send(struct match_process *p, const struct match_message *c)
{
	struct match_send s = {.comm = c->comm,
		.source = p->proc_id,
		.destination = c->peer,
		.enter = c->since,
		.leave = c->until,
		.bytes = c->m->bytes,
		.tag = c->m->field,
		.ticket = c->m->ticket,
		.thread = c->thread,
		.flags = flags_of(p, c),
		.done_enter = c->since,
		.done_leave = c->until,
		.path = c->path,
		.mode = c->mode,
		.history = c->history};

	if (!c->m->request || c->failed) {
		send_on(p, &s);
		return;
	}
	if (s.flags & MATCH_PARTITIONED) {
		s.mode = MATCH_SEND_IN_PARTS;
		s.start = c->m->start;
	}
	hold_send(p, &s, c->m->request);
}

/* ---- receives ------------------------------------------------------------------------ */

static struct match_done done_of(const struct match_message *c, uint64_t bytes)
{
	return (struct match_done){.source = c->peer,
		.tag = c->m->field,
		.thread = c->thread,
		.path = c->path,
		.probes = c->probes,
		.enter = c->since,
		.leave = c->until,
		.bytes = bytes,
		.cancelled =
			(c->m->flags & (MESSAGE_CANCELLED | MESSAGE_UNKNOWN)) == MESSAGE_CANCELLED,
		.unknown = c->m->flags & MESSAGE_UNKNOWN};
}

static void note_receive(struct match_process *p, const struct match_message *c)
{
	const struct message *m = c->m;
	bool blocking = m->kind == RECORD_RECV, matched = m->flags & MESSAGE_MATCHED,
	     any = m->flags & (MESSAGE_ANY_SOURCE | MESSAGE_ANY_TAG);
	struct match_receive r = {.comm = c->comm,
		.source = c->peer,
		.destination = p->proc_id,
		.enter = c->since,
		.leave = c->until,
		.tag = m->field,
		.ticket = m->ticket,
		.thread = c->thread,
		.flags = flags_of(p, c) |
			 (m->flags & MESSAGE_ANY_SOURCE ? (uint32_t)MATCH_FROM_ANY : 0) |
			 (m->flags & MESSAGE_ANY_TAG ? (uint32_t)MATCH_TAG_ANY : 0),
		.request = m->request,
		.history = c->history,
		.start = m->start};

	if (matched && !(c->probe && !blocking)) { /* of a message that a probe has taken */
		r.done = done_of(c, m->bytes);
		if (blocking)
			match_done(p->node->match, p->proc_id, m->request, &r.done);
		return;
	}
	if (matched) {
		r.flags |= MATCH_PROBED;
		r.probe_path = c->path;
	} else if (m->flags & MESSAGE_ANY_SOURCE && !(blocking && !c->failed)) {
		r.source = MATCH_ANYWHERE;
	}
	if (!matched && m->flags & MESSAGE_ANY_TAG && !(blocking && !c->failed))
		r.tag = MATCH_ANY_TAG;
	if (blocking) {
		/* one that failed may have taken a message all the same, as too long */
		if (c->failed && any) {
			match_process_lost(p);
			return;
		}
		r.flags = (r.flags & ~(uint32_t)MATCH_VOID) | MATCH_DONE;
		r.done = done_of(c, m->bytes);
		r.done.unknown = c->failed;
	}
	match_receive(p->node->match, &r);
}

void match_process_message(struct match_process *p, const struct match_message *c)
{
	switch (c->m->kind) {
	case RECORD_SEND:
		note_send(p, c);
		break;
	case RECORD_RECV:
	case RECORD_POST:
		note_receive(p, c);
		break;
	default:
		break;
	}
}

void match_process_done(
	struct match_process *p, const struct message *posted, const struct match_message *c)
{
	const uint32_t flags = c->m->flags, *at;
	struct match_send *s;
	struct match_done d;

	if (posted->kind == RECORD_POST) {
		d = done_of(c, flags & MESSAGE_AS_POSTED ? posted->bytes : c->m->bytes);
		match_done(p->node->match, p->proc_id, posted->request, &d);
		return;
	}
	at = posted->kind == RECORD_SEND ? map32_find(&p->held_at, posted->request) : NULL;
	if (!at)
		return;
	s = &p->held[*at].send;
	if (s->mode != MATCH_SEND_IN_PARTS) {
		s->done_enter = c->since;
		s->done_leave = c->until;
		s->path = c->path;
	}
	if (!(flags & MESSAGE_CANCELLED))
		release_send(p, *at, 0);
	else
		release_send(p, *at, flags & MESSAGE_UNKNOWN ? MATCH_UNSURE : MATCH_VOID);
}

void match_process_part(struct match_process *p, uint32_t request, uint64_t enter)
{
	const uint32_t *at = map32_find(&p->held_at, request);
	struct match_send *s = at ? &p->held[*at].send : NULL;

	if (s && s->mode == MATCH_SEND_IN_PARTS && (int64_t)(enter - s->done_enter) > 0)
		s->done_enter = enter;
}

/* ---- the course of things ---------------------------------------------------------------- */

void match_process_comm_gone(struct match_process *p, uint64_t comm, uint64_t members)
{
	match_member_gone(p->node->match, comm, p->proc_id, members);
}

void match_process_lost(struct match_process *p)
{
	const struct match_node_options *o = &p->node->options;

	release_all(p); /* their completions may be lost */
	match_lost(p->node->match, p->proc_id);
	if (o->ship_loss)
		o->ship_loss(o->arg, p->proc_id);
}

void match_process_progress(struct match_process *p, uint64_t until)
{
	match_progress(p->node->match, p->proc_id, until);
}

void match_process_end(struct match_process *p)
{
	if (!p)
		return;
	release_all(p);
	map32_free(&p->held_at);
	free(p->held);
	free(p);
}
