/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passes between the agents of a session: requests to the coordinator in agent 0,
 * outcomes from there. Over TCP the proxy rings when something has come; MPI has to be
 * asked, the more seldom the longer nothing has happened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/session/internal.h"
#include "nodeagent/session/session.h"
#include "nodeagent/base/util.h"

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

void sessions_begin(struct agent *a, const struct session_duties *duties)
{
	a->sessions = xcalloc(1, sizeof(*a->sessions));
	a->sessions->duties = duties;
}

void sessions_end(struct agent *a)
{
	struct sessions *s = a->sessions;

	coordinator_free(s->coordinator);
	for (size_t i = 0; i < s->n_queue; i++)
		free(s->queue[i]);
	free(s->queue);
	free(s);
	a->sessions = NULL;
}

static bool is_coordinator(const struct agent *a)
{
	return a->host.transport ? !a->host.transport->rank : !a->several || !a->joining;
}

char *sessions_leader(const struct agent *a)
{
	const char *host = a->host.transport && a->host.transport->rank
				   ? collate_host_of(a->host.transport, 0)
				   : NULL;

	return host ? xasprintf("the agent on %s", host) : xstrdup("");
}

void sessions_agent_gone(struct agent *a, int agent)
{
	if (is_coordinator(a))
		coordinator_agent_gone(a, agent);
}

bool sessions_idle(struct agent *a, enum session_activity what)
{
	struct session_request r = {.operation = SESSION_IDLE, .number = (int32_t)what};
	bool alone = !a->joining && (!a->host.transport || a->host.transport->size < 2);

	/* those that are not known yet will not answer soon */
	if (alone || a->orphaned || a->sessions->leader_gone ||
		(a->joining && what == SESSION_QUIET))
		return false;
	sessions_forward(a, &r, "");
	return true;
}

/* ---- out --------------------------------------------------------------------------- */

static void send_copy(struct agent *a, int to, int tag, void *copy, size_t bytes)
{
	struct sessions *s = a->sessions;

	s->news_at = transport_now();
	s->next = 0;
	if (a->host.transport->send(a->host.transport, to, tag, copy, bytes, s->news_at + SEND_S) !=
		-ETIMEDOUT)
		free(copy); /* else it may be read yet */
}

void sessions_forward(struct agent *a, struct session_request *r, const void *data)
{
	struct sessions *s = a->sessions;
	size_t bytes = sizeof(*r) + r->bytes;
	char *copy;

	s->in_use = true;
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
		*LIST_ADD(s, queue) = copy;
		return;
	}
	send_copy(a, 0, TAG_REQUEST, copy, bytes);
}

static void send_queue(struct agent *a)
{
	size_t n = a->sessions->n_queue;

	a->sessions->n_queue = 0;
	for (size_t i = 0; i < n; i++) {
		struct session_request *r = a->sessions->queue[i];

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

	while (!a->host.transport->receive(
		a->host.transport, TRANSPORT_ANY, TAG_REQUEST, &buf, &bytes, &who, 0)) {
		r = buf;
		a->sessions->in_use = true;
		a->sessions->news_at = transport_now();
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

	while (!(error = a->host.transport->receive(
			 a->host.transport, 0, TAG_OUTCOME, &buf, &bytes, &who, 0))) {
		a->sessions->news_at = transport_now();
		sessions_arrived(a, buf, bytes);
		free(buf);
	}
	gone = error != -ETIMEDOUT;
	if (gone == a->sessions->leader_gone)
		return;
	a->sessions->leader_gone = gone;
	if (gone)
		sessions_leader_lost(a);
}

static double pause_s(const struct sessions *node, double now)
{
	double most = node->waiting ? LOOK_WAITER_S : LOOK_MOST_S;
	double s = (now - node->news_at) / LOOKS;

	if (proxy_rings_for_all())
		return BELL_S;
	return s < LOOK_FIRST_S ? LOOK_FIRST_S : s > most ? most : s;
}

double sessions_tick(struct agent *a)
{
	struct sessions *s = a->sessions;
	double now;

	if (a->joining)
		return s->n_queue ? JOINING_S : NEVER_S;
	send_queue(a);
	if (!a->host.transport || a->host.transport->size < 2 ||
		(!s->in_use && a->host.transport->rank))
		return NEVER_S;
	now = transport_now();
	if (now < s->next && !a->news)
		return s->next - now;
	if (is_coordinator(a))
		hear_requests(a);
	else
		hear_outcomes(a);
	s->next = now + pause_s(s, now);
	return s->next - now;
}
