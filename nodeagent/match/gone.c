/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are freed. Their spaces go when the last member has freed them, as far as it
 * is known here: members on other nodes are not, nor those that have never used it. So the space
 * of each member goes by itself, when that has freed the communicator and nothing is left in it.
 */
#include "nodeagent/match/internal.h"

#define LOOKS 2 /* at spaces that are left, each time a member is gone */

static bool is_empty(const struct sequence *q)
{
	return !q->waiting.n && !q->unsettled.n;
}

/* Nothing waits here for records that are still to come. */
static bool is_idle(const struct space *s)
{
	if (!is_empty(&s->order) || s->open.n || s->unpaired || s->probed || s->unattributed ||
		s->unconsumed || s->lost_receives)
		return false;
	for (const struct channel *c = s->channels; c; c = c->next)
		if (!is_empty(&c->order) || c->sends.n || c->receives.n || c->kept.n ||
			c->deferred || c->sent != c->received)
			return false;
	return true;
}

/* How many members are gone is of no interest where nothing is left. */
static void forget_count(struct match *m, uint64_t comm)
{
	if (!match_table_find(&m->comm_at, comm, 0) && !m->gate_at.n)
		match_table_remove(&m->gone_at, comm, 0);
}

static void forget_space(struct match *m, struct space *s)
{
	const uint64_t comm = s->comm;

	if (s->next_of_comm)
		s->next_of_comm->before_of_comm = s->before_of_comm;
	if (s->before_of_comm)
		s->before_of_comm->next_of_comm = s->next_of_comm;
	else if (s->next_of_comm)
		match_table_add(&m->comm_at, comm, 0, s->next_of_comm);
	else
		match_table_remove(&m->comm_at, comm, 0);
	space_free(m, s);
	m->forgotten[m->n_forgotten++ % FORGOTTEN_MOST] = comm;
	forget_count(m, comm);
}

bool match_was_forgotten(const struct match *m, uint64_t comm)
{
	return ANY(i, MIN(m->n_forgotten, (uint64_t)FORGOTTEN_MOST), m->forgotten[i] == comm);
}

static void append_left(struct match *m, struct space *s)
{
	s->is_left = true;
	s->after_left = NULL;
	s->before_left = m->last_left;
	*(m->last_left ? &m->last_left->after_left : &m->first_left) = s;
	m->last_left = s;
}

void space_not_left(struct match *m, struct space *s)
{
	if (!s->is_left)
		return;
	*(s->before_left ? &s->before_left->after_left : &m->first_left) = s->after_left;
	*(s->after_left ? &s->after_left->before_left : &m->last_left) = s->before_left;
	s->is_left = false;
}

/* Each is looked at in turn: a sender's records may be read long after those of the receiver. */
static void look_at_left(struct match *m)
{
	struct space *s;

	for (int i = 0; i < LOOKS && (s = m->first_left); i++) {
		space_not_left(m, s);
		if (is_idle(s))
			forget_space(m, s);
		else
			append_left(m, s);
	}
}

void match_member_gone(struct match *m, uint64_t comm, uint64_t proc_id, uint64_t members)
{
	const uintptr_t n = (uintptr_t)match_table_find(&m->gone_at, comm, 0) + 1;
	struct space *s = match_table_find(&m->space_at, comm, proc_id);

	if (n >= members) {
		match_table_remove(&m->gone_at, comm, 0);
		match_gone(m, comm);
		return;
	}
	match_table_add(&m->gone_at, comm, 0, (void *)n);
	if (s && !s->order.waiting.n)
		match_order_finish(m, &s->order); /* it posts no more */
	if (s && !s->is_left)
		append_left(m, s);
	if (!s)
		forget_count(m, comm);
	look_at_left(m);
}
