/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The listener's side of a meeting. Everything here may come from a stranger: sizes are
 * fixed, times are short, places are few and shared by address, and what is wrong is noted
 * with the address it came from. Who has not signed its first words gets nothing made with
 * the secret, and no time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/base/util.h"

#define ACCEPTS_MOST 64 /* at a time: others want to be served, too */

void tcp_stranger(struct tcp *t, const struct tcp_meeting *m, const char *why)
{
	const char *port = strrchr(m->who, ':'); /* another one each time */

	if (quota_take(&t->strangers, m->who, port ? (size_t)(port - m->who) : strlen(m->who), why))
		tcp_say(t, "refused a connection from %s: %s", m->who, why);
}

/* Places */

void tcp_listen_again(struct tcp *t, bool yes)
{
	t->full = !yes;
	for (size_t i = 0; i < t->n_listeners; i++) {
		struct epoll_event e = {
			.events = yes ? EPOLLIN : 0, .data.u64 = i << 3 | TCP_WATCH_LISTENER};

		epoll_ctl(t->epoll, EPOLL_CTL_MOD, t->listener[i], &e);
	}
	if (!yes && t->next > transport_now() + TCP_PATIENCE_S)
		t->next = transport_now() + TCP_PATIENCE_S;
}

/* For IPv6 the network counts, as an attacker has all addresses of a network. */
static uint64_t share_of(const struct sockaddr_storage *from)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
	uint64_t network = 0;
	uint32_t four = 0;

	if (from->ss_family == AF_INET)
		return ((const struct sockaddr_in *)from)->sin_addr.s_addr;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		memcpy(&four, six->sin6_addr.s6_addr + 12, sizeof(four));
		return four;
	}
	memcpy(&network, six->sin6_addr.s6_addr, sizeof(network));
	return network;
}

static uint16_t *places_of(struct tcp *t, uint64_t share)
{
	return &t->silent[(share * 0x9e3779b97f4a7c15u >> 32) % TCP_SHARES];
}

void tcp_silent(struct tcp *t, struct tcp_meeting *m, bool yes)
{
	if (m->silent == yes)
		return;
	m->silent = yes;
	*places_of(t, m->share) += yes ? 1 : -1;
}

/* The newest are first in the list, so the last one that fits is the oldest. */
static struct tcp_meeting *oldest_of(const struct tcp *t, uint64_t share)
{
	struct tcp_meeting *oldest = NULL;

	for (struct tcp_meeting *m = t->meetings; m; m = m->next)
		if (m->silent && m->share == share)
			oldest = m;
	return oldest;
}

/* The oldest of the address that has most; or one that has signed and has had its time. */
static struct tcp_meeting *who_has_to_go(struct tcp *t)
{
	const double now = transport_now();
	struct tcp_meeting *slow = NULL, *last = NULL;
	unsigned most = 0;

	for (struct tcp_meeting *m = t->meetings; m; m = m->next) {
		if (m->silent && *places_of(t, m->share) >= most) {
			most = *places_of(t, m->share);
			last = m;
		} else if (!m->silent && !m->dialed && now - m->began >= TCP_PATIENCE_S) {
			slow = m;
		}
	}
	return last ? last : slow;
}

/* Its message may have come unread, as we were busy: then reads it. False: m stays. */
static bool send_away(struct tcp *t, struct tcp_meeting *m)
{
	const unsigned before = t->n_accepted, state = m->state;

	tcp_meeting_event(t, m);
	if (t->n_accepted < before)
		return true;
	if (m->state != state) {
		m->began = transport_now();
		return false;
	}
	tcp_stranger(t, m,
		state == MEET_HELLO ? "others wait, and it has not said who it is"
				    : "others wait, and it does not prove who it is");
	tcp_meeting_end(t, m);
	return true;
}

/* Room for one more, or for a descriptor. */
static bool make_room(struct tcp *t)
{
	struct tcp_meeting *m = who_has_to_go(t);

	return m && send_away(t, m);
}

void tcp_meet(struct tcp *t, int fd, const struct sockaddr_storage *from)
{
	struct tcp_meeting *m, *oldest;
	unsigned before;
	uint64_t share = from ? share_of(from) : 0;
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	m = tcp_meeting_new(t, fd);
	t->n_accepted++;
	m->who = from ? address_text(from) : xstrdup("a test");
	m->share = share;
	m->state = MEET_HELLO;
	tcp_silent(t, m, true);
	if (tcp_watch(t, fd, TCP_WATCH_MEETING, m, false, false)) {
		tcp_meeting_end(t, m);
		return;
	}
	/* who has said its first words already needs no place of the silent ones */
	before = t->n_accepted;
	tcp_meeting_event(t, m);
	if (t->n_accepted < before || m->state != MEET_HELLO)
		return;
	oldest = *places_of(t, share) > TCP_SHARE ? oldest_of(t, share) : NULL;
	if (oldest && oldest != m)
		send_away(t, oldest);
}

void tcp_accept(struct tcp *t, int fd)
{
	struct sockaddr_storage from;

	for (int i = 0; i < ACCEPTS_MOST; i++) {
		socklen_t bytes = sizeof(from);
		int got;

		if (t->n_accepted >= TCP_MEETINGS && !make_room(t))
			goto full;
		got = accept4(fd, (struct sockaddr *)&from, &bytes, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (got >= 0)
			tcp_meet(t, got, &from);
		else if (errno == EAGAIN)
			return;
		/* one that is gone again; or no descriptor can be had, and one is made free */
		else if (errno != ECONNABORTED && errno != EINTR && !make_room(t))
			goto full;
	}
	return;
full:
	tcp_listen_again(t, false);
}

/* HELLO */

static bool is_of_this_job(const struct tcp *t, const struct tcp_hello *h)
{
	return h->size == (uint32_t)t->transport.size && h->from < h->size &&
	       h->to == (uint32_t)t->transport.rank &&
	       (h->purpose == TCP_LINK ? h->from > h->to
				       : h->purpose == TCP_KNOCK && h->from < h->to) &&
	       !memcmp(h->list, t->digest, TCP_DIGEST_BYTES);
}

bool tcp_may_start_anew(const struct tcp *t, const struct tcp_agent *a, uint64_t life)
{
	return a->life && a->life != life && !t->transport.plan && !a->left && a->link.fd < 0;
}

/* proved: not only signed, as by who repeats what was said in an earlier life. */
static enum tcp_verdict judge_hello(struct tcp *t, const struct tcp_hello *h, bool proved)
{
	struct tcp_agent *a;

	if (h->purpose == TCP_INVITATION)
		return t->transport.size ? memcmp(h->list, t->digest, TCP_DIGEST_BYTES)
						   ? TCP_TAKEN
						   : TCP_INVITED
		       : tcp_session_fits(t, NULL, h->session) ? TCP_WELCOME
							       : TCP_OTHER_SESSION;
	if (h->purpose == TCP_VIEW)
		return !tcp_admits_viewers(t)		       ? TCP_NO_VIEWERS
		       : tcp_session_fits(t, NULL, h->session) ? TCP_WELCOME
							       : TCP_OTHER_SESSION;
	if (!t->transport.size)
		return TCP_NOT_YET;
	if (!is_of_this_job(t, h))
		return TCP_OTHER_LIST;
	a = tcp_agent_of(t, (int)h->from);
	if (!tcp_session_fits(t, a->contact, h->session))
		return TCP_OTHER_SESSION;
	/* one that ended before there was a plan may come back */
	if (tcp_may_start_anew(t, a, h->life) && !h->received) {
		if (proved)
			tcp_forget_life(t, a);
		return TCP_WELCOME;
	}
	if (a->left || (a->life && a->life != h->life && (a->received || a->last_seq)) ||
		h->received > a->last_seq)
		return TCP_ANOTHER_LIFE;
	return TCP_WELCOME;
}

/* An answer that needs no secret, and ends the meeting: for who has not proved to know it. */
static void refuse_unproved(struct tcp *t, struct tcp_meeting *m, enum tcp_verdict verdict)
{
	struct tcp_welcome w = {
		.version = TCP_VERSION, .order = TCP_BYTE_ORDER, .verdict = verdict};
	char *why = tcp_refusal(t, verdict, m->hello.version, "", t->digest);

	memcpy(w.magic, TCP_MAGIC, sizeof(w.magic));
	tcp_send_all(m, &w, sizeof(w));
	tcp_stranger(t, m, why);
	free(why);
	tcp_meeting_end(t, m);
}

/* Checks the first words, which are the same in all versions, as soon as they have come. */
static bool head_is_wrong(struct tcp *t, struct tcp_meeting *m)
{
	const struct tcp_hello *h = &m->hello;

	if (memcmp(h->magic, TCP_MAGIC, sizeof(h->magic))) {
		tcp_stranger(t, m, "it is no agent");
		tcp_meeting_end(t, m);
		return true;
	}
	if (h->order == TCP_BYTE_ORDER && h->version == TCP_VERSION)
		return false;
	refuse_unproved(t, m, h->order == TCP_BYTE_ORDER ? TCP_OTHER_VERSION : TCP_OTHER_ORDER);
	return true;
}

/* Words that were recorded and are said again: nothing is answered to them. */
static bool was_heard_before(struct tcp *t, const struct tcp_hello *h)
{
	uint64_t mark;

	memcpy(&mark, h->proof, sizeof(mark));
	for (size_t i = 0; i < TCP_HELLOS; i++)
		if (t->hellos[i] == mark)
			return true;
	t->hellos[t->next_hello++ % TCP_HELLOS] = mark;
	return false;
}

/* It wants a connection: we are the one that dials. If there is one, it has lost it. */
static void on_knock(struct tcp *t, struct tcp_agent *a)
{
	if (a->link.fd < 0) {
		tcp_want(t, a);
		a->wanted = true;
		a->next_dial = 0;
		t->next = 0;
		return;
	}
	tcp_quick(t, a, TCP_ALIVE, 0, NULL, 0);
	if (tcp_link_write(t, a))
		tcp_lost(t, a, strerror(EPIPE));
}

/* In this life of it. */
static uint64_t received_from(const struct tcp_agent *a, uint64_t life)
{
	return a->life == life ? a->received : 0;
}

static void answer_hello(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_hello *h = &m->hello;
	struct tcp_welcome *w = &m->welcome;
	char *why;

	h->host[TCP_HOST_BYTES - 1] = h->session[TCP_SESSION_BYTES - 1] = '\0';
	memcpy(w->magic, TCP_MAGIC, sizeof(w->magic));
	w->version = TCP_VERSION;
	w->order = TCP_BYTE_ORDER;
	w->verdict = judge_hello(t, h, false);
	w->life = t->life;
	if (w->verdict == TCP_WELCOME && h->purpose == TCP_LINK)
		w->received = received_from(tcp_agent_of(t, (int)h->from), h->life);
	memcpy(w->list, t->digest, sizeof(w->list));
	memcpy(w->host, t->host, sizeof(w->host));
	memcpy(w->session, t->named, sizeof(w->session));
	tcp_draw_share(m, w->share);
	tcp_sign(t, m, "listener", NULL, 0, w->proof);
	if (!tcp_send_all(m, w, sizeof(*w))) {
		tcp_meeting_end(t, m);
		return;
	}
	if (w->verdict == TCP_WELCOME) {
		m->state = MEET_PROOF;
		tcp_silent(t, m, false);
		m->began = transport_now();
		return;
	}
	if (!tcp_comes_too_often(w->verdict)) {
		why = w->verdict == TCP_TAKEN
			      ? xstrdup("another agent has invited this one before")
			      : tcp_refusal(t, w->verdict, h->version, h->session, h->list);
		tcp_stranger(t, m, why);
		free(why);
	}
	tcp_meeting_end(t, m);
}

void tcp_on_hello(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_hello *h = &m->hello;
	unsigned char proof[TCP_DIGEST_BYTES];
	int got = tcp_receive_more(m, h, sizeof(*h));

	/* who only looks whether we are there says nothing */
	if (got < 0 && m->have < TCP_HEAD_BYTES) {
		if (m->have)
			tcp_stranger(t, m, "it closed before it said who it is");
		tcp_meeting_end(t, m);
		return;
	}
	if ((got > 0 || m->have >= TCP_HEAD_BYTES) && head_is_wrong(t, m))
		return;
	if (!got)
		return;
	if (got < 0) {
		tcp_stranger(t, m, "it closed before it said who it is");
		tcp_meeting_end(t, m);
		return;
	}
	tcp_sign_hello(t, h, proof);
	if (crypto_verify_32(proof, h->proof)) {
		refuse_unproved(t, m, TCP_OTHER_SECRET);
	} else if (was_heard_before(t, h)) {
		tcp_stranger(t, m, "it repeats what another agent has said");
		tcp_meeting_end(t, m);
	} else {
		answer_hello(t, m);
	}
}

/* PROOF */

void tcp_on_proof(struct tcp *t, struct tcp_meeting *m)
{
	unsigned char proof[TCP_DIGEST_BYTES];
	/* kept in the welcome, of which only that part has been used */
	int got = tcp_receive_more(m, m->welcome.proof, TCP_DIGEST_BYTES);
	struct tcp_agent *a;

	if (!got)
		return;
	if (got > 0)
		tcp_sign(t, m, "dialer", NULL, 0, proof);
	if (got < 0 || crypto_verify_32(proof, m->welcome.proof)) {
		/* who only closes may have ended: it has signed its first words */
		if (got > 0)
			tcp_stranger(t, m, "it did not prove that it knows the secret");
		tcp_meeting_end(t, m);
		return;
	}
	/* the same question again: others may have come in between */
	if (judge_hello(t, &m->hello, true) != TCP_WELCOME) {
		tcp_meeting_end(t, m);
		return;
	}
	if (m->hello.purpose == TCP_INVITATION) {
		m->state = MEET_INVITE;
		return;
	}
	if (m->hello.purpose == TCP_VIEW) {
		tcp_viewer_up(t, m);
		tcp_meeting_end(t, m);
		return;
	}
	a = tcp_agent_of(t, (int)m->hello.from);
	if (m->hello.purpose == TCP_KNOCK)
		on_knock(t, a);
	else if (m->welcome.received ==
		 a->received) /* else a connection that is broken was still read */
		tcp_link_up(t, m, a, m->hello.life, m->hello.host, m->hello.received);
	tcp_meeting_end(t, m);
}

/* Invitations. The frame's content: "RANK CONTACTS". */
static void accept_invitation(struct tcp *t, struct tcp_meeting *m)
{
	char *error = NULL, *end;
	long rank = strtol(m->content, &end, 10);

	contacts_clear(&t->list);
	/* never a file of ours */
	if (*end != ' ' || end[1] == '@' || contacts_add(&t->list, end + 1, &error) ||
		!tcp_adopt_list(t, rank > 0 && rank < CONTACTS_MAX ? (int)rank : -1)) {
		tcp_stranger(t, m, error ? error : "its list of contacts cannot be read");
		contacts_clear(&t->list);
	} else {
		t->invites = true;
	}
	free(error);
}

/* As tcp_receive_more(), also of a frame that is none. */
static int receive_invitation(struct tcp_meeting *m, const struct tcp_keys *keys)
{
	struct tcp_frame *f = &m->frame;
	int got;

	if (!m->content) {
		got = tcp_receive_more(m, m->sealed, sizeof(m->sealed));
		if (got <= 0)
			return got;
		if (!tcp_frame_open(keys->of_dialer, 0, m->sealed, f) || f->kind != TCP_INVITE ||
			f->bytes > TCP_LIST_MOST)
			return -1;
		m->content = xcalloc(1, tcp_content_sealed(f->bytes) + 1);
	}
	got = tcp_receive_more(m, m->content, tcp_content_sealed(f->bytes));
	if (got > 0 && !tcp_content_open(keys->of_dialer, 0, f, m->content))
		return -1;
	return got;
}

void tcp_on_invite(struct tcp *t, struct tcp_meeting *m)
{
	struct tcp_keys keys;
	const int got = tcp_keys(t, m, &keys) ? receive_invitation(m, &keys) : -1;

	sodium_memzero(&keys, sizeof(keys));
	if (!got)
		return;
	if (got > 0 && !t->transport.size && strlen(m->content) == m->frame.bytes)
		accept_invitation(t, m);
	tcp_meeting_end(t, m);
}
