/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs sends with receives. As long as nothing was lost, each receive takes
 * the oldest send of its stream (one source, one tag).
 *
 * When records were lost, their tags are not known, and the channel is in doubt.
 * Its receives are then taken one after the other, and counted:
 *
 *  - sends before the first lost one are paired as usual
 *  - send number n entered MPI after all of the first n receives were over: those
 *    took all sends before it, in whatever order. From here on the channel is
 *    sound again.
 *  - only one tag was seen since all was received: receive n has got send n, as
 *    long as the lost ones had that tag, too
 *  - else the channel is broken until as many were received as sent; remaining
 *    sends belong to lost receives. From there on it is in doubt, but not broken.
 *
 * Of a lost receive even the source is unknown, and whether it got a message.
 * If several sources are possible, all channels of its space are broken until
 * the totals of all agree.
 *
 * But where recording was off on both sides, lost receives are as many as the lost
 * sends that come next in all channels, and nothing else is missing: then those
 * were received, and nothing is in doubt.
 */
#include "nodeagent/match/internal.h"

static struct send *send_of(struct call *c)
{
	return (struct send *)c;
}

static struct receive *receive_of(struct call *c)
{
	return (struct receive *)c;
}

/* ---- finding and making -------------------------------------------------------- */

struct space *space_of(struct match *m, uint64_t comm, uint64_t proc_id, bool make)
{
	struct space *s = m->space;

	if (s && s->proc_id == proc_id && s->comm == comm)
		return s;
	s = match_table_find(&m->space_at, comm, proc_id);
	if (s)
		m->space = s;
	if (s || !make || m->channels.used + m->spaces.used >= MATCH_CHANNELS_MAX)
		return s;
	s = match_pool_take(&m->spaces);
	s->comm = comm;
	s->proc_id = proc_id;
	s->party = match_party(m, proc_id);
	s->next_of_party = s->party->spaces;
	s->link_of_party = &s->party->spaces;
	if (s->next_of_party)
		s->next_of_party->link_of_party = &s->next_of_party;
	s->party->spaces = s;
	s->next_of_comm = match_table_find(&m->comm_at, comm, 0);
	if (s->next_of_comm)
		s->next_of_comm->before_of_comm = s;
	match_table_add(&m->comm_at, comm, 0, s);
	match_table_add(&m->space_at, comm, proc_id, s);
	return s;
}

struct channel *channel_of(struct match *m, struct space *s, uint64_t source)
{
	struct channel *c = s->recent;

	if (c && c->source == source)
		return c;
	c = match_table_find(&m->channel_at, (uint64_t)(uintptr_t)s, source);
	if (!c) {
		if (m->channels.used + m->spaces.used >= MATCH_CHANNELS_MAX)
			return NULL;
		c = match_pool_take(&m->channels);
		c->space = s;
		c->source = source;
		c->order.of_sends = true;
		c->doubt = c->unsure = s->lost_receives;
		c->broken = s->unattributed > 0;
		c->tainted = s->lost_receives && channel_is_far(m, c);
		c->next = s->channels;
		s->channels = c;
		s->n_channels++;
		match_table_add(&m->channel_at, (uint64_t)(uintptr_t)s, source, c);
	}
	s->recent = c;
	return c;
}

struct stream *stream_of(struct match *m, struct channel *c, uint32_t tag)
{
	const uint64_t key = (uint64_t)(uintptr_t)c;
	struct stream *before = c->recent, *s;

	if (before && before->tag == tag)
		return before;
	s = match_table_find(&m->stream_at, key, tag);
	if (!s) {
		s = match_pool_take(&m->streams);
		s->channel = c;
		s->tag = tag;
		match_table_add(&m->stream_at, key, tag, s);
	}
	c->recent = s;
	if (before)
		stream_release(m, before);
	return s;
}

void stream_release(struct match *m, struct stream *s)
{
	if (s->sends || s->receives || s->exact.oldest || s->exact.n_held || s->pins ||
		s->channel->recent == s)
		return;
	match_table_remove(&m->stream_at, (uint64_t)(uintptr_t)s->channel, s->tag);
	selector_free(&s->exact);
	match_pool_give(&m->streams, s);
}

/* ---- taking out ----------------------------------------------------------------- */

/* The first of its stream. */
static void take_send(struct channel *c, struct send *s)
{
	s->stream->sends = s->next;
	if (!s->next)
		s->stream->last_send = NULL;
	if (c->cursor == s)
		c->cursor = send_of(s->call.after);
	call_unlink(&c->sends, &s->call);
}

/* The first of its stream. It counts as received. */
static void take_receive(struct channel *c, struct receive *r)
{
	uint64_t until = r->call.flags & MATCH_PROBED ? r->call.leave : r->done.leave;

	r->stream->receives = r->next;
	if (!r->next)
		r->stream->last_receive = NULL;
	call_unlink(&c->receives, &r->call);
	c->space->unpaired--;
	c->space->unconsumed--;
	c->received++;
	if (!r->done.unknown && (!c->received_until || is_later(until, c->received_until)))
		c->received_until = until;
}

static void pair(struct match *m, struct send *s, struct receive *r, enum match_label label)
{
	struct channel *c = s->channel;
	struct stream *stream = s->stream;

	take_send(c, s);
	take_receive(c, r);
	match_pair(m, s, r, label);
	stream_release(m, stream);
}

static void give_up_receive(
	struct match *m, struct channel *c, struct receive *r, enum match_reason why)
{
	struct stream *stream = r->stream;

	take_receive(c, r);
	unmatched_receive(m, r, why);
	stream_release(m, stream);
}

static void give_up_send(struct match *m, struct channel *c, struct send *s, enum match_reason why)
{
	struct stream *stream = s->stream;

	take_send(c, s);
	unmatched_send(m, s, why);
	stream_release(m, stream);
}

/* Gives up all sends before ordinal n. */
static void give_up_before(struct match *m, struct channel *c, uint64_t n)
{
	while (c->sends.first && send_of(c->sends.first)->ordinal < n)
		give_up_send(m, c, send_of(c->sends.first), MATCH_PARTNER_LOST);
}

/* ---- gaps: sends that were lost --------------------------------------------------- */

static void drop_first_gap(struct match *m, struct channel *c)
{
	struct gap *gap = c->gap;

	c->gap = gap->next;
	if (!c->gap)
		c->last_gap = NULL;
	match_pool_give(&m->gaps, gap);
}

/* Which sends were lost has served its purpose, or is not enough to know. */
static void drop_gaps(struct match *m, struct channel *c)
{
	while (c->gap)
		drop_first_gap(m, c);
}

/* The next n sends are lost. */
static void note_gap(struct match *m, struct channel *c, uint64_t n)
{
	struct gap *gap = c->last_gap;

	if (c->doubt && !gap)
		return;
	if (gap && gap->from + gap->n == c->sent) {
		gap->n += n;
		return;
	}
	gap = match_pool_take(&m->gaps);
	*gap = (struct gap){.from = c->sent, .n = n};
	*(c->last_gap ? &c->last_gap->next : &c->gap) = gap;
	c->last_gap = gap;
}

/* ---- in doubt ---------------------------------------------------------------------- */

static void move_cursor(struct channel *c)
{
	while (c->cursor && c->cursor->ordinal < c->received)
		c->cursor = send_of(c->cursor->call.after);
}

static void enter_doubt(struct channel *c)
{
	if (c->doubt)
		return;
	c->doubt = true;
	c->cursor = send_of(c->sends.first);
	move_cursor(c);
}

/* From now on, labels are no better than MATCH_ASSUMED. */
static void make_unsure(struct channel *c)
{
	c->unsure = true;
	enter_doubt(c);
}

static bool all_received(const struct channel *c)
{
	return c->sent == c->received && !c->receives.first;
}

static void see_tag(struct channel *c, uint32_t tag)
{
	if (all_received(c) && !c->sends.first)
		c->tags = 0;
	if (!c->tags)
		c->tag = tag;
	if (!c->tags || c->tag != tag)
		c->tags++;
}

/* The first n receives took the first n sends, n = received. */
static bool is_sound_again(const struct match *m, const struct channel *c)
{
	const struct send *s = c->cursor;

	return !c->unsure && s && s->ordinal == c->received && s->ordinal >= c->lost_to &&
	       is_later(s->call.enter, c->received_until) &&
	       s->call.enter - c->received_until > m->options.clock_bound;
}

static void leave_doubt(struct match *m, struct channel *c)
{
	struct receive *r, *after;

	give_up_before(m, c, c->received);
	drop_gaps(m, c);
	c->doubt = c->broken = false;
	c->missing = 0;
	c->cursor = NULL;
	c->tags = 2;
	for (r = receive_of(c->receives.first); r; r = after) {
		after = receive_of(r->call.after);
		if (r->stream->sends)
			pair(m, r->stream->sends, r, MATCH_EXACT);
	}
}

/* Pairs by number, if there is one tag only. */
static void pair_by_number(struct match *m, struct channel *c, struct receive *r)
{
	struct send *s;

	give_up_before(m, c, c->received);
	s = send_of(c->sends.first);
	if (s && s->ordinal == c->received) {
		pair(m, s, r, MATCH_ASSUMED);
		return;
	}
	c->missing -= c->missing > 0;
	drop_gaps(m, c);
	give_up_receive(m, c, r, MATCH_PARTNER_LOST);
}

/* False: its send may still come. */
static bool pair_by_tag(struct match *m, struct channel *c, struct receive *r)
{
	if (r->stream->sends) {
		pair(m, r->stream->sends, r, c->broken ? MATCH_BROKEN : MATCH_ASSUMED);
		return true;
	}
	if (c->space->unattributed || (!c->broken && !c->missing))
		return false;
	c->missing -= c->missing > 0;
	drop_gaps(m, c);
	give_up_receive(m, c, r, MATCH_PARTNER_LOST);
	return true;
}

/* Called when as many were received as sent. */
static void even_out(struct match *m, struct channel *c)
{
	c->received = c->sent;
	give_up_before(m, c, c->sent);
	drop_gaps(m, c);
	c->broken = false;
	c->missing = 0;
	c->tags = 0;
}

static void check_totals(struct match *m, struct space *s)
{
	if (!s->unattributed || s->unpaired || s->unconsumed != (int64_t)s->unattributed)
		return;
	s->unattributed = 0;
	s->unconsumed = 0;
	for (struct channel *c = s->channels; c; c = c->next)
		even_out(m, c);
}

static void work_in_doubt(struct match *m, struct channel *c)
{
	struct receive *r;

	while ((r = receive_of(c->receives.first))) {
		bool counted = !c->space->unattributed;

		if (!c->unsure && r->stream->sends && r->stream->sends->ordinal < c->lost_from) {
			pair(m, r->stream->sends, r, MATCH_EXACT);
			continue;
		}
		if (counted && c->sent <= c->received)
			break;
		move_cursor(c);
		if (counted && is_sound_again(m, c)) {
			leave_doubt(m, c);
			return;
		}
		if (counted && c->tags < 2)
			pair_by_number(m, c, r);
		else if (!pair_by_tag(m, c, r))
			break;
	}
	if (!c->space->unattributed && all_received(c))
		even_out(m, c);
	check_totals(m, c->space);
}

/* ---- what comes ------------------------------------------------------------------------ */

void channel_send(struct match *m, struct send *s)
{
	struct channel *c = s->channel;
	struct stream *stream;

	deferred_take_kept(m, c);
	stream = stream_of(m, c, s->call.tag);
	see_tag(c, s->call.tag);
	s->ordinal = c->sent++;
	c->space->unconsumed++;
	s->stream = stream;
	*(stream->sends ? &stream->last_send->next : &stream->sends) = s;
	stream->last_send = s;
	call_append(&c->sends, &s->call);
	if (c->doubt && !c->cursor && s->ordinal >= c->received)
		c->cursor = s;
	if (s->call.flags & MATCH_UNSURE)
		make_unsure(c);
	if (c->doubt)
		work_in_doubt(m, c);
	else if (stream->receives)
		pair(m, s, stream->receives, MATCH_EXACT);
}

void channel_receive(struct match *m, struct stream *stream, struct receive *r)
{
	struct channel *c = stream->channel;

	if (c->deferred || c->kept.first || channel_is_far(m, c))
		receive_defer(m, c, r);
	else
		channel_take(m, stream, r);
}

void channel_take(struct match *m, struct stream *stream, struct receive *r)
{
	struct channel *c = stream->channel;

	see_tag(c, r->call.tag);
	r->stage = RECEIVE_RESOLVED;
	r->stream = stream;
	r->next = NULL;
	*(stream->receives ? &stream->last_receive->next : &stream->receives) = r;
	stream->last_receive = r;
	call_append(&c->receives, &r->call);
	c->space->unpaired++;
	if (r->done.unknown)
		make_unsure(c);
	if (c->doubt)
		work_in_doubt(m, c);
	else if (stream->sends)
		pair(m, stream->sends, r, MATCH_EXACT);
}

void sends_lost(struct match *m, struct channel *c, uint64_t n)
{
	m->counts.lost_sends += n;
	if (all_received(c) && !c->sends.first)
		c->tags = 0;
	if (!c->doubt)
		c->lost_from = c->sent;
	note_gap(m, c, n);
	c->sent += n;
	c->lost_to = c->sent;
	c->missing += n;
	c->space->unconsumed += (int64_t)n;
	enter_doubt(c);
	c->broken |= c->tags > 1;
	work_in_doubt(m, c);
}

/* All sends before its first gap were received. */
static bool is_at_gap(const struct channel *c)
{
	return c->gap && c->gap->from == c->received && !c->unsure && !c->receives.first;
}

/* Gaps behind which sends wait become losses. Those of several threads may be late. */
static void look_for_gaps(struct match *m, struct space *s)
{
	for (struct channel *c = s->channels; c; c = c->next)
		if (c->order.waiting.n && !(c->order.waiting.first->flags & MATCH_CONCURRENT))
			match_order_jump(m, &c->order);
}

/* True: the lost receives have got the lost sends that come next, as neither were recorded. */
static bool are_left_out(struct match *m, struct space *s, uint64_t n)
{
	uint64_t sends = 0;

	if (s->party->damaged || s->unattributed || m->counts.overflow)
		return false;
	look_for_gaps(m, s);
	for (const struct channel *c = s->channels; c; c = c->next) {
		if (!is_at_gap(c))
			continue;
		if (match_order_is_damaged(m, &c->order))
			return false;
		sends += c->gap->n;
	}
	return sends == n;
}

static void leave_out(struct match *m, struct space *s, uint64_t n)
{
	s->unconsumed -= (int64_t)n;
	for (struct channel *c = s->channels; c; c = c->next) {
		if (!is_at_gap(c))
			continue;
		c->received += c->gap->n;
		c->missing -= c->gap->n;
		drop_first_gap(m, c);
		if (c->gap)
			c->lost_from = c->gap->from;
		else
			leave_doubt(m, c);
	}
}

void receives_lost(struct match *m, struct space *s, uint64_t n)
{
	struct channel *only = s->n_channels == 1 ? s->channels : NULL;

	m->counts.lost_receives += n;
	if (are_left_out(m, s, n)) {
		leave_out(m, s, n);
		return;
	}
	s->lost_receives = true;
	for (struct channel *c = s->channels; c; c = c->next) {
		make_unsure(c);
		c->tainted |= c->deferred || channel_is_far(m, c);
	}
	if (only && only->tags < 2 && !s->unattributed) {
		only->received += n;
		s->unconsumed -= (int64_t)n;
		work_in_doubt(m, only);
		return;
	}
	s->unattributed += n;
	for (struct channel *c = s->channels; c; c = c->next) {
		c->broken = true;
		work_in_doubt(m, c);
	}
}

/* ---- the end ----------------------------------------------------------------------------- */

void space_leave(struct match *m, struct space *s)
{
	for (struct channel *c = s->channels; c; c = c->next) {
		deferred_leave(m, c);
		/* what could still pair, had it not waited for others */
		for (struct receive *r = receive_of(c->receives.first), *after; r; r = after) {
			after = receive_of(r->call.after);
			if (r->stream->sends)
				pair(m, r->stream->sends, r,
					c->broken ? MATCH_BROKEN : MATCH_ASSUMED);
			else
				give_up_receive(
					m, c, r, c->missing ? MATCH_PARTNER_LOST : MATCH_NO_SEND);
		}
		while (c->sends.first)
			give_up_send(m, c, send_of(c->sends.first),
				s->lost_receives ? MATCH_PARTNER_LOST : MATCH_NOT_RECEIVED);
	}
}

static void forget_recent(struct match *m, struct channel *c)
{
	struct stream *s = c->recent;

	c->recent = NULL;
	if (s)
		stream_release(m, s);
}

void space_free(struct match *m, struct space *s)
{
	struct channel *next;

	for (struct channel *c = s->channels; c; c = next) {
		next = c->next;
		if (m->recent == c)
			m->recent = NULL;
		selector_free(&c->any_tag);
		drop_gaps(m, c);
		forget_recent(m, c);
		match_table_remove(&m->channel_at, (uint64_t)(uintptr_t)s, c->source);
		match_pool_give(&m->channels, c);
	}
	if (m->space == s)
		m->space = NULL;
	*s->link_of_party = s->next_of_party;
	if (s->next_of_party)
		s->next_of_party->link_of_party = s->link_of_party;
	selector_free(&s->any);
	space_not_left(m, s);
	match_table_remove(&m->space_at, s->comm, s->proc_id);
	match_pool_give(&m->spaces, s);
}
