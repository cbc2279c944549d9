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
#include "nodeagent/net/tree.h"
#include "nodeagent/base/util.h"

#define REFUSED_S    1.0 /* so long nobody listens where an agent was: it has ended */
#define LOOK_AGAIN_S 0.002
#define NEVER	     1e18
#define SLOW_PART    30 /* of the deadline: without an answer for so long, an agent is slow */
#define ABSENT_PART  4	/* of the deadline: so long neighbours in the tree wait for an agent */
#define SLOW_LEAST_S 0.5
#define SLOW_MOST_S  2.0
#define CHECK_S	     1.5 /* by then messages along the tree have been passed on (net/route.h) */
#define CHECK_MOST_S 48.0

double tcp_slow_from(const struct tcp *t, const struct tcp_agent *a)
{
	const double s = t->deadline / SLOW_PART;

	return a->waiting_since + (s < SLOW_LEAST_S	    ? SLOW_LEAST_S
					  : s > SLOW_MOST_S ? SLOW_MOST_S
							    : s);
}

double tcp_check_s(const struct tcp_agent *a)
{
	double s = CHECK_S;

	for (unsigned i = 1; i < a->slow_times && s < CHECK_MOST_S; i++)
		s *= 2;
	return a->slow ? s : CHECK_S;
}

void tcp_note_slow(struct tcp *t, struct tcp_agent *a)
{
	if (a->slow)
		return;
	a->slow = true;
	a->slow_times++;
	t->transport.news++;
	if (!a->kept) /* what it acknowledges next is a check */
		a->check_at = transport_now() + tcp_check_s(a);
}

/* It may be us that were stopped: then its answer is there to read. */
static double tick_slow(struct tcp *t, struct tcp_agent *a, double now)
{
	int error;

	if (a->slow || !a->kept || a->left || a->dead || !a->life)
		return NEVER;
	error = now >= tcp_slow_from(t, a) && a->link.fd >= 0 ? tcp_link_read(t, a) : 0;
	if (error)
		tcp_lost(t, a, tcp_link_error(error));
	if (!a->kept)
		return NEVER;
	if (now < tcp_slow_from(t, a))
		return tcp_slow_from(t, a);
	tcp_note_slow(t, a);
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

double tcp_missed_s(const struct tcp *t)
{
	const double s = t->options->meet_s;

	return s > 0 && s < t->deadline ? s : t->deadline;
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
			tcp_note_slow(t, a);
	}
	if (now - a->sent >= period(t)) {
		tcp_quick(t, a, TCP_ALIVE, 0, NULL, 0);
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
	a->pause = MIN(a->pause, PAUSE_MOST_S);
	return a->pause;
}

/* It has taken what we sent; a while later we see whether it was stopped before it passed that on.
 */
static double tick_check(struct tcp *t, struct tcp_agent *a, double now)
{
	if (!a->check_at || !a->near || a->link.fd < 0)
		return NEVER;
	if (now < a->check_at)
		return a->check_at;
	a->check_at = 0;
	if (a->kept)
		return NEVER;
	tcp_keep(a, TCP_CHECK, 0, NULL, 0);
	if (tcp_link_write(t, a))
		tcp_lost(t, a, strerror(EPIPE));
	return NEVER;
}

static double tick_left(struct tcp *t, struct tcp_agent *a, double now)
{
	if (a->left_told || a->left_together) /* nobody is to do without it */
		return NEVER;
	if (now < a->left_since + LEFT_S)
		return a->left_since + LEFT_S;
	tcp_has_left(t, a);
	return NEVER;
}

/* One that has not come yet is waited for, but not by those beyond it. */
static double tick_absent(struct tcp *t, struct tcp_agent *a, double now)
{
	const double then = a->down_since + t->deadline / ABSENT_PART;

	if (a->life || a->absent || now < then)
		return a->life || a->absent ? NEVER : then;
	a->absent = true;
	t->near_stale = true;
	t->transport.news++;
	return NEVER;
}

static double tick_deaths(struct tcp *t, struct tcp_agent *a, double now)
{
	const bool met = a->life != 0;
	const double most_s = met ? t->deadline : tcp_missed_s(t);

	if (a->dead)
		return NEVER;
	/* with a plan all have come, or are late */
	if ((met || t->transport.plan) && a->refused_since && now - a->refused_since > REFUSED_S)
		tcp_die_of(t, a, TCP_ENDED);
	else if (now - a->down_since > most_s)
		tcp_die_of(t, a,
			met		  ? TCP_UNREACHED
			: a->lookup_noted ? TCP_NAMELESS
					  : TCP_NEVER_CAME);
	return a->dead ? NEVER : a->down_since + most_s;
}

/* Of two agents the one with the higher rank dials; the other one asks it to. */
static enum tcp_purpose purpose_towards(const struct tcp *t, const struct tcp_agent *a)
{
	return a->rank < t->transport.rank	       ? TCP_LINK
	       : t->invites && !a->life && !a->invited ? TCP_INVITATION
						       : TCP_KNOCK;
}

/* It will dial by itself. */
static bool comes_unasked(const struct tcp *t, const struct tcp_agent *a)
{
	return purpose_towards(t, a) == TCP_KNOCK && !t->invites && !a->life && !a->kept &&
	       !a->wanted && tree_parent(a->rank) == t->transport.rank;
}

/* may: it is not too many that are dialed. */
static double tick_apart(struct tcp *t, struct tcp_agent *a, double now, bool may)
{
	double end, absent;

	tcp_news_late(t, a);
	if (a->left)
		return tick_left(t, a, now);
	if (!tcp_needs(a))
		return NEVER;
	end = tick_deaths(t, a, now);
	absent = tick_absent(t, a, now);
	end = absent < end ? absent : end;
	/* the end of a meeting is seen */
	if (comes_unasked(t, a) || a->meetings)
		return end;
	if (now >= a->next_dial) {
		if (!may)
			return now + PAUSE_FIRST_S;
		tcp_dial(t, a, purpose_towards(t, a));
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

/* The agents, from the one whose turn it is to be dialed. */
static double tick_agents(struct tcp *t, double now)
{
	const size_t n_known = t->n_known, first = t->turn;
	unsigned n = dialed_lately(t, now);
	double next = NEVER;

	for (size_t k = 0; k < n_known; k++) {
		const size_t i = (first + k) % n_known;
		struct tcp_agent *a = t->known[i];
		const int before = a->meetings;
		double then[3];

		then[0] = tick_slow(t, a, now);
		then[1] = tick_check(t, a, now);
		then[2] = a->link.fd >= 0 ? tick_connected(t, a, now)
					  : tick_apart(t, a, now, n < TCP_DIALS);
		if (a->meetings > before && ++n == TCP_DIALS)
			t->turn = (i + 1) % n_known;
		for (size_t j = 0; j < ARRAY_SIZE(then); j++)
			next = then[j] < next ? then[j] : next;
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
	if (t->near_stale && !t->leaving)
		tcp_find_neighbours(t);
	next = tick_agents(t, now);
	if (t->near_stale && !t->leaving)
		next = now;
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
