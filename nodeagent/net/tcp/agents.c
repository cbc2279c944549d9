/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other agents that this one has to do with: its neighbours in the tree (net/tree.h), past
 * those that are away, and whoever has something for us or we for it. Of all others only the
 * contact is known.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tree.h"
#include "nodeagent/base/util.h"

struct tcp_agent *tcp_agent_of(struct tcp *t, int rank)
{
	struct tcp_agent *a = t->agents[rank];

	if (a)
		return a;
	a = xcalloc(1, sizeof(*a));
	a->rank = rank;
	a->contact = &t->list.at[rank];
	a->link.fd = -1;
	a->kept_end = &a->kept;
	a->down_since = transport_now();
	t->agents[rank] = a;
	*LIST_ADD(t, known) = a;
	return a;
}

struct tcp_agent *tcp_agent_known(const struct tcp *t, int rank)
{
	return t->agents && rank >= 0 && rank < t->transport.size ? t->agents[rank] : NULL;
}

bool tcp_needs(const struct tcp_agent *a)
{
	return a->near || a->kept || a->wanted;
}

void tcp_want(struct tcp *t, struct tcp_agent *a)
{
	const double now = transport_now();

	if (tcp_needs(a) || a->link.fd >= 0)
		return;
	a->down_since = now;
	a->refused_since = 0;
	a->pause = 0;
	if (a->next_dial > now + PAUSE_MOST_S)
		a->next_dial = now;
	t->next = 0;
}

/* Its neighbours in the tree have to do without it. */
static bool is_away(const struct tcp_agent *a)
{
	return a->dead || a->absent || a->left_told;
}

static bool mark_agent(struct tcp *t, int rank)
{
	struct tcp_agent *a = tcp_agent_of(t, rank);

	a->marked = true;
	return is_away(a);
}

static void mark_below(struct tcp *t, int top)
{
	for (int k = 0, child; (child = tree_child(t->transport.size, top, k)) > 0; k++)
		if (mark_agent(t, child))
			mark_below(t, child);
}

void tcp_find_neighbours(struct tcp *t)
{
	t->near_stale = false;
	for (size_t i = 0; i < t->n_known; i++)
		t->known[i]->marked = false;
	for (int rank = t->transport.rank; rank;) {
		rank = tree_parent(rank);
		if (!mark_agent(t, rank))
			break;
	}
	mark_below(t, t->transport.rank);
	for (size_t i = 0; i < t->n_known; i++) {
		struct tcp_agent *a = t->known[i];
		const bool news = a->marked && !a->near;

		if (news)
			tcp_want(t, a);
		a->near = a->marked;
		if (news && a->link.fd >= 0)
			tcp_news_all(t, a);
	}
}

void tcp_forget_life(struct tcp *t, struct tcp_agent *a)
{
	uint64_t seq = 0;

	free(a->partial);
	a->partial = NULL;
	a->partial_room = 0;
	a->life = a->received = a->told = a->acked = 0;
	for (struct tcp_chunk *c = a->kept; c; c = c->next)
		c->frame.seq = ++seq;
	a->last_seq = seq;
	a->unsent = a->kept;
	/* what the one before had to pass on goes another way, too */
	tcp_note_slow(t, a);
	t->transport.anew++;
	t->transport.news++;
}
