/* SPDX-License-Identifier: BSD-3-Clause */
/* How two agents meet: what both sides do, see internal.h. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

#define MEETING_S 15.0 /* on a busy node, too */

static const char *const refusals[TCP_VERDICTS] = {
	[TCP_OTHER_ORDER] = "it has another byte order",
	[TCP_ANOTHER_LIFE] = "it was started anew, or there are two of it",
	[TCP_NOT_YET] = "it does not know the others yet",
	[TCP_INVITED] = "it knows the others",
	[TCP_TAKEN] = "another agent has invited it before",
	[TCP_OTHER_SECRET] = "it has another secret",
	[TCP_NO_VIEWERS] = "viewers from outside are not admitted (agent.remote_viewers), or "
			   "there are too many",
};

bool tcp_comes_too_often(uint32_t verdict)
{
	return verdict == TCP_NOT_YET || verdict == TCP_INVITED;
}

static char *list_text(const unsigned char *list)
{
	static const unsigned char none[TCP_DIGEST_BYTES];

	if (!memcmp(list, none, TCP_DIGEST_BYTES))
		return xstrdup("no list of contacts yet");
	return xasprintf("list of contacts %02x%02x%02x%02x", list[0], list[1], list[2], list[3]);
}

static char *other_job(const struct tcp *t, const char *session, const unsigned char *list)
{
	char *its = list_text(list), *ours = list_text(t->digest), *text;

	if (!strcmp(its, ours) && !strcmp(session, t->named))
		text = xstrdup("its place is none that it has in the list of contacts");
	else
		text = xasprintf(
			"it is of session `%s' (%s), and this agent is of session `%s' (%s)",
			session[0] ? session : "?", its, t->named[0] ? t->named : "?", ours);
	free(its);
	free(ours);
	return text;
}

char *tcp_refusal(const struct tcp *t, uint32_t verdict, uint32_t version, const char *session,
	const unsigned char *list)
{
	if (verdict == TCP_OTHER_VERSION)
		return xasprintf("it speaks version %u of the agents' protocol, and this agent "
				 "version %u; use one version of vftr on all nodes",
			version, TCP_VERSION);
	if (verdict == TCP_OTHER_LIST || verdict == TCP_OTHER_SESSION)
		return other_job(t, session, list);
	return xstrdup(
		verdict < TCP_VERDICTS && refusals[verdict] ? refusals[verdict] : "it refuses us");
}

bool tcp_session_fits(const struct tcp *t, const struct contact *c, const char *session)
{
	const char *wanted = c && c->session ? c->session : t->named;

	return !wanted[0] || !session[0] || !strncmp(wanted, session, TCP_SESSION_BYTES - 1);
}

/* Proofs */

static void prove(const struct tcp *t, crypto_auth_hmacsha256_state *s, const char *text)
{
	crypto_auth_hmacsha256_init(s, (const unsigned char *)t->secret, t->secret_bytes);
	crypto_auth_hmacsha256_update(s, (const unsigned char *)text, strlen(text));
}

void tcp_sign_hello(const struct tcp *t, const struct tcp_hello *h, unsigned char *proof)
{
	crypto_auth_hmacsha256_state s;

	prove(t, &s, "hello");
	crypto_auth_hmacsha256_update(
		&s, (const unsigned char *)h, offsetof(struct tcp_hello, proof));
	crypto_auth_hmacsha256_final(&s, proof);
}

void tcp_sign(const struct tcp *t, const struct tcp_meeting *m, const char *what, const void *more,
	size_t more_bytes, unsigned char mac[TCP_DIGEST_BYTES])
{
	crypto_auth_hmacsha256_state s;

	prove(t, &s, what);
	crypto_auth_hmacsha256_update(&s, (const unsigned char *)&m->hello, sizeof(m->hello));
	crypto_auth_hmacsha256_update(
		&s, (const unsigned char *)&m->welcome, offsetof(struct tcp_welcome, proof));
	crypto_auth_hmacsha256_update(&s, more, more_bytes);
	crypto_auth_hmacsha256_final(&s, mac);
}

/* Meetings */

double tcp_meeting_s(const struct tcp *t)
{
	return t->deadline < MEETING_S ? t->deadline : MEETING_S;
}

struct tcp_meeting *tcp_meeting_new(struct tcp *t, int fd)
{
	struct tcp_meeting *m = xcalloc(1, sizeof(*m));

	m->fd = fd;
	m->rank = -1;
	m->began = transport_now();
	m->until = m->began + tcp_meeting_s(t);
	m->next = t->meetings;
	t->meetings = m;
	t->next = MIN(t->next, m->until);
	return m;
}

void tcp_meeting_end(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_meeting **at = &t->meetings;

	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	if (m->fd >= 0)
		tcp_close(t, m->fd);
	tcp_silent(t, m, false);
	if (m->dialed && t->agents) {
		tcp_agent_of(t, m->rank)->meetings--;
		t->next = 0; /* others may be dialed */
	} else {
		t->n_accepted--;
		if (t->full)
			tcp_listen_again(t, true);
	}
	free(m->content);
	free(m->who);
	sodium_memzero(m, sizeof(*m));
	free(m);
}

bool tcp_send_all(struct tcp_meeting *m, const void *buf, size_t bytes)
{
	/* a new socket has room for this */
	return send(m->fd, buf, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

int tcp_receive_more(struct tcp_meeting *m, void *buf, size_t bytes)
{
	while (m->have < bytes) {
		ssize_t n = recv(m->fd, (char *)buf + m->have, bytes - m->have, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return -1;
		m->have += (size_t)n;
	}
	m->have = 0;
	return 1;
}

void tcp_link_up(struct tcp *t, struct tcp_meeting *m, struct tcp_agent *a, uint64_t life,
	const char *host, uint64_t received)
{
	struct tcp_keys keys;
	bool lost = a->lost_noted, first = !a->life;
	int error;

	if (!tcp_keys(t, m, &keys))
		return;
	if (a->dead)
		tcp_is_back(t, a);
	if (first) {
		a->waiting_since = transport_now();
		t->near_stale |= a->absent;
		a->absent = false;
	}
	a->wanted = false;
	memcpy(a->host, host, sizeof(a->host));
	if (!a->host[0])
		strcpy(a->host, "?");
	a->life = life;
	a->lost_noted = false;
	tcp_link_open(t, a, m->fd, &keys, m->dialed, received);
	sodium_memzero(&keys, sizeof(keys));
	m->fd = -1;
	if (a->near)
		tcp_news_all(t, a);
	if (lost)
		tcp_note(t, a, "the agent on %s is connected again", tcp_name(a).text);
	error = tcp_watch(t, a->link.fd, TCP_WATCH_AGENT, a, false, true);
	if (error || tcp_link_write(t, a))
		tcp_link_close(t, a);
	t->next = 0;
}

void tcp_meeting_event(struct tcp *t, struct tcp_meeting *m)
{
	switch (m->state) {
	case MEET_CONNECT:
		tcp_on_connected(t, m);
		break;
	case MEET_HELLO:
		tcp_on_hello(t, m);
		break;
	case MEET_WELCOME:
		tcp_on_welcome(t, m);
		break;
	case MEET_PROOF:
		tcp_on_proof(t, m);
		break;
	case MEET_INVITE:
		tcp_on_invite(t, m);
		break;
	case MEET_INVITING:
		tcp_on_inviting(t, m);
		break;
	}
}
