/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from one line to another, from the first that is read of one to its last end. */
#include <stdlib.h>

#include "nodeagent/causal/internal.h"

static struct flight *flight_of(struct causal *c, uint64_t flow)
{
	struct flight *f = match_table_find(&c->flights, flow, flow % 8);

	if (f)
		return f;
	f = xcalloc(1, sizeof(*f));
	f->flow = flow;
	f->send.line = f->post.line = CAUSAL_NONE;
	match_table_add(&c->flights, flow, flow % 8, f);
	return f;
}

static void drop_flight(struct causal *c, struct flight *f)
{
	if (!f->received || f->send_open || f->probes || f->send.progress != REACHED ||
		f->post.progress == READ)
		return;
	match_table_remove(&c->flights, f->flow, f->flow % 8);
	free(f);
}

static bool may_block(const struct causal *c, uint32_t line, const struct causal_message *m)
{
	const bool far = c->lines[line].is.node != c->lines[m->peer].is.node;

	if (m->synchronous || m->buffered)
		return m->synchronous;
	return m->bytes > INT64_MAX || (int64_t)m->bytes > c->eager[far];
}

static void read_side(struct causal *c, uint32_t line, const struct causal_message *m, bool is_send)
{
	struct flight *f = (lines_advance(c, m->enter), flight_of(c, m->flow));
	struct moment *side = is_send ? &f->send : &f->post, *other = is_send ? &f->post : &f->send;
	const struct item item = {.t = m->enter,
		.kind = is_send ? ITEM_SEND : ITEM_POST,
		.path = CAUSAL_NONE,
		.flight = f};

	if (side->progress != NOT_READ) /* two of one number */
		return;
	*side = (struct moment){.progress = READ, .line = line, .t = m->enter};
	if (other->progress == NOT_READ)
		other->line = m->peer;
	if (!is_send) {
		f->queue = m->queue;
		f->takes = m->takes;
	}
	if (is_send) {
		f->send_open = may_block(c, line, m) && m->leave != INT64_MAX;
		c->lines[f->post.line].in_flight += !f->received;
	}
	if (m->leave != INT64_MAX)
		line_open(c, line,
			&(struct operation){.end = m->leave,
				.flight = !is_send || f->send_open ? f : NULL,
				.is_send = is_send});
	line_read(c, line, &item);
}

void causal_send(struct causal *c, uint32_t line, const struct causal_message *m)
{
	read_side(c, line, m, true);
}

void causal_receive(struct causal *c, uint32_t line, const struct causal_message *m)
{
	read_side(c, line, m, false);
}

void causal_probe(struct causal *c, uint32_t line, const struct causal_message *m)
{
	struct flight *f = (lines_advance(c, m->enter), flight_of(c, m->flow));
	const struct item item = {
		.t = m->enter, .kind = ITEM_PROBE, .path = CAUSAL_NONE, .flight = f};

	if (f->post.progress == NOT_READ)
		f->post.line = line;
	if (f->send.progress == NOT_READ)
		f->send.line = m->peer;
	f->probed = true;
	f->probe_takes = m->takes;
	f->probes++;
	line_read(c, line, &item);
}

void probe_over(struct causal *c, struct flight *f)
{
	f->probes--;
	drop_flight(c, f);
}

void flight_reached(struct causal *c, struct flight *f, bool is_send)
{
	struct moment *m = is_send ? &f->send : &f->post, *other = is_send ? &f->post : &f->send;

	moment_set(c, m, m->line);
	m->common = common_of(c, m->line, other->line, m->t + 1);
	drop_flight(c, f);
}

static bool side_is_known(const struct moment *m, int64_t until)
{
	return m->progress != READ || m->t > until;
}

bool flight_is_known(const struct flight *f, bool is_send, int64_t until)
{
	return side_is_known(is_send ? &f->post : &f->send, until);
}

/* Of a call that sends and receives, and waits for both at once, the profile has the late sender.
 */
static bool is_longer(const struct found *best, int64_t t, enum wait_kind kind)
{
	return t > best->t || (t == best->t && best->line != CAUSAL_NONE &&
				      best->kind == WAIT_LATE_RECEIVER && kind == WAIT_LATE_SENDER);
}

void flight_look(
	struct causal *c, const struct flight *f, bool is_send, int64_t until, struct found *best)
{
	const enum wait_kind kind = is_send ? WAIT_LATE_RECEIVER : WAIT_LATE_SENDER;
	const struct moment *m = is_send ? &f->post : &f->send;

	if (m->progress != REACHED || m->t > until)
		return;
	best->k = m->k > best->k ? m->k : best->k;
	if (!is_longer(best, m->t, kind) || m->line == (is_send ? f->send.line : f->post.line))
		return;
	best->t = m->t;
	best->line = m->line;
	best->stretches = m->stretches;
	best->kind = kind;
	best->flight = is_send ? NULL : f;
	best->common = m->common;
}

void flight_over(struct causal *c, struct flight *f, bool is_send, int64_t at)
{
	const struct moment *own = is_send ? &f->send : &f->post,
			    *other = is_send ? &f->post : &f->send;

	if (is_send)
		f->send_open = false;
	else
		f->received = true;
	if (!is_send && other->progress == NOT_READ)
		c->totals.doubts[CAUSAL_NO_SEND]++;
	else if (!is_send && c->lines[own->line].in_flight)
		c->lines[own->line].in_flight--;
	if (other->progress == REACHED && other->line != own->line && other->t <= at + c->tolerance)
		common_add(c, own->line, other->line, other->t, at);
	drop_flight(c, f);
}

void flights_free(struct causal *c)
{
	for (size_t i = 0; c->flights.slots && i <= c->flights.mask; i++)
		free(c->flights.slots[i].value);
	match_table_free(&c->flights);
}
