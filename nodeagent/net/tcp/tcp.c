/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/tcp/tcp.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tree.h"
#include "nodeagent/base/util.h"

#define KIND_MASK     ((uint64_t)7)
#define EVENTS_MOST   64
#define GOODBYE_S     2.0
#define NONSENSE_MOST 3

static struct tcp *tcp_of(struct transport *p)
{
	return (struct tcp *)p;
}

int tcp_watch(struct tcp *t, int fd, enum tcp_watch kind, const void *p, bool out, bool again)
{
	struct epoll_event e = {
		.events = out && kind == TCP_WATCH_MEETING ? EPOLLOUT
			  : out				   ? EPOLLIN | EPOLLOUT
							   : EPOLLIN,
		.data.u64 = (uintptr_t)p | kind,
	};

	return epoll_ctl(t->epoll, again ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

void tcp_close(struct tcp *t, int fd)
{
	epoll_ctl(t->epoll, EPOLL_CTL_DEL, fd, NULL);
	close(fd);
}

static void put_note(struct tcp *t, const char *text)
{
	char *all = xasprintf("%s%s\n", t->notes ? t->notes : "", text);

	complain("%s", text);
	free(t->notes);
	t->notes = all;
}

void tcp_say(struct tcp *t, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put_note(t, text);
}

void tcp_note(struct tcp *t, const struct tcp_agent *a, const char *fmt, ...)
{
	char text[512], kind[512];
	va_list args;

	snprintf(kind, sizeof(kind), "%s %s", a->contact->text, fmt);
	if (!quota_take(&t->about_agents, kind, strlen(kind), NULL))
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	put_note(t, text);
}

char *tcp_notes(struct transport *p)
{
	struct tcp *t = tcp_of(p);
	char *notes, text[128];

	if (quota_more(&t->about_agents, "agents", text, sizeof(text)))
		put_note(t, text);
	if (quota_more(&t->strangers, "strangers", text, sizeof(text)))
		put_note(t, text);
	notes = t->notes;
	t->notes = NULL;
	return notes;
}

struct tcp_name tcp_name(const struct tcp_agent *a)
{
	struct tcp_name n;

	snprintf(n.text, sizeof(n.text), a->host[0] ? "%s (%.200s)" : "%s%.200s", a->host,
		a->contact->text);
	return n;
}

/* Messages that came */

void tcp_deliver(struct tcp *t, int from, int tag, bool small, void *buf, size_t bytes)
{
	struct tcp_message *m = xmalloc(sizeof(*m));

	*m = (struct tcp_message){
		.from = from, .tag = tag, .small = small, .bytes = bytes, .buf = buf};
	*t->inbox_end = m;
	t->inbox_end = &m->next;
	t->transport.news += !small;
	if (small)
		t->transport.counts.small++;
	else
		transport_count_received(&t->transport, bytes);
}

struct tcp_message *tcp_take(struct tcp *t, int from, int tag)
{
	for (struct tcp_message **at = &t->inbox; *at; at = &(*at)->next) {
		struct tcp_message *m = *at;

		if (m->tag != tag || (from != TRANSPORT_ANY && m->from != from))
			continue;
		*at = m->next;
		if (!m->next)
			t->inbox_end = at;
		if (m->small)
			tcp_agent_of(t, m->from)->n_small--;
		return m;
	}
	return NULL;
}

/* Connections that break, agents that die */

void tcp_lost(struct tcp *t, struct tcp_agent *a, const char *why)
{
	tcp_link_close(t, a);
	if (a->left || t->leaving)
		return;
	if (!a->lost_noted)
		tcp_note(
			t, a, "the connection to the agent on %s broke: %s", tcp_name(a).text, why);
	a->lost_noted = true;
}

void tcp_tell_death(struct tcp *t, const struct tcp_agent *a, bool dead)
{
	if (t->deaths)
		tcp_deliver(t, a->rank, t->deaths, false, xcalloc(1, 2), dead);
}

static void on_link(struct tcp *t, struct tcp_agent *a, uint32_t events)
{
	int error = 0;

	if (a->link.fd < 0)
		return;
	if (events & EPOLLOUT)
		error = tcp_link_write(t, a);
	if (!error && events & ~(uint32_t)EPOLLOUT)
		error = tcp_link_read(t, a);
	if (error == -EPROTO && ++a->nonsense >= NONSENSE_MOST) {
		tcp_lost(t, a, "what it sends is not of the agents' protocol");
		a->left = true; /* it is not called again */
		tcp_die_of(t, a, TCP_UNTRUSTED);
	} else if (error) {
		tcp_lost(t, a, tcp_link_error(error));
	}
}

static void on_event(struct tcp *t, const struct epoll_event *e)
{
	void *p = (void *)(uintptr_t)(e->data.u64 & ~KIND_MASK);

	switch (e->data.u64 & KIND_MASK) {
	case TCP_WATCH_LISTENER:
		tcp_accept(t, t->listener[(uintptr_t)p >> 3]);
		break;
	case TCP_WATCH_MEETING:
		tcp_meeting_event(t, p);
		break;
	case TCP_WATCH_AGENT:
		on_link(t, p, e->events);
		break;
	case TCP_WATCH_VIEWER:
		tcp_on_viewer(t, p);
		break;
	case TCP_WATCH_VIEWED:
		tcp_on_viewed(t, p, e->events & (EPOLLHUP | EPOLLERR));
		break;
	}
}

/* Serves the connections; sleeps until something happens or `until`. */
static void pump(struct transport *p, double until)
{
	struct tcp *t = tcp_of(p);
	struct epoll_event e;
	double wait_s, now;

	tcp_tick(t);
	now = transport_now();
	wait_s = (t->next < until ? t->next : until) - now;
	/* one by one: an event may end what another one is about */
	for (int i = 0; i < EVENTS_MOST; i++) {
		int ms = i || wait_s <= 0 ? 0 : wait_s > 60 ? 60000 : (int)(wait_s * 1000) + 1;

		if (epoll_wait(t->epoll, &e, 1, ms) != 1)
			break;
		on_event(t, &e);
	}
	tcp_tick(t);
}

static double next_time(struct transport *p)
{
	return tcp_of(p)->next - transport_now();
}

/* The operations of struct transport */

static bool gone(const struct tcp_agent *a)
{
	return (a->left || a->dead) && a->link.fd < 0;
}

static bool nobody_left(const struct tcp *t, int from)
{
	const struct tcp_agent *one = tcp_agent_known(t, from);
	int n = 0;

	if (from != TRANSPORT_ANY)
		return one && gone(one);
	for (size_t i = 0; i < t->n_known; i++)
		n += gone(t->known[i]);
	return n == t->transport.size - 1;
}

static bool is_other(const struct tcp *t, int rank)
{
	return rank >= 0 && rank < t->transport.size && rank != t->transport.rank;
}

static int send_message(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	struct tcp *t = tcp_of(p);
	struct tcp_agent *a;

	if (to == p->rank && tag >= 0 && tag <= TRANSPORT_TAG_MAX) {
		char *copy = xmalloc(bytes + 1);

		memcpy(copy, buf, bytes);
		tcp_deliver(t, to, tag, false, copy, bytes);
		return 0;
	}
	if (!is_other(t, to) || tag < 0 || tag > TRANSPORT_TAG_MAX)
		return -EINVAL;
	a = tcp_agent_of(t, to);
	if (a->left)
		return -ECONNRESET;
	tcp_want(t, a);
	tcp_keep(a, TCP_MESSAGE, tag, buf, bytes);
	if (!a->slow && tcp_slow_from(t, a) < t->next)
		t->next = tcp_slow_from(t, a);
	transport_count_sent(p, bytes);
	if (tcp_link_write(t, a))
		tcp_lost(t, a, strerror(EPIPE));
	return 0;
}

static void tell_deaths(struct transport *p, int tag)
{
	struct tcp *t = tcp_of(p);

	t->deaths = tag;
	for (size_t i = 0; i < t->n_known; i++)
		if (t->known[i]->dead)
			tcp_tell_death(t, t->known[i], true);
}

static int receive_message(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct tcp *t = tcp_of(p);

	if (from != TRANSPORT_ANY && !is_other(t, from) && from != p->rank)
		return -EINVAL;
	for (bool last = false;;) {
		struct tcp_message *m = tcp_take(t, from, tag);

		if (m) {
			*buf = m->buf;
			*bytes = m->bytes;
			*who = m->from;
			free(m);
			return 0;
		}
		if (t->transport.size > 1 && nobody_left(t, from))
			return -ECONNRESET;
		if (last)
			return -ETIMEDOUT;
		if (p->attend && p->attend(p))
			return -EINTR;
		last = transport_now() >= until;
		pump(p, until);
	}
}

static int post_small(struct transport *p, int to, int tag, const void *buf, size_t bytes)
{
	struct tcp *t = tcp_of(p);
	struct tcp_agent *a;

	if (!is_other(t, to) || bytes > TRANSPORT_SMALL_MAX)
		return -EINVAL;
	a = tcp_agent_of(t, to);
	if (!tcp_quick(t, a, TCP_SMALL, tag, buf, bytes))
		return -EAGAIN;
	p->counts.small++;
	if (tcp_link_write(t, a))
		tcp_lost(t, a, strerror(EPIPE));
	return 0;
}

static int look_small(struct transport *p, int from, int tag, void *buf, size_t bytes, int *who)
{
	struct tcp *t = tcp_of(p);
	struct tcp_message *m = tcp_take(t, from, tag);

	if (!m) {
		pump(p, 0);
		m = tcp_take(t, from, tag);
	}
	if (!m)
		return -EAGAIN;
	*who = m->from;
	memset(buf, 0, bytes);
	memcpy(buf, m->buf, m->bytes < bytes ? m->bytes : bytes);
	free(m->buf);
	free(m);
	return 0;
}

static bool all_acknowledged(const struct tcp *t)
{
	return !ANY(i, t->n_known, t->known[i]->kept && !gone(t->known[i]));
}

static void free_all(struct tcp *t)
{
	for (size_t i = 0; i < t->n_known; i++) {
		tcp_link_close(t, t->known[i]);
		tcp_agent_clear(t, t->known[i]);
	}
	tcp_viewers_end(t);
	while (t->meetings)
		tcp_meeting_end(t, t->meetings);
	while (t->inbox) {
		struct tcp_message *m = t->inbox;

		t->inbox = m->next;
		free(m->buf);
		free(m);
	}
	for (size_t i = 0; i < t->n_listeners; i++)
		close(t->listener[i]);
	if (t->epoll >= 0)
		close(t->epoll);
	contacts_clear(&t->list);
	for (size_t i = 0; i < t->n_known; i++)
		free(t->known[i]);
	free(t->known);
	free(t->agents);
	for (int i = 0; t->hosts && i < t->transport.size; i++)
		free(t->hosts[i]);
	free(t->hosts);
	free(t->notes);
	sodium_memzero(t->secret, t->secret_bytes);
	free(t->secret);
	free(t->session);
	free(t);
}

/* What is below an agent that has died, or left alone, has other neighbours. */
static bool all_left(const struct tcp *t, int top)
{
	for (int k = 0, child; (child = tree_child(t->transport.size, top, k)) > 0; k++) {
		const struct tcp_agent *a = tcp_agent_known(t, child);

		if (!a || !(a->left || a->dead) || (!a->left_together && !all_left(t, child)))
			return false;
	}
	return true;
}

static bool await_left(struct transport *p, double until)
{
	struct tcp *t = tcp_of(p);

	for (;;) {
		if (p->attend) /* reads, too */
			p->attend(p);
		if (all_left(t, p->rank))
			return true;
		if (transport_now() >= until)
			return false;
		pump(p, until);
	}
}

static void finish_tcp(struct transport *p, int together, int status, double until)
{
	struct tcp *t = tcp_of(p);
	double most = transport_now() + GOODBYE_S;

	/* those that are still there get what is under way, and know that this is no death */
	for (size_t i = 0; i < t->n_known; i++) {
		struct tcp_agent *a = t->known[i];

		if (a->link.fd >= 0 || a->kept || (a->near && a->life))
			tcp_keep(a, TCP_BYE, together > 0 ? TCP_BYE_TOGETHER : 0, NULL, 0);
	}
	t->leaving = true;
	if (!together && until > most)
		until = most;
	for (size_t i = 0; i < t->n_known; i++)
		if (t->known[i]->link.fd >= 0 && tcp_link_write(t, t->known[i]))
			tcp_link_close(t, t->known[i]);
	while (!all_acknowledged(t) && transport_now() < until)
		pump(p, until);
	free_all(t);
}

/* Start */

static void digest_of_list(struct tcp *t)
{
	char *text = contacts_text(&t->list);

	crypto_hash_sha256(t->digest, (const unsigned char *)text, strlen(text));
	free(text);
}

bool tcp_adopt_list(struct tcp *t, int me)
{
	size_t n = t->list.n;

	if (!n || me < 0 || me >= (int)n)
		return false;
	t->agents = xcalloc(n, sizeof(struct tcp_agent *));
	t->transport.rank = me;
	t->transport.size = (int)n;
	digest_of_list(t);
	t->near_stale = true;
	t->deadline += t->more * (double)n;
	t->started = transport_now();
	t->next = 0;
	return true;
}

void tcp_more_patience(struct transport *p, double more_s)
{
	struct tcp *t = tcp_of(p);

	t->more = more_s;
	t->deadline += more_s * p->size;
}

static bool is_gone(struct transport *p, int rank)
{
	const struct tcp_agent *a = tcp_agent_known(tcp_of(p), rank);

	return a && a->dead;
}

static void meet_agent(struct transport *p, int rank)
{
	struct tcp *t = tcp_of(p);
	struct tcp_agent *a;

	if (!is_other(t, rank) || !t->agents)
		return;
	a = tcp_agent_of(t, rank);
	tcp_want(t, a);
	a->wanted |= a->link.fd < 0;
}

static bool is_slow(struct transport *p, int rank)
{
	const struct tcp_agent *a = tcp_agent_known(tcp_of(p), rank);

	return a && (a->slow || a->absent);
}

struct transport *tcp_open(const struct tcp_options *o, const char *host, const char *session,
	double deadline_s, char **error)
{
	struct tcp *t = xcalloc(1, sizeof(*t));

	*error = NULL;
	t->options = o;
	t->invites = o->lead;
	t->deadline = deadline_s > 0.1 ? deadline_s : 0.1;
	t->epoll = epoll_create1(EPOLL_CLOEXEC);
	t->inbox_end = &t->inbox;
	t->about_agents = (struct quota){.each = TCP_NOTES_EACH, .all = TCP_NOTES_MOST};
	t->strangers =
		(struct quota){.each = TCP_STRANGER_NOTES_EACH, .all = TCP_STRANGER_NOTES_MOST};
	t->session = session ? xstrdup(session) : NULL;
	t->started = transport_now();
	t->transport.rank = -1;
	snprintf(t->host, sizeof(t->host), "%s", host);
	if (session && !o->any_session)
		snprintf(t->named, sizeof(t->named), "%s", session);
	t->transport.send = send_message;
	t->transport.receive = receive_message;
	t->transport.gone = is_gone;
	t->transport.await_left = await_left;
	t->transport.slow = is_slow;
	t->transport.meet = meet_agent;
	t->transport.finish = finish_tcp;
	t->transport.post = post_small;
	t->transport.look = look_small;
	t->transport.deaths = tell_deaths;
	t->transport.pump = pump;
	t->transport.next = next_time;
	t->transport.fd = t->epoll;
	if (sodium_init() < 0 || t->epoll < 0)
		*error = xstrdup("no random numbers, or no epoll");
	randombytes_buf(&t->life, sizeof(t->life));
	t->life |= 1;
	if (!*error)
		*error = tcp_prepare(t);
	if (!*error)
		return &t->transport;
	free_all(t);
	return NULL;
}
