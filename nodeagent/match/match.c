/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/match/match.h"

#include <stddef.h>
#include <stdlib.h>
#include "nodeagent/match/internal.h"

const char *const match_label_names[MATCH_LABELS] = {
	[MATCH_EXACT] = "exact",
	[MATCH_AMBIGUOUS] = "ambiguous",
	[MATCH_ASSUMED] = "assumed",
	[MATCH_BROKEN] = "broken",
	[MATCH_GUESS] = "guess",
};

const char *const match_reason_names[MATCH_REASONS] = {
	[MATCH_NOT_RECEIVED] = "no receive is known",
	[MATCH_NOT_COMPLETED] = "the receive was never seen to complete",
	[MATCH_NO_SEND] = "no send is known",
	[MATCH_PARTNER_LOST] = "the record of the other side was lost",
	[MATCH_OF_ELSEWHERE] = "the other rank is not known",
};

/* A completion that was read before what it completes. */
struct early {
	uint64_t proc_id;
	uint32_t request;
	struct match_done done;
	struct early *older, *newer;
};

/* ---- the whole ---------------------------------------------------------------- */

struct match *match_new(const struct match_options *o)
{
	struct match *m = xcalloc(1, sizeof(*m));

	m->options = *o;
	m->defers = o->is_far && o->defer;
	m->sends.bytes = sizeof(struct send);
	m->receives.bytes = sizeof(struct receive);
	m->streams.bytes = sizeof(struct stream);
	m->tag_selectors.bytes = sizeof(struct tag_selector);
	m->channels.bytes = sizeof(struct channel);
	m->spaces.bytes = sizeof(struct space);
	m->parties.bytes = sizeof(struct party);
	m->early.bytes = sizeof(struct early);
	m->gaps.bytes = sizeof(struct gap);
	return m;
}

static void free_selectors(struct match *m)
{
	for (size_t i = 0; m->channel_at.slots && i <= m->channel_at.mask; i++)
		if (m->channel_at.slots[i].value)
			selector_free(&((struct channel *)m->channel_at.slots[i].value)->any_tag);
	for (size_t i = 0; m->space_at.slots && i <= m->space_at.mask; i++)
		if (m->space_at.slots[i].value)
			selector_free(&((struct space *)m->space_at.slots[i].value)->any);
	for (size_t i = 0; m->stream_at.slots && i <= m->stream_at.mask; i++)
		if (m->stream_at.slots[i].value)
			selector_free(&((struct stream *)m->stream_at.slots[i].value)->exact);
	for (size_t i = 0; m->tag_at.slots && i <= m->tag_at.mask; i++)
		if (m->tag_at.slots[i].value)
			selector_free(&((struct tag_selector *)m->tag_at.slots[i].value)->selector);
}

void match_free(struct match *m)
{
	struct match_pool *pools[] = {&m->sends, &m->receives, &m->streams, &m->tag_selectors,
		&m->channels, &m->spaces, &m->parties, &m->early, &m->gaps};
	struct match_table *tables[] = {&m->space_at, &m->channel_at, &m->stream_at, &m->tag_at,
		&m->waiting_at, &m->request_at, &m->early_at, &m->comm_at, &m->party_at,
		&m->gone_at};

	if (!m)
		return;
	partitioned_free(m);
	free_selectors(m);
	for (size_t i = 0; i < ARRAY_SIZE(pools); i++)
		match_pool_free(pools[i]);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		match_table_free(tables[i]);
	free(m);
}

const struct match_counts *match_counts(const struct match *m)
{
	return &m->counts;
}

uint64_t match_in_flight(const struct match *m)
{
	return m->sends.used + m->receives.used;
}

struct party *match_party(struct match *m, uint64_t proc_id)
{
	struct party *p = match_table_find(&m->party_at, proc_id, 0);

	if (p)
		return p;
	p = match_pool_take(&m->parties);
	p->proc_id = proc_id;
	match_table_add(&m->party_at, proc_id, 0, p);
	return p;
}

/* ---- completions ------------------------------------------------------------------------- */

static void drop_early(struct match *m, struct early *e)
{
	*(e->older ? &e->older->newer : &m->oldest_early) = e->newer;
	*(e->newer ? &e->newer->older : &m->newest_early) = e->older;
	match_table_remove(&m->early_at, e->proc_id, e->request);
	match_pool_give(&m->early, e);
}

static void keep_early(
	struct match *m, uint64_t proc_id, uint32_t request, const struct match_done *d)
{
	struct early *e = match_table_find(&m->early_at, proc_id, request);

	if (e)
		drop_early(m, e);
	if (m->early.used >= MATCH_EARLY_MAX) {
		m->counts.overflow++;
		drop_early(m, m->oldest_early);
	}
	e = match_pool_take(&m->early);
	e->proc_id = proc_id;
	e->request = request;
	e->done = *d;
	e->older = m->newest_early;
	*(e->older ? &e->older->newer : &m->oldest_early) = e;
	m->newest_early = e;
	match_table_add(&m->early_at, proc_id, request, e);
}

static void cancel(struct match *m, struct receive *r)
{
	if (r->init || r->known) /* neither can be cancelled: it lies */
		return;
	receive_forget_request(m, r);
	r->call.flags |= MATCH_VOID;
	if (r->stage == RECEIVE_OPEN)
		receive_close(m, r);
}

void match_done(struct match *m, uint64_t proc_id, uint32_t request, const struct match_done *d)
{
	struct receive *r = match_table_find(&m->request_at, proc_id, request);
	bool known;

	if (!request)
		return;
	if (!r) {
		keep_early(m, proc_id, request, d);
		return;
	}
	if (d->cancelled) {
		cancel(m, r);
		return;
	}
	known = r->known;
	receive_forget_request(m, r);
	receive_set_done(r, d);
	if (r->partner)
		tell_pair(m, r);
	else if (r->stage == RECEIVE_OPEN && r->complete && !known)
		receive_completed(m, r);
}

/* ---- records -------------------------------------------------------------------------------- */

static struct channel *channel_for(struct match *m, const struct match_send *s)
{
	struct channel *c = m->recent;
	struct space *space;

	if (c && c->source == s->source && c->space->proc_id == s->destination &&
		c->space->comm == s->comm)
		return c;
	space = space_of(m, s->comm, s->destination, true);
	c = space ? channel_of(m, space, s->source) : NULL;
	if (!c)
		m->counts.overflow++;
	else
		m->recent = c;
	return c;
}

static __attribute__((noinline, cold)) void send_elsewhere(
	struct match *m, const struct match_send *s)
{
	if (s->flags & MATCH_VOID)
		return;
	m->counts.unmatched_sends[MATCH_OF_ELSEWHERE]++;
	if (m->options.unmatched)
		m->options.unmatched(m->options.arg, s, NULL, MATCH_OF_ELSEWHERE);
}

void match_send(struct match *m, const struct match_send *s)
{
	struct channel *c;
	struct send *mine;

	if (__builtin_expect(s->destination == MATCH_ELSEWHERE, 0)) {
		send_elsewhere(m, s);
		return;
	}
	if (s->flags & MATCH_PARTITIONED) {
		partitioned_send(m, s);
		return;
	}
	c = channel_for(m, s);
	if (!c)
		return;
	if (c->sends.n >= MATCH_CHANNEL_MAX) {
		m->counts.overflow++;
		match_order_drop(m, &c->order, s->ticket);
		return;
	}
	mine = send_make(m, s);
	if (!mine) {
		match_order_drop(m, &c->order, s->ticket);
		return;
	}
	mine->channel = c;
	match_order_add(m, &c->order, &mine->call);
}

void receive_register(struct match *m, struct receive *r)
{
	struct receive *other;
	struct early *e;

	if (!r->request)
		return;
	other = match_table_find(&m->request_at, r->proc_id, r->request);
	if (other) { /* it has ended unseen */
		receive_forget_request(m, other);
		if (other->partner)
			tell_pair(m, other);
	}
	e = match_table_find(&m->early_at, r->proc_id, r->request);
	if (!e) {
		match_table_add(&m->request_at, r->proc_id, r->request, r);
		return;
	}
	if (!e->done.cancelled)
		receive_set_done(r, &e->done);
	else if (!r->known && !r->init)
		r->call.flags |= MATCH_VOID;
	r->request = 0;
	drop_early(m, e);
}

void match_receive(struct match *m, const struct match_receive *r)
{
	struct space *s;
	struct receive *mine;

	if (r->flags & MATCH_PARTITIONED) {
		partitioned_receive(m, r);
		return;
	}
	s = space_of(m, r->comm, r->destination, true);
	if (!s) {
		m->counts.overflow++;
		return;
	}
	mine = receive_make(m, r);
	if (!mine) {
		match_order_drop(m, &s->order, r->ticket);
		return;
	}
	mine->space = s;
	if (!(r->flags & MATCH_VOID))
		receive_register(m, mine);
	match_order_add(m, &s->order, &mine->call);
}

/* ---- from order.c ------------------------------------------------------------------------
 */

void call_ready(struct match *m, struct sequence *q, struct call *c)
{
	if (c->flags & MATCH_VOID)
		call_discard(m, q, c);
	else if (q->of_sends)
		channel_send(m, (struct send *)c);
	else
		receive_open(m, (struct receive *)c);
}

void call_discard(struct match *m, struct sequence *q, struct call *c)
{
	if (q->of_sends)
		send_free(m, (struct send *)c);
	else
		receive_free(m, (struct receive *)c);
}

void calls_lost(struct match *m, struct sequence *q, uint64_t n)
{
	if (q->of_sends)
		sends_lost(m, (struct channel *)((char *)q - offsetof(struct channel, order)), n);
	else
		receives_lost(m, (struct space *)((char *)q - offsetof(struct space, order)), n);
}

bool match_order_is_damaged(const struct match *m, const struct sequence *q)
{
	const struct channel *c = (const void *)((const char *)q - offsetof(struct channel, order));
	const struct space *s = (const void *)((const char *)q - offsetof(struct space, order));
	const struct party *p =
		q->of_sends ? match_table_find(&m->party_at, c->source, 0) : s->party;

	return p && p->damaged;
}

/* ---- the course of things
 * ------------------------------------------------------------------------ */

void match_lost(struct match *m, uint64_t proc_id)
{
	struct party *p = match_party(m, proc_id);

	p->damaged = true;
	for (struct space *s = p->spaces; s; s = s->next_of_party)
		s->suspect_to = s->order.next;
}

void match_progress(struct match *m, uint64_t proc_id, uint64_t until)
{
	struct party *p = match_party(m, proc_id);

	if (until <= p->progress)
		return;
	p->progress = until;
	partitioned_progress(m, p);
}

void match_set_clock_bound(struct match *m, uint64_t bound)
{
	m->options.clock_bound = bound;
}

/* Puts all calls into order, and pairs those that this settles. */
static void finish_orders(struct match *m, struct space *s)
{
	for (; s; s = s->next_of_comm) {
		for (struct channel *c = s->channels; c; c = c->next)
			match_order_finish(m, &c->order);
		match_order_finish(m, &s->order);
	}
}

static void finish_spaces(struct match *m, struct space *s)
{
	for (; s; s = s->next_of_comm) {
		space_force(m, s);
		space_leave(m, s);
	}
}

/* Messages that a probe took and nobody received. */
static void tell_probed(struct match *m, uint64_t comm, bool all)
{
	struct receive **found = xmalloc((m->request_at.n + 1) * sizeof(struct receive *));
	size_t n = 0;

	for (size_t i = 0; m->request_at.slots && i <= m->request_at.mask; i++) {
		struct receive *r = m->request_at.slots[i].value;

		if (r && r->partner && (all || r->comm == comm))
			found[n++] = r;
	}
	for (size_t i = 0; i < n; i++)
		tell_pair(m, found[i]);
	free(found);
}

void match_gone(struct match *m, uint64_t comm)
{
	struct space *s = match_table_find(&m->comm_at, comm, 0), *next;

	finish_orders(m, s);
	finish_spaces(m, s);
	partitioned_finish(m, comm, false);
	if (m->request_at.n)
		tell_probed(m, comm, false);
	match_table_remove(&m->comm_at, comm, 0);
	for (; s; s = next) {
		next = s->next_of_comm;
		space_free(m, s);
	}
}

void match_end(struct match *m)
{
	match_defer_no_more(m);
	for (size_t i = 0; m->comm_at.slots && i <= m->comm_at.mask; i++)
		finish_orders(m, m->comm_at.slots[i].value);
	for (size_t i = 0; m->comm_at.slots && i <= m->comm_at.mask; i++)
		finish_spaces(m, m->comm_at.slots[i].value);
	partitioned_finish(m, 0, true);
	tell_probed(m, 0, true);
}
