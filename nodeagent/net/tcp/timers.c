/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens at certain times: agents are dialed, told that we are alive, and given up
 * when nothing is heard of them.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "nodeagent/net/tcp/internal.h"

#define REFUSED_S    1.0 /* so long nobody listens where an agent was: it has ended */
#define LOOK_AGAIN_S 0.002
#define NEVER	     1e18
#define SLOW_PART    30 /* of the deadline: without an answer for so long, an agent is slow */
#define SLOW_LEAST_S 0.5
#define SLOW_MOST_S  2.0

double tcp_slow_from(const struct tcp *t, const struct tcp_agent *a)
{
	const double s = t->deadline / SLOW_PART;

	return a->waiting_since + (s < SLOW_LEAST_S	    ? SLOW_LEAST_S
					  : s > SLOW_MOST_S ? SLOW_MOST_S
							    : s);
}

static void note_slow(struct tcp *t, struct tcp_agent *a)
{
	t->transport.news += !a->slow;
	a->slow = true;
}

/* It may be us that were stopped: then its answer is there to read. */
static double tick_slow(struct tcp *t, struct tcp_agent *a, double now)
{
	int error;

	if (a->slow || !a->kept || a->left || a->dead)
		return NEVER;
	error = now >= tcp_slow_from(t, a) && a->link.fd >= 0 ? tcp_link_read(t, a) : 0;
	if (error)
		tcp_lost(t, a, tcp_link_error(error));
	if (!a->kept)
		return NEVER;
	if (now < tcp_slow_from(t, a))
		return tcp_slow_from(t, a);
	note_slow(t, a);
	return NEVER;
}

/* How often an agent says that it is alive; without a word for three times that, it is cut. */
static double period(const struct tcp *t)
{
	double s = t->deadline / 6;

	return s < 0.2 ? 0.2 : s > 10 ? 10 : s;
}

/* The node has all we sent, or takes it: it is the agent that is slow, or was stopped. */
static bool node_answers(const struct tcp_agent *a)
{
	struct tcp_info info;
	socklen_t bytes = sizeof(info);

	return !getsockopt(a->link.fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) &&
	       !info.tcpi_unacked && !info.tcpi_retransmits;
}

static double silence_s(const struct tcp *t, const struct tcp_agent *a)
{
	return node_answers(a) && t->deadline > 3 * period(t) ? t->deadline : 3 * period(t);
}

/* After a silence: of us, perhaps, and there is much to read. */
static void tick_silent(struct tcp *t, struct tcp_agent *a, double now)
{
	int error = tcp_link_read(t, a);

	if (error)
		tcp_lost(t, a, tcp_link_error(error));
	else if (now - a->heard > silence_s(t, a))
		tcp_lost(t, a, "it is silent");
}

static double tick_connected(struct tcp *t, struct tcp_agent *a, double now)
{
	double then;

	if (now - a->heard > 3 * period(t)) {
		tick_silent(t, a, now);
		if (a->link.fd < 0)
			return now;
		if (now - a->heard > 3 * period(t))
			note_slow(t, a);
	}
	if (now - a->sent >= period(t)) {
		tcp_quick(a, TCP_ALIVE, 0, NULL, 0);
		a->sent = now;
		if (tcp_link_write(t, a))
			tcp_lost(t, a, strerror(EPIPE));
	}
	/* ... or look again */
	then = a->heard + 3 * period(t);
	if (then <= now)
		then = now + period(t);
	return a->sent + period(t) < then ? a->sent + period(t) : then;
}

/* Until a name was looked up: late by a tenth of what that took. */
static double look_again_s(const struct tcp_agent *a, double now)
{
	return LOOK_AGAIN_S + (now - a->lookup_since) / 10;
}

static double longer_pause_s(struct tcp_agent *a)
{
	a->pause = a->pause > 0 ? 1.5 * a->pause : PAUSE_FIRST_S;
	if (a->pause > PAUSE_MOST_S)
		a->pause = PAUSE_MOST_S;
	return a->pause;
}

/*
 * Of two agents the one with the higher rank dials; the other one only looks. may: it is
 * not too many that are dialed.
 */
static double tick_apart(struct tcp *t, struct tcp_agent *a, double now, bool may)
{
	bool met = a->life != 0, dials = a->rank < t->transport.rank;
	bool invites = t->options->lead && !met;
	double end;

	if (a->left)
		return NEVER;
	if (!a->dead && met && a->refused_since && now - a->refused_since > REFUSED_S)
		tcp_die_of(t, a, "has ended without a word");
	if (!a->dead && now - a->down_since > t->deadline)
		tcp_die_of(t, a,
			met		  ? "cannot be reached any more"
			: a->lookup_noted ? "did not come, no address of its name is known"
					  : "did not come");
	end = a->dead ? NEVER : a->down_since + t->deadline;
	/* the end of a meeting is seen */
	if ((!dials && !invites && !met) || a->meetings)
		return end;
	if (now >= a->next_dial) {
		if (!may)
			return now + PAUSE_FIRST_S;
		tcp_dial(t, a, invites ? TCP_INVITATION : TCP_LINK, !dials && !invites);
		a->next_dial = now + (a->lookup ? look_again_s(a, now) : longer_pause_s(a));
	}
	return a->next_dial < end ? a->next_dial : end;
}

/* Those that do not answer do not count for long: others need not wait for them. */
static unsigned dialed_lately(const struct tcp *t, double now)
{
	unsigned n = 0;

	for (const struct tcp_meeting *m = t->meetings; m; m = m->next)
		n += m->dialed && now - m->began < TCP_PATIENCE_S;
	return n;
}

/*
 * The agents, from the one whose turn it is to be dialed, downwards from our own rank on:
 * were all to begin with the same one, it would be more than that can listen to.
 */
static double tick_agents(struct tcp *t, double now)
{
	const int size = t->transport.size, first = t->turn;
	unsigned n = dialed_lately(t, now);
	double next = NEVER;

	for (int k = 0; k < size; k++) {
		const int i = (first + size - k) % size;
		struct tcp_agent *a = &t->agents[i];
		const int before = a->meetings;
		double then, slow;

		if (i == t->transport.rank)
			continue;
		slow = tick_slow(t, a, now);
		then = a->link.fd >= 0 ? tick_connected(t, a, now)
				       : tick_apart(t, a, now, n < TCP_DIALS);
		if (a->meetings > before && ++n == TCP_DIALS)
			t->turn = (i + size - 1) % size;
		then = slow < then ? slow : then;
		next = then < next ? then : next;
	}
	return next;
}

void tcp_tick(struct tcp *t)
{
	double now = transport_now(), next;

	if (now < t->next)
		return;
	if (t->full)
		tcp_listen_again(t, true);
	t->next = NEVER;
	next = tick_agents(t, now);
	for (struct tcp_meeting *m = t->meetings, *after; m; m = after) {
		after = m->next;
		if (m->until <= now) {
			if (!m->dialed)
				tcp_stranger(t, m, "it said nothing in time");
			tcp_meeting_end(t, m);
		} else if (m->until < next) {
			next = m->until;
		}
	}
	if (t->full && now + TCP_PATIENCE_S < next)
		next = now + TCP_PATIENCE_S;
	t->next = next < t->next ? next : t->next;
}
