/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small MPI: processes with threads that do random things, step by step, in
 * random order (what MPI does is in match-mpi.h). It knows which message each
 * receive really got, and writes the records of the calls into a ring for
 * each thread, as they would be read.
 *
 * Each call is four steps, between which others go on: enter, ticket, effect, leave.
 * The bytes of a message are its number; times are unique.
 */
#ifndef VFTR_T_MATCH_WORLD_H
#define VFTR_T_MATCH_WORLD_H

#include "match-mpi.h"

/* ---- records ---------------------------------------------------------------------------- */

static inline struct record *record_in(struct world *w, unsigned p, unsigned t)
{
	struct ring *r = &w->rings[p][t];

	r->at = grow(r->at, r->n, &r->cap, sizeof(*r->at));
	r->at[r->n] = (struct record){.process = p, .ended = w->now};
	return &r->at[r->n++];
}

static inline uint32_t flags_of(const struct world *w, const struct op *o)
{
	return (w->plan.threading == MULTIPLE ? (uint32_t)MATCH_CONCURRENT : 0) |
	       (o->failed ? (uint32_t)MATCH_VOID : 0) | (o->end ? (uint32_t)MATCH_PARTITIONED : 0);
}

static inline void write_send(
	struct world *w, unsigned p, unsigned t, const struct op *o, uint32_t flags)
{
	struct record *r = record_in(w, p, t);

	r->what = OF_SEND;
	r->send = (struct match_send){.comm = 1000 + o->comm,
		.source = proc_id_of(o->from),
		.destination = proc_id_of(o->to),
		.enter = o->enter,
		.leave = o->leave,
		.bytes = (uint64_t)(o - w->ops),
		.tag = o->tag,
		.ticket = o->ticket,
		.start = o->end ? o->number : 0,
		.thread = o->thread,
		.flags = flags_of(w, o) | flags};
}

static inline struct match_done done_by(
	const struct world *w, unsigned t, const struct op *o, uint64_t enter)
{
	const struct op *s = o->partner;

	return (struct match_done){.source = proc_id_of(s->from),
		.tag = s->tag,
		.thread = t,
		.enter = enter,
		.leave = w->now,
		.bytes = (uint64_t)(s - w->ops)};
}

static inline void write_receive(struct world *w, unsigned p, unsigned t, const struct op *o)
{
	struct record *r = record_in(w, p, t);
	const struct op *s = o->kind == IMPROBE ? o->partner : NULL;

	r->what = OF_RECEIVE;
	r->receive = (struct match_receive){.comm = 1000 + o->comm,
		.source = proc_id_of(s ? s->from : o->from),
		.destination = proc_id_of(o->to),
		.enter = o->enter,
		.leave = o->leave,
		.tag = s ? s->tag : o->tag,
		.ticket = o->ticket,
		.start = o->end ? o->number : 0,
		.thread = o->thread,
		.request = o->request,
		.flags = flags_of(w, o) | (s ? (uint32_t)MATCH_PROBED : 0)};
	if (o->kind == RECV && o->partner) {
		r->receive.flags |= MATCH_DONE;
		r->receive.done = done_by(w, t, o, o->enter);
	}
}

static inline void write_done(
	struct world *w, unsigned p, unsigned t, const struct op *o, uint64_t enter)
{
	struct record *r = record_in(w, p, t);

	r->what = OF_DONE;
	r->request = o->request;
	if (o->freed)
		r->done.unknown = true;
	else if (!o->partner)
		r->done.cancelled = true;
	else
		r->done = done_by(w, t, o, enter);
}

/* ---- what threads do ------------------------------------------------------------------------ */

static inline struct op *new_op(struct world *w, enum call_kind kind, unsigned p, unsigned t)
{
	struct op *o = w->n_ops < CALLS ? &w->ops[w->n_ops++] : NULL;

	if (o)
		*o = (struct op){.kind = kind, .from = p, .to = p, .thread = t, .enter = w->now};
	return o;
}

/* A random other member of a random communicator of p. */
static inline bool choose(struct world *w, unsigned p, unsigned *comm, unsigned *peer)
{
	for (int tries = 0; tries < 8; tries++) {
		*comm = any(w->plan.comms);
		*peer = any(w->plan.processes);
		if (w->member[*comm][p] && w->member[*comm][*peer])
			return true;
	}
	return false;
}

static inline void begin(struct world *w, unsigned p, unsigned t, enum call_kind kind, struct op *o)
{
	w->doing[p][t] = (struct doing){kind, 1, o, w->now};
	if (o)
		o->busy = true;
}

static inline void begin_send(struct world *w, unsigned p, unsigned t, bool request)
{
	unsigned comm, peer;
	struct op *o;

	if (!choose(w, p, &comm, &peer) || !(o = new_op(w, request ? ISEND : SEND, p, t)))
		return;
	o->comm = comm;
	o->to = peer;
	o->tag = any(w->plan.tags);
	o->failed = chance(3);
	begin(w, p, t, o->kind, o);
}

static inline bool has_open(const struct world *w, unsigned comm, unsigned p)
{
	for (size_t i = 0; i < w->n_ops; i++)
		if (is_receive(&w->ops[i]) && !w->ops[i].end && w->ops[i].comm == comm &&
			w->ops[i].to == p && w->ops[i].effective && !w->ops[i].partner &&
			!w->ops[i].gone)
			return true;
	return false;
}

/* A blocking receive needs a message that nobody can take away; others are rescued. */
static inline bool may_block(struct world *w, const struct op *o)
{
	if (w->plan.threading == MULTIPLE)
		return true;
	if (waiting_for(w, o))
		return true;
	if (has_open(w, o->comm, o->to))
		return false;
	for (size_t i = 0; i < w->n_ops; i++)
		if (!is_receive(&w->ops[i]) && !w->ops[i].end && w->ops[i].effective &&
			!w->ops[i].arrived && !w->ops[i].failed && w->ops[i].kind == SEND &&
			fits(o, &w->ops[i]))
			return true;
	return false;
}

static inline void begin_receive(struct world *w, unsigned p, unsigned t, enum call_kind kind)
{
	unsigned comm, peer;
	struct op *o;

	if (!choose(w, p, &comm, &peer) || !(o = new_op(w, kind, p, t)))
		return;
	o->comm = comm;
	o->from = chance(w->plan.wildcards) ? PROCESSES : peer;
	o->tag = chance(w->plan.wildcards) ? MATCH_ANY_TAG : any(w->plan.tags);
	if (kind == RECV && !may_block(w, o)) {
		w->n_ops--;
		return;
	}
	o->failed = kind == IRECV && chance(3);
	begin(w, p, t, kind, o);
}

/* A random operation of p that has a request and is not over. */
static inline struct op *pick(struct world *w, unsigned p)
{
	size_t start = w->n_ops ? any((uint32_t)w->n_ops) : 0;

	for (size_t k = 0; k < w->n_ops; k++) {
		struct op *o = &w->ops[(start + k) % w->n_ops];
		unsigned owner = is_receive(o) ? o->to : o->from;

		if (owner == p && o->request && o->left && !o->over && !o->busy && !o->failed)
			return o;
	}
	return NULL;
}

static inline bool is_finished(const struct world *w, const struct op *o)
{
	return o->partner != NULL || (!is_receive(o) && !o->end) || (o->end && o->end->send);
}

static inline void begin_request(struct world *w, unsigned p, unsigned t, enum call_kind kind)
{
	struct op *o = pick(w, p);

	if (!o || (kind == FINISH && !is_finished(w, o)) ||
		(kind != FINISH && (o->end || o->kind == IMPROBE)))
		return;
	begin(w, p, t, kind, o);
}

/* Inits are one step: their tickets and their order are the same. */
static inline void make_end(struct world *w, unsigned p)
{
	unsigned comm, peer;
	struct line_end *e = &w->ends[w->n_ends];

	if (w->n_ends >= sizeof(w->ends) / sizeof(w->ends[0]) || !choose(w, p, &comm, &peer))
		return;
	w->n_ends++;
	*e = (struct line_end){.send = chance(50), .comm = comm, .tag = any(w->plan.tags)};
	e->from = e->send ? p : peer;
	e->to = e->send ? peer : p;
	e->ticket = e->send ? w->sends_made[comm][p][peer]++ : w->receives_made[comm][p]++;
	e->position = w->of_tag[e->send][comm][e->from][e->to][e->tag]++;
}

static inline void begin_start(struct world *w, unsigned p, unsigned t)
{
	struct line_end *e = w->n_ends ? &w->ends[any((uint32_t)w->n_ends)] : NULL;
	struct op *o;

	if (!e || (e->send ? e->from : e->to) != p || e->active ||
		!(o = new_op(w, e->send ? START_SEND : START_RECEIVE, p, t)))
		return;
	o->comm = e->comm;
	o->from = e->from;
	o->to = e->to;
	o->tag = e->tag;
	o->ticket = e->ticket;
	o->end = e;
	o->number = ++e->starts;
	e->active = o;
	begin(w, p, t, o->kind, o);
}

static inline void join_starts(struct world *w, struct op *o)
{
	for (size_t i = 0; i < w->n_ops; i++) {
		struct op *c = &w->ops[i];

		if (c->end && c != o && c->effective && c->end->send != o->end->send &&
			c->end->position == o->end->position && c->number == o->number &&
			c->comm == o->comm && c->from == o->from && c->to == o->to &&
			c->tag == o->tag)
			is_receive(o) ? join(o, c) : join(c, o);
	}
}

static inline void act(struct world *w, unsigned p, unsigned t)
{
	switch (any(w->plan.partitioned ? 14 : 11)) {
	case 0:
	case 1:
		begin_send(w, p, t, false);
		break;
	case 2:
	case 3:
		begin_send(w, p, t, true);
		break;
	case 4:
	case 5:
		begin_receive(w, p, t, IRECV);
		break;
	case 6:
		begin_receive(w, p, t, RECV);
		break;
	case 7:
		begin_receive(w, p, t, IMPROBE);
		break;
	case 8:
	case 9:
		begin_request(w, p, t, FINISH);
		break;
	case 10:
		begin_request(w, p, t, chance(50) || !w->plan.unsure ? CANCEL : FREE);
		break;
	case 11:
		make_end(w, p);
		break;
	default:
		begin_start(w, p, t);
	}
}

/* ---- the steps of a call ------------------------------------------------------------------------
 */

static inline void take_ticket(struct world *w, unsigned p, struct op *o)
{
	if (!o->end)
		o->ticket = is_receive(o) ? w->posted[o->comm][p]++ : w->sent[o->comm][p][o->to]++;
	if (o->kind != SEND && o->kind != RECV)
		o->request = ++w->requests[p];
}

static inline void cancel(struct op *o)
{
	if (o->partner)
		return;
	o->gone = true;
}

/* False: it has to wait. */
static inline bool effect(struct world *w, struct doing *d)
{
	struct op *o = d->op, *s;

	switch (d->kind) {
	case SEND:
	case ISEND:
		o->effective = !o->failed;
		o->order = ++w->order;
		return true;
	case RECV:
		if (!o->effective)
			post(w, o);
		return o->partner != NULL;
	case IRECV:
		if (!o->failed)
			post(w, o);
		return true;
	case IMPROBE:
		s = waiting_for(w, o);
		if (s)
			join(o, s);
		o->effective = true;
		o->failed = !s;
		return true;
	case CANCEL:
		cancel(o);
		return true;
	case START_SEND:
	case START_RECEIVE:
		o->effective = true;
		join_starts(w, o);
		return true;
	default:
		return true;
	}
}

static inline void finish_request(struct world *w, unsigned p, unsigned t, struct doing *d)
{
	struct op *o = d->op;

	if (d->kind == CANCEL && !o->gone)
		return; /* too late; it is completed by another call */
	o->over = true;
	if (o->end)
		o->end->active = NULL;
	if (!is_receive(o)) {
		o->failed = d->kind == CANCEL;
		write_send(w, p, t, o, 0);
		o->failed = false;
		return;
	}
	o->freed = d->kind == FREE;
	write_done(w, p, t, o, d->enter);
}

static inline void leave(struct world *w, unsigned p, unsigned t, struct doing *d)
{
	struct op *o = d->op;

	o->busy = false;
	if (d->kind == FINISH || d->kind == CANCEL || d->kind == FREE) {
		finish_request(w, p, t, d);
		return;
	}
	o->leave = w->now;
	o->left = true;
	if (o->kind == SEND || (o->kind == ISEND && o->failed))
		write_send(w, p, t, o, 0);
	else if (is_receive(o) && (o->kind != IMPROBE || o->request))
		write_receive(w, p, t, o);
	if (o->kind == RECV)
		o->over = true;
}

static inline bool is_free(const struct world *w, unsigned p)
{
	for (unsigned t = 0; t < THREADS; t++)
		if (w->doing[p][t].step)
			return false;
	return true;
}

static inline void step(struct world *w, unsigned p, unsigned t, bool begin_new)
{
	struct doing *d = &w->doing[p][t];

	w->now++;
	switch (d->step) {
	case 0:
		if (begin_new && (w->plan.threading == MULTIPLE || is_free(w, p)))
			act(w, p, t);
		break;
	case 1:
		/* a probe that finds nothing takes a ticket only if another one may */
		if (d->kind < FINISH || d->kind > FREE) {
			if (d->kind == IMPROBE && w->plan.threading != MULTIPLE &&
				!waiting_for(w, d->op)) {
				d->op->failed = true;
				d->op->busy = false;
				d->step = 0;
				return;
			}
			take_ticket(w, p, d->op);
		}
		d->step = 2;
		break;
	case 2:
		d->step += effect(w, d);
		break;
	default:
		leave(w, p, t, d);
		d->step = 0;
	}
}

static inline bool somebody_is_busy(const struct world *w)
{
	for (unsigned p = 0; p < w->plan.processes; p++)
		if (!is_free(w, p))
			return true;
	return false;
}

/* A message for each receive that blocks, by a thread of its own. */
static inline void rescue(struct world *w)
{
	for (unsigned p = 0; p < w->plan.processes; p++)
		for (unsigned t = 0; t < THREADS; t++) {
			struct doing *d = &w->doing[p][t];
			unsigned from;
			struct op *o;

			if (d->kind != RECV || d->step != 2 || !d->op->effective || d->op->partner)
				continue;
			from = d->op->from == PROCESSES ? p : d->op->from;
			if (w->doing[from][THREADS - 1].step ||
				!(o = new_op(w, SEND, from, THREADS - 1)))
				continue;
			o->comm = d->op->comm;
			o->to = p;
			o->tag = d->op->tag == MATCH_ANY_TAG ? 0 : d->op->tag;
			begin(w, from, THREADS - 1, SEND, o);
		}
}

static inline void world_run(struct world *w, const struct plan *plan)
{
	unsigned lazy = any(4); /* how often the network sleeps */

	for (unsigned p = 0; p < PROCESSES; p++)
		for (unsigned t = 0; t < THREADS; t++) {
			w->rings[p][t].n = w->rings[p][t].read = 0;
			w->doing[p][t] = (struct doing){0};
		}
	memset(w->sent, 0, (char *)(w + 1) - (char *)w->sent);
	w->plan = *plan;
	w->now = w->order = 0;
	w->n_ops = w->n_ends = 0;
	for (unsigned c = 0; c < COMMS; c++)
		for (unsigned p = 0; p < PROCESSES; p++)
			w->member[c][p] = !c || chance(70);
	for (unsigned i = 0; i < plan->actions * 6; i++) {
		step(w, any(plan->processes), any(plan->threads), true);
		if (any(4) >= lazy)
			deliver(w);
	}
	for (unsigned i = 0; i < 100000 && (deliver(w) || somebody_is_busy(w)); i++) {
		rescue(w);
		for (unsigned p = 0; p < plan->processes; p++)
			for (unsigned t = 0; t < THREADS; t++)
				step(w, p, t, false);
	}
	for (size_t i = 0; i < w->n_ops; i++) { /* most requests are waited for at last */
		struct op *o = &w->ops[i];
		unsigned p = is_receive(o) ? o->to : o->from, t = any(plan->threads);

		if (!o->request || o->over || o->failed || !o->left ||
			(is_receive(o) && !o->partner))
			continue;
		if (is_receive(o) && plan->unsure && chance(5))
			continue;
		begin(w, p, t, FINISH, o);
		for (int k = 0; k < 3; k++)
			step(w, p, t, false);
	}
	w->received = 0;
	for (size_t i = 0; i < w->n_ops; i++)
		w->received += is_receive(&w->ops[i]) && w->ops[i].partner && !w->ops[i].end;
}

#endif
