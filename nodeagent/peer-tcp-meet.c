/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How two agents meet: dialing, and the proof of either side that it knows the secret.
 * Everything here may come from a stranger: sizes are fixed, times are short, and what is
 * wrong is noted with the address it came from.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/peer-tcp-internal.h"
#include "nodeagent/util.h"

#define CONNECT_S 5.0  /* then another address is tried */
#define MEETING_S 15.0 /* on a busy node, too */
#define LOOKUP_S  5.0  /* then it is said that a name is waited for */

static const char *const refusals[TCP_VERDICTS] = {
	[TCP_OTHER_VERSION] = "it speaks another version of the agents' protocol",
	[TCP_OTHER_ORDER] = "it has another byte order",
	[TCP_OTHER_LIST] = "its list of contacts is another one",
	[TCP_ANOTHER_LIFE] = "it was started anew, or there are two of it",
	[TCP_NOT_YET] = "it does not know the others yet",
	[TCP_INVITED] = "it knows the others",
	[TCP_TAKEN] = "another agent has invited it before",
};

/* Refused in the course of a normal start. */
static bool comes_too_often(uint32_t verdict)
{
	return verdict == TCP_NOT_YET || verdict == TCP_INVITED;
}

static void sign(const struct tcp *t, const struct tcp_meeting *m, const char *what,
	unsigned char mac[SHA256_BYTES])
{
	const struct hmac_part parts[] = {
		{what, strlen(what)},
		{&m->hello, sizeof(m->hello)},
		{&m->welcome, offsetof(struct tcp_welcome, proof)},
	};

	hmac_sha256(t->secret, t->secret_bytes, parts, ARRAY_SIZE(parts), mac);
}

static void derive_keys(
	const struct tcp *t, const struct tcp_meeting *m, unsigned char keys[SHA256_BYTES])
{
	sign(t, m, "keys", keys);
}

static double meeting_s(const struct tcp *t)
{
	return t->deadline < MEETING_S ? t->deadline : MEETING_S;
}

static struct tcp_meeting *meeting_new(struct tcp *t, int fd)
{
	struct tcp_meeting *m = xcalloc(1, sizeof(*m));

	m->fd = fd;
	m->rank = -1;
	m->began = peer_now();
	m->until = m->began + meeting_s(t);
	m->next = t->meetings;
	t->meetings = m;
	if (m->until < t->next)
		t->next = m->until;
	return m;
}

/* The descriptor is not closed where it has become that of a link: m->fd is -1 then. */
void tcp_meeting_end(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_meeting **at = &t->meetings;

	while (*at != m)
		at = &(*at)->next;
	*at = m->next;
	if (m->fd >= 0)
		close(m->fd);
	if (m->dialed && t->agents) {
		t->agents[m->rank].meetings--;
		t->next = 0; /* others may be dialed */
	} else {
		t->n_accepted--;
		if (t->full)
			tcp_listen_again(t, true);
	}
	free(m->content);
	free(m->who);
	free(m);
}

/* Said once of an address, whatever its port: most try again and again. */
static void stranger(struct tcp *t, const struct tcp_meeting *m, const char *why)
{
	static const unsigned char key[SIPHASH_KEY_BYTES];
	const char *port = strrchr(m->who, ':');
	uint64_t hash = siphash(key, m->who, port ? (size_t)(port - m->who) : 0, why, strlen(why));

	for (size_t i = 0; i < TCP_STRANGERS; i++)
		if (t->strangers[i] == hash)
			return;
	t->strangers[t->next_stranger++ % TCP_STRANGERS] = hash;
	tcp_note(t, "refused a connection from %s: %s", m->who, why);
}

static bool send_all(struct tcp_meeting *m, const void *buf, size_t bytes)
{
	/* a new socket has room for this */
	return send(m->fd, buf, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

/* 1: buf is full; 0: not yet; -1: it was closed. */
static int receive_more(struct tcp_meeting *m, void *buf, size_t bytes)
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

/* The listener's side */

void tcp_listen_again(struct tcp *t, bool yes)
{
	t->full = !yes;
	for (size_t i = 0; i < t->n_listeners; i++) {
		struct epoll_event e = {
			.events = yes ? EPOLLIN : 0, .data.u64 = i << 3 | TCP_WATCH_LISTENER};

		epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->listener[i], &e);
	}
	if (!yes && t->next > peer_now() + TCP_PATIENCE_S)
		t->next = peer_now() + TCP_PATIENCE_S;
}

/* Who has said something may have to wait for us, too. */
static double patience_s(const struct tcp_meeting *m)
{
	return m->state == MEET_HELLO ? TCP_PATIENCE_S : MEETING_S / 3;
}

bool tcp_room(struct tcp *t)
{
	const double now = peer_now();
	struct tcp_meeting *oldest = NULL;
	unsigned state;

	if (t->n_accepted < TCP_MEETINGS)
		return true;
	for (struct tcp_meeting *m = t->meetings; m; m = m->next)
		if (!m->dialed && now - m->began >= patience_s(m))
			oldest = m;
	if (!oldest)
		return false;
	/* it may be we who did not listen */
	state = oldest->state;
	tcp_meeting_event(t, oldest);
	if (t->n_accepted < TCP_MEETINGS)
		return true;
	if (oldest->state != state) {
		oldest->began = now;
		return false;
	}
	stranger(t, oldest, "others wait, and it has not said who it is");
	tcp_meeting_end(t, oldest);
	return true;
}

void tcp_meet(struct tcp *t, int fd, const struct sockaddr_storage *from)
{
	struct tcp_meeting *m;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	m = meeting_new(t, fd);
	t->n_accepted++;
	m->who = from ? address_text(from) : xstrdup("a test");
	m->state = MEET_HELLO;
	if (tcp_watch(t, fd, TCP_WATCH_MEETING, m, false, false))
		tcp_meeting_end(t, m);
}

static enum tcp_verdict judge(const struct tcp *t, const struct tcp_hello *h)
{
	const struct tcp_agent *a;

	if (h->version != TCP_VERSION)
		return TCP_OTHER_VERSION;
	if (h->purpose == TCP_INVITATION)
		return !t->peer.size	       ? TCP_WELCOME
		       : h->life == t->inviter ? TCP_INVITED
					       : TCP_TAKEN;
	if (!t->peer.size)
		return TCP_NOT_YET;
	if (h->purpose != TCP_LINK || h->size != (uint32_t)t->peer.size || h->from >= h->size ||
		h->to != (uint32_t)t->peer.rank || h->from <= h->to)
		return TCP_OTHER_LIST;
	a = &t->agents[h->from];
	/* one that ended before anything was said may come back */
	if (a->left || (a->life && a->life != h->life && (a->received || a->last_seq)) ||
		h->received > a->last_seq)
		return TCP_ANOTHER_LIFE;
	return TCP_WELCOME;
}

static bool fill_nonce(unsigned char nonce[TCP_NONCE_BYTES])
{
	return getrandom(nonce, TCP_NONCE_BYTES, 0) == TCP_NONCE_BYTES;
}

static void on_hello(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_hello *h = &m->hello;
	struct tcp_welcome *w = &m->welcome;
	int got = receive_more(m, h, sizeof(*h));

	if (!got)
		return;
	/* who only looks whether we are there says nothing */
	if (got < 0 && m->have)
		stranger(t, m, "it closed before it said who it is");
	if (got < 0 || memcmp(h->magic, TCP_MAGIC, sizeof(h->magic)) ||
		h->order != TCP_BYTE_ORDER) {
		if (got > 0)
			stranger(t, m,
				memcmp(h->magic, TCP_MAGIC, sizeof(h->magic))
					? "it is no agent"
					: refusals[TCP_OTHER_ORDER]);
		tcp_meeting_end(t, m);
		return;
	}
	h->host[TCP_HOST_BYTES - 1] = '\0';
	memcpy(w->magic, TCP_MAGIC, sizeof(w->magic));
	w->version = TCP_VERSION;
	w->order = TCP_BYTE_ORDER;
	w->verdict = judge(t, h);
	w->life = t->life;
	if (w->verdict == TCP_WELCOME && h->purpose == TCP_LINK)
		w->received = t->agents[h->from].received;
	memcpy(w->host, t->host, sizeof(w->host));
	if (!fill_nonce(w->nonce) ||
		(sign(t, m, "listener", w->proof), !send_all(m, w, sizeof(*w)))) {
		tcp_meeting_end(t, m);
		return;
	}
	if (w->verdict != TCP_WELCOME && !comes_too_often(w->verdict))
		stranger(t, m,
			w->verdict == TCP_TAKEN ? "another agent has invited this one before"
						: refusals[w->verdict]);
	if (w->verdict != TCP_WELCOME) {
		tcp_meeting_end(t, m);
		return;
	}
	m->state = MEET_PROOF;
}

static void link_up(struct tcp *t, struct tcp_meeting *m, struct tcp_agent *a, uint64_t life,
	const char *host, uint64_t received)
{
	unsigned char keys[SHA256_BYTES];
	bool lost = a->lost_noted;
	int error;

	if (a->dead) { /* the others were told its will */
		t->peer.news++;
		if (a->will.buf)
			tcp_deliver(t, a->rank, a->will.tag, false, xcalloc(1, 1), 0);
	}

	derive_keys(t, m, keys);
	memcpy(a->host, host, sizeof(a->host));
	if (!a->host[0])
		strcpy(a->host, "?");
	a->life = life;
	a->dead = a->lost_noted = false;
	tcp_link_open(t, a, m->fd, keys, m->dialed, received);
	m->fd = -1;
	if (lost)
		tcp_note(t, "the agent on %s is connected again", tcp_name(a));
	error = tcp_watch(t, a->link.fd, TCP_WATCH_AGENT, a, false, true);
	if (error || tcp_link_write(t, a))
		tcp_link_close(t, a);
	t->next = 0;
}

static void on_proof(struct tcp *t, struct tcp_meeting *m)
{
	unsigned char proof[SHA256_BYTES];
	/* kept in the welcome, of which only that part has been used */
	int got = receive_more(m, m->welcome.proof, SHA256_BYTES);
	struct tcp_agent *a;

	if (!got)
		return;
	if (got > 0)
		sign(t, m, "dialer", proof);
	if (got < 0 || !hmac_equal(proof, m->welcome.proof)) {
		stranger(t, m,
			got < 0 ? "it did not prove that it knows the secret"
				: "it has another secret");
		tcp_meeting_end(t, m);
		return;
	}
	/* the same question again: others may have come in between */
	if (judge(t, &m->hello) != TCP_WELCOME) {
		tcp_meeting_end(t, m);
		return;
	}
	if (m->hello.purpose == TCP_INVITATION) {
		m->state = MEET_INVITE;
		return;
	}
	a = &t->agents[m->hello.from];
	if (m->welcome.received ==
		a->received) /* else a connection that is broken was still read */
		link_up(t, m, a, m->hello.life, m->hello.host, m->hello.received);
	tcp_meeting_end(t, m);
}

/* The frame's content: "RANK CONTACTS". */
static void accept_invitation(struct tcp *t, struct tcp_meeting *m)
{
	char *error = NULL, *end;
	long rank = strtol(m->content, &end, 10);

	contacts_clear(&t->list);
	/* never a file of ours */
	if (*end != ' ' || end[1] == '@' || contacts_add(&t->list, end + 1, &error) ||
		!tcp_adopt_list(t, rank > 0 && rank < CONTACTS_MAX ? (int)rank : -1)) {
		stranger(t, m, error ? error : "its list of contacts makes no sense");
		contacts_clear(&t->list);
	} else {
		t->inviter = m->hello.life;
	}
	free(error);
}

static void on_invite(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_frame *f = &m->frame;
	unsigned char keys[SHA256_BYTES];
	int got;

	if (!m->content) {
		got = receive_more(m, f, sizeof(*f));
		if (got > 0 && (f->kind != TCP_INVITE || f->bytes > TCP_FRAME_MOST))
			got = -1;
		if (got > 0)
			m->content = xcalloc(1, f->bytes + 1);
		if (got < 0)
			tcp_meeting_end(t, m);
		if (got <= 0)
			return;
	}
	got = receive_more(m, m->content, f->bytes);
	if (!got)
		return;
	derive_keys(t, m, keys);
	if (got > 0 && !t->peer.size && tcp_mac(keys, 0, *f, m->content) == f->mac &&
		strlen(m->content) == f->bytes)
		accept_invitation(t, m);
	tcp_meeting_end(t, m);
}

/* The dialer's side */

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
		a->refused_since = peer_now();
}

static double lookup_s(const struct tcp *t)
{
	return t->deadline / 2 < LOOKUP_S ? t->deadline / 2 : LOOKUP_S;
}

/* Whether addresses are there. */
static bool look_up(struct tcp *t, struct tcp_agent *a)
{
	const char *why = NULL;

	if (a->addresses.n)
		return true;
	if (!a->lookup) {
		a->lookup = lookup_begin(a->contact, t->bell);
		a->lookup_since = peer_now();
	}
	if (!lookup_take(&a->lookup, &a->addresses, &why) &&
		peer_now() - a->lookup_since > lookup_s(t))
		why = "the name server does not answer";
	if (why && !a->lookup_noted) {
		a->lookup_noted = true;
		tcp_note(t, "the agent at %s is looked for in vain: %s", a->contact->text, why);
	}
	return a->addresses.n > 0;
}

void tcp_dial(struct tcp *t, struct tcp_agent *a, enum tcp_purpose purpose, bool probe)
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
	m = meeting_new(t, fd);
	m->dialed = true;
	m->probe = probe;
	m->purpose = purpose;
	m->rank = a->rank;
	m->who = address_text(to);
	m->state = MEET_CONNECT;
	if (m->until > m->began + CONNECT_S)
		m->until = m->began + CONNECT_S;
	a->meetings++;
	if (tcp_watch(t, fd, TCP_WATCH_MEETING, m, true, false))
		tcp_meeting_end(t, m);
}

static void on_connected(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_agent *a = &t->agents[m->rank];
	struct tcp_hello *h = &m->hello;
	socklen_t bytes = sizeof(int);
	int error = 0;

	getsockopt(m->fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	if (error == ECONNREFUSED)
		on_refused(a);
	else if (!error)
		a->refused_since = 0;
	if (error || m->probe) {
		tcp_meeting_end(t, m);
		return;
	}
	memcpy(h->magic, TCP_MAGIC, sizeof(h->magic));
	h->version = TCP_VERSION;
	h->order = TCP_BYTE_ORDER;
	h->purpose = m->purpose;
	h->from = (uint32_t)t->peer.rank;
	h->to = (uint32_t)m->rank;
	h->size = (uint32_t)t->peer.size;
	h->life = t->life;
	h->received = a->received;
	memcpy(h->host, t->host, sizeof(h->host));
	m->state = MEET_WELCOME;
	m->until = peer_now() + meeting_s(t);
	if (!fill_nonce(h->nonce) || !send_all(m, h, sizeof(*h)) ||
		tcp_watch(t, m->fd, TCP_WATCH_MEETING, m, false, true))
		tcp_meeting_end(t, m);
}

static bool send_invitation(struct tcp *t, struct tcp_meeting *m)
{
	char *list = contacts_text(&t->list), *text = xasprintf("%d %s", m->rank, list);
	struct tcp_frame f = {.kind = TCP_INVITE, .bytes = (uint32_t)strlen(text)};
	unsigned char keys[SHA256_BYTES];
	bool sent;

	derive_keys(t, m, keys);
	f.mac = tcp_mac(keys, 0, f, text);
	sent = send_all(m, &f, sizeof(f)) && send_all(m, text, f.bytes);
	free(list);
	free(text);
	return sent;
}

/* Why not, or NULL. */
static const char *check_welcome(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_agent *a = &t->agents[m->rank];
	struct tcp_welcome *w = &m->welcome;
	unsigned char proof[SHA256_BYTES];

	if (memcmp(w->magic, TCP_MAGIC, sizeof(w->magic)))
		return "it is no agent";
	if (w->order != TCP_BYTE_ORDER)
		return refusals[TCP_OTHER_ORDER];
	if (w->version != TCP_VERSION)
		return refusals[TCP_OTHER_VERSION];
	sign(t, m, "listener", proof);
	if (!hmac_equal(proof, w->proof)) {
		/* our own goes there, too, so that the other side can say the same */
		sign(t, m, "dialer", proof);
		send_all(m, proof, sizeof(proof));
		return "it has another secret";
	}
	if (w->verdict >= TCP_VERDICTS)
		return "it refuses us";
	if (w->verdict)
		return refusals[w->verdict];
	if (m->purpose == TCP_LINK &&
		((a->life && a->life != w->life && (a->received || a->last_seq)) ||
			w->received > a->last_seq))
		return refusals[TCP_ANOTHER_LIFE];
	return NULL;
}

static void on_welcome(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_agent *a = &t->agents[m->rank];
	struct tcp_welcome *w = &m->welcome;
	int got = receive_more(m, w, sizeof(*w));
	unsigned char proof[SHA256_BYTES];
	const char *why;

	if (!got)
		return;
	why = got > 0 ? check_welcome(t, m) : NULL;
	if (why && !comes_too_often(w->verdict) && !a->lost_noted) {
		a->lost_noted = true;
		tcp_note(t, "cannot join the agent at %s: %s", m->who, why);
	}
	if (got < 0 || why) {
		tcp_meeting_end(t, m);
		return;
	}
	w->host[TCP_HOST_BYTES - 1] = '\0';
	sign(t, m, "dialer", proof);
	if (send_all(m, proof, sizeof(proof))) {
		if (m->purpose == TCP_INVITATION)
			send_invitation(t, m);
		else
			link_up(t, m, a, w->life, w->host, w->received);
	}
	tcp_meeting_end(t, m);
}

void tcp_meeting_event(struct tcp *t, struct tcp_meeting *m)
{
	switch (m->state) {
	case MEET_CONNECT:
		on_connected(t, m);
		break;
	case MEET_HELLO:
		on_hello(t, m);
		break;
	case MEET_WELCOME:
		on_welcome(t, m);
		break;
	case MEET_PROOF:
		on_proof(t, m);
		break;
	case MEET_INVITE:
		on_invite(t, m);
		break;
	}
}
