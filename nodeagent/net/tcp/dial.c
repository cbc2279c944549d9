/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dialer's side of a meeting: it proves first that it knows the secret, so what answers
 * may still be a stranger, of whom no word counts without a proof.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

#define CONNECT_S 5.0 /* then another address is tried */
#define LOOKUP_S  5.0 /* then it is said that a name is waited for */

static int connect_from(const struct tcp *t, int fd, const struct sockaddr_storage *to)
{
	struct addresses own;

	if (t->options->interface && addresses_own(t->options->interface, &own)) {
		for (size_t i = 0; i < own.n; i++)
			if (own.at[i].ss_family == to->ss_family &&
				!bind(fd, (const struct sockaddr *)&own.at[i],
					address_bytes(&own.at[i])))
				break;
		addresses_clear(&own);
	}
	return connect(fd, (const struct sockaddr *)to, address_bytes(to)) && errno != EINPROGRESS
		       ? -errno
		       : 0;
}

static void on_refused(struct tcp_agent *a)
{
	if (!a->refused_since)
		a->refused_since = transport_now();
}

static double lookup_s(const struct tcp *t)
{
	return t->deadline / 2 < LOOKUP_S ? t->deadline / 2 : LOOKUP_S;
}

/* True if the agent's addresses are known. */
static bool look_up(struct tcp *t, struct tcp_agent *a)
{
	const char *why = NULL;

	if (a->addresses.n)
		return true;
	if (!a->lookup) {
		a->lookup = lookup_begin(a->contact);
		a->lookup_since = transport_now();
	}
	if (!lookup_take(&a->lookup, &a->addresses, &why) &&
		transport_now() - a->lookup_since > lookup_s(t))
		why = "the name server does not answer";
	if (why && !a->lookup_noted) {
		a->lookup_noted = true;
		tcp_note(t, a, "no agent found at %s: %s", a->contact->text, why);
	}
	return a->addresses.n > 0;
}

void tcp_dial(struct tcp *t, struct tcp_agent *a, enum tcp_purpose purpose)
{
	const struct sockaddr_storage *to;
	struct tcp_meeting *m;
	int fd, error, on = 1;

	if (!look_up(t, a))
		return;
	to = &a->addresses.at[a->next_address++ % a->addresses.n];
	fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	error = connect_from(t, fd, to);
	if (error) {
		if (error == -ECONNREFUSED)
			on_refused(a);
		close(fd);
		return;
	}
	m = tcp_meeting_new(t, fd);
	m->dialed = true;
	m->purpose = purpose;
	m->rank = a->rank;
	m->who = address_text(to);
	m->state = MEET_CONNECT;
	m->until = MIN(m->until, m->began + CONNECT_S);
	a->meetings++;
	if (tcp_watch(t, fd, TCP_WATCH_MEETING, m, true, false))
		tcp_meeting_end(t, m);
}

static void fill_hello(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_hello *h = &m->hello;

	memcpy(h->magic, TCP_MAGIC, sizeof(h->magic));
	h->version = TCP_VERSION;
	h->order = TCP_BYTE_ORDER;
	h->purpose = m->purpose;
	h->from = (uint32_t)t->transport.rank;
	h->to = (uint32_t)m->rank;
	h->size = (uint32_t)t->transport.size;
	h->life = t->life;
	h->received = tcp_agent_of(t, m->rank)->received;
	memcpy(h->list, t->digest, sizeof(h->list));
	memcpy(h->host, t->host, sizeof(h->host));
	memcpy(h->session, t->named, sizeof(h->session));
	tcp_sign_hello(t, h, h->proof);
}

void tcp_on_connected(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_agent *a = tcp_agent_of(t, m->rank);
	socklen_t bytes = sizeof(int);
	int error = 0;

	getsockopt(m->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	if (error == ECONNREFUSED)
		on_refused(a);
	else if (!error)
		a->refused_since = 0;
	if (error) {
		tcp_meeting_end(t, m);
		return;
	}
	tcp_draw_share(m, m->hello.share);
	fill_hello(t, m);
	m->state = MEET_WELCOME;
	m->until = transport_now() + tcp_meeting_s(t);
	if (!tcp_send_all(m, &m->hello, sizeof(m->hello)) ||
		tcp_watch(t, m->fd, TCP_WATCH_MEETING, m, false, true))
		tcp_meeting_end(t, m);
}

/* Sends the list, which may be longer than a socket takes at once. */
static void invite(struct tcp *t, struct tcp_meeting *m)
{
	char *list = contacts_text(&t->list), *text = xasprintf("%d %s", m->rank, list);
	struct tcp_frame f = {.kind = TCP_INVITE, .bytes = (uint32_t)strlen(text)};
	struct tcp_keys keys;
	const bool agreed = tcp_keys(t, m, &keys);

	if (agreed)
		m->content = (char *)tcp_frame_seal(keys.of_dialer, 0, &f, text, &m->bytes);
	sodium_memzero(&keys, sizeof(keys));
	free(list);
	free(text);
	m->state = MEET_INVITING;
	if (!agreed || tcp_watch(t, m->fd, TCP_WATCH_MEETING, m, true, true))
		tcp_meeting_end(t, m);
	else
		tcp_on_inviting(t, m);
}

void tcp_on_inviting(struct tcp *t, struct tcp_meeting *m)
{
	while (m->have < m->bytes) {
		ssize_t n = send(m->fd, m->content + m->have, m->bytes - m->have,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR)
			break;
		m->have += n > 0 ? (size_t)n : 0;
	}
	tcp_meeting_end(t, m);
}

bool tcp_needs_no_proof(uint32_t verdict)
{
	return verdict == TCP_OTHER_VERSION || verdict == TCP_OTHER_ORDER ||
	       verdict == TCP_OTHER_SECRET;
}

char *tcp_check_head(const struct tcp *t, const struct tcp_welcome *w)
{
	if (memcmp(w->magic, TCP_MAGIC, sizeof(w->magic)))
		return xstrdup("it is no agent");
	if (w->order != TCP_BYTE_ORDER)
		return tcp_refusal(t, TCP_OTHER_ORDER, 0, "", t->digest);
	if (w->version != TCP_VERSION)
		return tcp_refusal(t, TCP_OTHER_VERSION, w->version, "", t->digest);
	return NULL;
}

/*
 * As tcp_check_head(). A verdict that is not *proved is only reported; the dialer tries again
 * later.
 */
static char *check_welcome(struct tcp *t, const struct tcp_meeting *m, bool *proved)
{
	struct tcp_agent *a = tcp_agent_of(t, m->rank);
	const struct tcp_welcome *w = &m->welcome;
	unsigned char proof[TCP_DIGEST_BYTES];
	bool anew = false; /* and told of what the one before has sent: it is dialed again */

	if (tcp_needs_no_proof(w->verdict))
		return tcp_refusal(t, w->verdict, w->version, "", t->digest);
	tcp_sign(t, m, "listener", NULL, 0, proof);
	*proved = !crypto_verify_32(proof, w->proof);
	if (!*proved)
		return tcp_refusal(t, TCP_OTHER_SECRET, w->version, "", t->digest);
	if (m->purpose != TCP_INVITATION && tcp_may_start_anew(t, a, w->life) &&
		(!w->verdict || w->verdict == TCP_ANOTHER_LIFE)) {
		tcp_forget_life(t, a);
		anew = m->hello.received;
	}
	if (w->verdict)
		return tcp_refusal(t, w->verdict, w->version, w->session, w->list);
	if (!tcp_session_fits(t, a->contact, w->session))
		return tcp_refusal(t, TCP_OTHER_SESSION, w->version, w->session, w->list);
	if (m->purpose != TCP_INVITATION &&
		(anew || (a->life && a->life != w->life && (a->received || a->last_seq)) ||
			w->received > a->last_seq))
		return tcp_refusal(t, TCP_ANOTHER_LIFE, w->version, w->session, w->list);
	return NULL;
}

static void on_refusal(struct tcp *t, struct tcp_meeting *m, bool proved, char *why)
{
	struct tcp_agent *a = tcp_agent_of(t, m->rank);

	if (proved && tcp_comes_too_often(m->welcome.verdict)) {
		a->invited = m->welcome.verdict == TCP_INVITED;
	} else if (!a->lost_noted) {
		a->lost_noted = true;
		tcp_note(t, a, "cannot join the agent at %s: %s", m->who, why);
	}
	free(why);
	tcp_meeting_end(t, m);
}

void tcp_on_welcome(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_agent *a = tcp_agent_of(t, m->rank);
	struct tcp_welcome *w = &m->welcome;
	int got = tcp_receive_more(m, w, sizeof(*w));
	unsigned char proof[TCP_DIGEST_BYTES];
	bool proved = false;
	char *why = NULL;

	if (got > 0 || m->have >= TCP_HEAD_BYTES)
		why = tcp_check_head(t, w);
	if (!why && !got)
		return;
	if (!why && got > 0) {
		w->host[TCP_HOST_BYTES - 1] = w->session[TCP_SESSION_BYTES - 1] = '\0';
		why = check_welcome(t, m, &proved);
	}
	if (why) {
		on_refusal(t, m, proved, why);
		return;
	}
	if (got > 0) {
		tcp_sign(t, m, "dialer", NULL, 0, proof);
		if (tcp_send_all(m, proof, sizeof(proof))) {
			if (m->purpose == TCP_INVITATION) {
				invite(t, m);
				return;
			}
			if (m->purpose == TCP_LINK)
				tcp_link_up(t, m, a, w->life, w->host, w->received);
		}
	}
	tcp_meeting_end(t, m);
}
