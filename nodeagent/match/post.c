/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open receives. A message goes to the oldest one that can take it, so a
 * receive that is complete is held as long as an older one is open that could
 * have taken the same message: that one will turn out to have taken an earlier
 * one. Open receives are listed by what they were posted with: source and tag, a
 * wildcard for either, or for both; of each list only the oldest matters.
 */
#include "nodeagent/match/internal.h"

/* ---- lists by selector -------------------------------------------------------- */

static struct selector *tag_selector_of(struct match *m, struct space *s, uint32_t tag)
{
	struct tag_selector *t = match_table_find(&m->tag_at, (uint64_t)(uintptr_t)s, tag);

	if (!t) {
		t = match_pool_take(&m->tag_selectors);
		t->tag = tag;
		s->n_tag_selectors++;
		match_table_add(&m->tag_at, (uint64_t)(uintptr_t)s, tag, t);
	}
	return &t->selector;
}

static void release_receive(struct match *m, struct receive *r, struct selector *l)
{
	struct tag_selector *t = (struct tag_selector *)l;
	struct stream *stream;

	if (l->oldest || l->n_held || l == &r->space->any)
		return;
	if (r->source == MATCH_ANYWHERE) {
		match_table_remove(&m->tag_at, (uint64_t)(uintptr_t)r->space, t->tag);
		r->space->n_tag_selectors--;
		selector_free(l);
		match_pool_give(&m->tag_selectors, t);
	} else if (r->tag != MATCH_ANY_TAG) {
		stream = r->stream;
		if (stream)
			stream_release(m, stream);
	}
}

void selector_free(struct selector *l)
{
	free(l->held);
	*l = (struct selector){0};
}

/* NULL: too many channels. */
static struct selector *selector_of(struct match *m, struct receive *r)
{
	struct space *s = r->space;
	struct channel *c;

	if (r->source == MATCH_ANYWHERE)
		return r->tag == MATCH_ANY_TAG ? &s->any : tag_selector_of(m, s, r->tag);
	c = channel_of(m, s, r->source);
	if (!c)
		return NULL;
	if (r->tag == MATCH_ANY_TAG)
		return &c->any_tag;
	r->stream = stream_of(m, c, r->tag);
	return &r->stream->exact;
}

/* r is younger than all in it. */
static bool list_receive(struct match *m, struct receive *r)
{
	struct selector *l = selector_of(m, r);

	if (!l)
		return false;
	r->selector = l;
	r->older = l->youngest;
	r->younger = NULL;
	*(l->youngest ? &l->youngest->younger : &l->oldest) = r;
	l->youngest = r;
	r->in_selector = true;
	call_append(&r->space->open, &r->call);
	return true;
}

/* ---- held ones ------------------------------------------------------------------- */

static bool is_before(const struct receive *a, const struct receive *b)
{
	return a->call.position < b->call.position;
}

static void hold_receive(struct selector *l, struct receive *r)
{
	size_t i = l->n_held;

	l->held = grow(l->held, l->n_held, &l->cap_held, sizeof(struct receive *));
	l->n_held++;
	for (; i && is_before(r, l->held[(i - 1) / 2]); i = (i - 1) / 2)
		l->held[i] = l->held[(i - 1) / 2];
	l->held[i] = r;
}

static struct receive *take_held(struct selector *l)
{
	struct receive *first = l->held[0], *r = l->held[--l->n_held];
	size_t i = 0, k;

	for (; (k = 2 * i + 1) < l->n_held; i = k) {
		if (k + 1 < l->n_held && is_before(l->held[k + 1], l->held[k]))
			k++;
		if (!is_before(l->held[k], r))
			break;
		l->held[i] = l->held[k];
	}
	if (l->n_held)
		l->held[i] = r;
	return first;
}

static void wake(struct match *m, struct selector *l)
{
	while (l->n_held && !(l->oldest && is_before(l->oldest, l->held[0]))) {
		struct receive *r = take_held(l);

		r->next = NULL;
		*(m->woken ? &m->last_woken->next : &m->woken) = r;
		m->last_woken = r;
	}
}

static void unlist(struct match *m, struct receive *r)
{
	struct selector *l = r->selector;

	if (!r->in_selector)
		return;
	*(r->older ? &r->older->younger : &l->oldest) = r->younger;
	*(r->younger ? &r->younger->older : &l->youngest) = r->older;
	r->in_selector = false;
	call_unlink(&r->space->open, &r->call);
	wake(m, l);
	release_receive(m, r, l);
	r->selector = NULL;
}

/* ---- resolving --------------------------------------------------------------------- */

static bool is_blocked_by(const struct selector *l, const struct receive *r)
{
	return l && l->oldest && is_before(l->oldest, r);
}

/* The list with an older open receive that could have taken r's message, or NULL. */
static struct selector *blocked_by(struct match *m, struct stream *stream, struct receive *r)
{
	struct space *s = r->space;
	struct tag_selector *t = NULL;

	if (is_blocked_by(&s->any, r))
		return &s->any;
	if (is_blocked_by(&stream->channel->any_tag, r))
		return &stream->channel->any_tag;
	if (s->n_tag_selectors)
		t = match_table_find(&m->tag_at, (uint64_t)(uintptr_t)s, r->call.tag);
	if (t && is_blocked_by(&t->selector, r))
		return &t->selector;
	return is_blocked_by(&stream->exact, r) ? &stream->exact : NULL;
}

static void pass_on(struct match *m, struct stream *stream, struct receive *r)
{
	stream->pins++;
	unlist(m, r);
	channel_receive(m, stream, r);
	stream->pins--;
	stream_release(m, stream);
}

/*
 * Gives up a receive whose completion was lost, as a younger one is complete. Without
 * wildcards, the message that it took is known, if it took one.
 */
static void give_up(struct match *m, struct receive *r)
{
	struct space *s = r->space;

	if (r->source == MATCH_ANYWHERE || r->tag == MATCH_ANY_TAG) {
		unlist(m, r);
		unmatched_receive(m, r, MATCH_NOT_COMPLETED);
		receives_lost(m, s, 1);
		return;
	}
	receive_forget_request(m, r);
	r->done = (struct match_done){.source = r->source, .tag = r->tag, .unknown = true};
	r->known = r->complete = true;
	pass_on(m, r->stream, r);
}

/* False: it is held. */
static bool resolve_in(struct match *m, struct stream *stream, struct receive *r)
{
	struct space *s = r->space;
	struct selector *l;

	while (s->open.n && (l = blocked_by(m, stream, r))) {
		if (l->oldest->call.position < s->suspect_to && !l->oldest->known) {
			give_up(m, l->oldest);
			continue;
		}
		if (!r->in_selector && !list_receive(m, r))
			break;
		hold_receive(l, r);
		return false;
	}
	return true;
}

static void resolve_receive(struct match *m, struct receive *r)
{
	struct channel *c = NULL;
	struct stream *stream;
	bool held;

	if (r->call.peer != MATCH_ELSEWHERE)
		c = channel_of(m, r->space, r->call.peer);
	if (!c) {
		unlist(m, r);
		unmatched_receive(m, r, MATCH_OF_ELSEWHERE);
		return;
	}
	stream = stream_of(m, c, r->call.tag);
	stream->pins++;
	held = !resolve_in(m, stream, r);
	stream->pins--;
	if (held)
		stream_release(m, stream);
	else
		pass_on(m, stream, r);
}

static void work_off(struct match *m)
{
	struct receive *r;

	if (m->waking)
		return;
	m->waking = true;
	while ((r = m->woken)) {
		m->woken = r->next;
		resolve_receive(m, r);
	}
	m->waking = false;
}

void receive_open(struct match *m, struct receive *r)
{
	r->stage = RECEIVE_OPEN;
	if (r->known)
		resolve_receive(m, r);
	else if (!list_receive(m, r))
		unmatched_receive(m, r, MATCH_OF_ELSEWHERE);
	work_off(m);
}

void receive_completed(struct match *m, struct receive *r)
{
	resolve_receive(m, r);
	work_off(m);
}

void receive_close(struct match *m, struct receive *r)
{
	unlist(m, r);
	receive_free(m, r);
	work_off(m);
}

/* r is the oldest of its list. A younger receive of the same source and tag is complete: messages
 * do not overtake each other, so r has got an earlier one, and its completion was lost. */
static bool is_overtaken(const struct receive *r)
{
	return r->source != MATCH_ANYWHERE && r->tag != MATCH_ANY_TAG && r->selector->n_held;
}

void space_force(struct match *m, struct space *s)
{
	for (;;) {
		struct call *c = s->open.first;

		while (c && ((struct receive *)c)->known)
			c = c->after;
		if (!c)
			break;
		s->assumed = true;
		if (is_overtaken((struct receive *)c)) {
			give_up(m, (struct receive *)c);
		} else {
			unlist(m, (struct receive *)c);
			unmatched_receive(m, (struct receive *)c, MATCH_NOT_COMPLETED);
		}
		work_off(m);
	}
}
