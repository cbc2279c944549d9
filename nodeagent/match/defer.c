/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receives whose sends come at the end only, as they are on another node. One that
 * is settled - all before it that could have taken its message are complete - only
 * waits for its send: it is given away, and comes back when the send is there. One
 * that is not complete, as after a matched probe, stays, and so do all after it.
 */
#include "nodeagent/match/internal.h"

static struct receive *first_kept(const struct channel *c)
{
	return (struct receive *)c->kept.first;
}

static void give_away(struct match *m, struct channel *c)
{
	struct receive *r;

	while ((r = first_kept(c)) && r->complete) {
		struct match_receive told = tell_receive(r);

		told.done.source = r->call.peer;
		told.done.tag = r->call.tag;
		told.flags |= r->call.ambiguous ? (uint32_t)MATCH_OVERLAPS : 0;
		if (!m->options.defer(m->options.arg, &told))
			return;
		call_unlink(&c->kept, &r->call);
		receive_free(m, r);
		c->deferred++;
	}
}

void deferred_take_kept(struct match *m, struct channel *c)
{
	struct receive *r;

	while (!c->deferred && (r = first_kept(c))) {
		struct stream *stream = stream_of(m, c, r->call.tag);

		call_unlink(&c->kept, &r->call);
		stream->pins++;
		channel_take(m, stream, r);
		stream->pins--;
		stream_release(m, stream);
	}
}

void receive_defer(struct match *m, struct channel *c, struct receive *r)
{
	r->stage = RECEIVE_RESOLVED;
	r->stream = NULL;
	call_append(&c->kept, &r->call);
	if (channel_is_far(m, c))
		give_away(m, c);
	else
		deferred_take_kept(m, c);
}

void match_deferred(struct match *m, const struct match_receive *r)
{
	struct space *s = space_of(m, r->comm, r->destination, false);
	struct channel *c = s ? channel_of(m, s, r->done.source) : NULL;
	struct match_receive back = *r;
	struct stream *stream;
	struct receive *mine;

	if (!c || !c->deferred) {
		m->counts.late++;
		return;
	}
	c->deferred--;
	back.source = r->done.source;
	back.tag = r->done.tag;
	back.flags = (back.flags & ~(uint32_t)MATCH_OVERLAPS) | MATCH_DONE;
	mine = receive_make(m, &back);
	if (mine) {
		mine->space = s;
		mine->source = r->source;
		mine->tag = r->tag;
		mine->call.ambiguous = r->flags & MATCH_OVERLAPS;
		stream = stream_of(m, c, r->done.tag);
		stream->pins++;
		channel_take(m, stream, mine);
		stream->pins--;
		stream_release(m, stream);
	} else {
		c->tainted = true; /* it was one too many */
	}
	deferred_take_kept(m, c);
}

void match_defer_no_more(struct match *m)
{
	if (!m->defers)
		return;
	for (size_t i = 0; m->channel_at.slots && i <= m->channel_at.mask; i++) {
		struct channel *c = m->channel_at.slots[i].value;

		if (c && c->kept.first)
			give_away(m, c);
	}
	m->defers = false;
	for (size_t i = 0; m->channel_at.slots && i <= m->channel_at.mask; i++)
		if (m->channel_at.slots[i].value)
			deferred_take_kept(m, m->channel_at.slots[i].value);
}

void match_deferred_lost(struct match *m)
{
	for (size_t i = 0; m->channel_at.slots && i <= m->channel_at.mask; i++) {
		struct channel *c = m->channel_at.slots[i].value;

		if (c && (c->deferred || c->kept.first))
			c->tainted = true;
	}
}

void deferred_leave(struct match *m, struct channel *c)
{
	m->counts.unmatched_receives[MATCH_NO_SEND] += c->deferred;
	c->tainted |= c->deferred && c->kept.first;
	c->deferred = 0;
	deferred_take_kept(m, c);
}
