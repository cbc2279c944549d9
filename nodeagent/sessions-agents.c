/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passes between the agents of a session: requests to the coordinator in agent 0,
 * outcomes from there. Over TCP the courier rings when something has come; MPI has to be
 * asked, the more seldom the longer nothing has happened.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/collate.h"
#include "nodeagent/courier.h"
#include "nodeagent/peer.h"
#include "nodeagent/sessions-internal.h"
#include "nodeagent/sessions.h"
#include "nodeagent/util.h"

#define TAG_REQUEST 510 /* to agent 0 */
#define TAG_OUTCOME 511 /* from agent 0 */
#define SEND_S	    1.0
#define JOINING_S   0.05
#define BELL_S	    5.0 /* with a bell, in case that it was not heard */

/* Without a bell: a twentieth of the time since something came or left, in these bounds. */
#define LOOKS	      20
#define LOOK_FIRST_S  0.002
#define LOOK_WAITER_S 0.05 /* while a process waits for others */
#define LOOK_MOST_S   0.5

static struct {
	bool in_use, leader_gone;
	double news_at, next; /* when something came or left; when to look again */
	/* for the coordinator, before the agents have met: struct session_request and data */
	void **queue;
	size_t n_queue, cap_queue;
} node;

static bool is_coordinator(const struct agent *a)
{
	return a->peer ? !a->peer->rank : !a->several || !a->joining;
}

const char *sessions_place(const struct agent *a)
{
	static char text[512];

	if (a->contact)
		return a->contact;
	snprintf(text, sizeof(text), "%s/%s", a->host, a->session);
	return text;
}

const char *sessions_leader(const struct agent *a)
{
	static char text[300];
	const char *host = a->peer && a->peer->rank ? collate_host_of(a->peer, 0) : NULL;

	if (!host)
		return "";
	snprintf(text, sizeof(text), "the agent on %s", host);
	return text;
}

bool sessions_leader_gone(void)
{
	return node.leader_gone;
}

void sessions_agent_gone(struct agent *a, int agent)
{
	if (is_coordinator(a))
		coordinator_agent_gone(a, agent);
}

bool sessions_idle(struct agent *a, enum session_activity what)
{
	struct session_request r = {.operation = SESSION_IDLE, .number = (int32_t)what};

	bool alone = !a->joining && (!a->peer || a->peer->size < 2);

	/* those that are not known yet will not answer soon */
	if (alone || a->orphaned || node.leader_gone || (a->joining && what == SESSION_QUIET))
		return false;
	sessions_forward(a, &r, "");
	return true;
}

/* ---- out --------------------------------------------------------------------------- */

static void send_copy(struct agent *a, int to, int tag, void *copy, size_t bytes)
{
	node.news_at = peer_now();
	node.next = 0;
	if (a->peer->send(a->peer, to, tag, copy, bytes, node.news_at + SEND_S) != -ETIMEDOUT)
		free(copy); /* else it may be read yet */
}

void sessions_forward(struct agent *a, struct session_request *r, const void *data)
{
	size_t bytes = sizeof(*r) + r->bytes;
	char *copy;

	node.in_use = true;
	if (!a->joining && is_coordinator(a)) {
		r->agent = 0;
		coordinator_take(a, r, data);
		return;
	}
	copy = xmalloc(bytes + 1);
	memcpy(copy, r, sizeof(*r));
	memcpy(copy + sizeof(*r), data, r->bytes);
	copy[bytes] = '\0';
	if (a->joining) {
		node.queue = grow(node.queue, node.n_queue, &node.cap_queue, sizeof(*node.queue));
		node.queue[node.n_queue++] = copy;
		return;
	}
	send_copy(a, 0, TAG_REQUEST, copy, bytes);
}

static void send_queue(struct agent *a)
{
	size_t n = node.n_queue;

	node.n_queue = 0;
	for (size_t i = 0; i < n; i++) {
		struct session_request *r = node.queue[i];

		sessions_forward(a, r, r + 1);
		free(r);
	}
}

void sessions_deliver(struct agent *a, int agent, const struct session_outcome *o, size_t bytes)
{
	char *copy;

	if (!agent) {
		sessions_arrived(a, o, bytes);
		return;
	}
	copy = xmalloc(bytes);
	memcpy(copy, o, bytes);
	send_copy(a, agent, TAG_OUTCOME, copy, bytes);
}

/* ---- in ---------------------------------------------------------------------------- */

static void hear_requests(struct agent *a)
{
	struct session_request *r;
	void *buf;
	size_t bytes;
	int who;

	while (!a->peer->receive(a->peer, PEER_ANY, TAG_REQUEST, &buf, &bytes, &who, 0)) {
		r = buf;
		node.in_use = true;
		node.news_at = peer_now();
		if (bytes >= sizeof(*r) && bytes - sizeof(*r) == r->bytes &&
			r->bytes <= WIRE_TEXT_MAX) {
			r = xrealloc(buf, bytes + 1);
			buf = r;
			((char *)buf)[bytes] = '\0';
			r->agent = who;
			coordinator_take(a, r, r + 1);
		}
		free(buf);
	}
}

static void hear_outcomes(struct agent *a)
{
	void *buf;
	size_t bytes;
	bool gone;
	int who, error;

	while (!(error = a->peer->receive(a->peer, 0, TAG_OUTCOME, &buf, &bytes, &who, 0))) {
		node.news_at = peer_now();
		sessions_arrived(a, buf, bytes);
		free(buf);
	}
	gone = error != -ETIMEDOUT;
	if (gone == node.leader_gone)
		return;
	node.leader_gone = gone;
	if (gone)
		sessions_leader_lost(a);
}

static double pause_s(double now)
{
	double most = sessions_waiting() ? LOOK_WAITER_S : LOOK_MOST_S;
	double s = (now - node.news_at) / LOOKS;

	if (courier_bell() >= 0)
		return BELL_S;
	return s < LOOK_FIRST_S ? LOOK_FIRST_S : s > most ? most : s;
}

double sessions_tick(struct agent *a)
{
	double now;

	if (a->joining)
		return node.n_queue ? JOINING_S : NEVER_S;
	send_queue(a);
	if (!a->peer || a->peer->size < 2 || (!node.in_use && a->peer->rank))
		return NEVER_S;
	now = peer_now();
	if (now < node.next && !a->news)
		return node.next - now;
	if (is_coordinator(a))
		hear_requests(a);
	else
		hear_outcomes(a);
	node.next = now + pause_s(now);
	return node.next - now;
}
