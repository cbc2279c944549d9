/* SPDX-License-Identifier: BSD-3-Clause */
/* The viewer dials, as agents do: it proves first that it knows the secret. */
#include "nodeagent/net/tcp/viewer-link.h"

#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tcp/secret.h"
#include "nodeagent/base/util.h"

#define PACKET_MOST (1 << 18)

/* A node that is gone says nothing: then the connection is broken after some seconds. */
#define IDLE_S	   5
#define INTERVAL_S 5
#define PROBES	   3

struct viewer_link {
	struct tcp_packets packets;
};

/* True if it happens before `until`. */
static bool wait_for(int fd, short events, double until)
{
	struct pollfd p = {.fd = fd, .events = events};
	double left;

	while ((left = until - transport_now()) > 0)
		if (poll(&p, 1, (int)(left * 1000) + 1) > 0)
			return true;
	return false;
}

static void set_options(int fd)
{
	const int on = 1, idle = IDLE_S, interval = INTERVAL_S, probes = PROBES;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

/* A descriptor, or -errno. */
static int dial_one(const struct sockaddr_storage *to, double until)
{
	const int fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t bytes = sizeof(int);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)to, address_bytes(to)))
		error = errno;
	if (error == EINPROGRESS) {
		error = ETIMEDOUT;
		if (wait_for(fd, POLLOUT, until))
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes);
	}
	if (!error) {
		set_options(fd);
		return fd;
	}
	close(fd);
	return -error;
}

/* As dial_one(): each address has its part of the time. */
static int dial_contact(const struct contact *c, double until, const char **why)
{
	struct lookup *l = lookup_begin(c), *dropped = NULL;
	struct addresses a = {0};
	int fd = -ETIMEDOUT;

	*why = NULL;
	if (!lookup_wait(&l, &a, why, until - transport_now()))
		*why = "the name server does not answer";
	lookup_drop(l, &dropped);
	for (size_t i = 0; fd < 0 && i < a.n; i++) {
		const double now = transport_now();

		fd = dial_one(&a.at[i], now + (until - now) / (double)(a.n - i));
	}
	addresses_clear(&a);
	if (fd < 0 && !*why)
		*why = strerror(-fd);
	return fd;
}

static void fill_hello(const struct tcp *t, struct tcp_meeting *m, const char *session)
{
	struct tcp_hello *h = &m->hello;

	memcpy(h->magic, TCP_MAGIC, sizeof(h->magic));
	h->version = TCP_VERSION;
	h->order = TCP_BYTE_ORDER;
	h->purpose = TCP_VIEW;
	randombytes_buf(&h->life, sizeof(h->life));
	h->life |= 1;
	tcp_draw_share(m, h->share);
	gethostname(h->host, sizeof(h->host) - 1);
	if (session)
		snprintf(h->session, sizeof(h->session), "%s", session);
	tcp_sign_hello(t, h, h->proof);
}

/* NULL, or why not; the caller frees. */
static char *check_welcome(const struct tcp *t, const struct tcp_meeting *m)
{
	const struct tcp_welcome *w = &m->welcome;
	unsigned char proof[TCP_DIGEST_BYTES];
	char *why = tcp_check_head(t, w);

	if (why || tcp_needs_no_proof(w->verdict))
		return why ? why : tcp_refusal(t, w->verdict, w->version, "", t->digest);
	tcp_sign(t, m, "listener", NULL, 0, proof);
	if (crypto_verify_32(proof, w->proof))
		return tcp_refusal(t, TCP_OTHER_SECRET, w->version, "", t->digest);
	if (w->verdict == TCP_OTHER_SESSION)
		return xasprintf("it is of session `%s'", w->session);
	return w->verdict ? tcp_refusal(t, w->verdict, w->version, w->session, w->list) : NULL;
}

/* As check_welcome(). */
static char *meet_agent(
	const struct tcp *t, struct tcp_meeting *m, const char *session, double until)
{
	unsigned char proof[TCP_DIGEST_BYTES];
	int got = 0;
	char *why;

	fill_hello(t, m, session);
	if (!tcp_send_all(m, &m->hello, sizeof(m->hello)))
		return xstrdup(strerror(errno));
	while (!got && wait_for(m->fd, POLLIN, until))
		got = tcp_receive_more(m, &m->welcome, sizeof(m->welcome));
	/* that of another version may be shorter */
	why = got <= 0 && m->have >= TCP_HEAD_BYTES ? tcp_check_head(t, &m->welcome) : NULL;
	if (got <= 0)
		return why ? why : xstrdup(got ? "it closes the connection" : "it does not answer");
	m->welcome.session[TCP_SESSION_BYTES - 1] = '\0';
	why = check_welcome(t, m);
	if (why)
		return why;
	tcp_sign(t, m, "dialer", NULL, 0, proof);
	return tcp_send_all(m, proof, sizeof(proof)) ? NULL : xstrdup(strerror(errno));
}

/* What we print of others is plain. */
static char *plain_name(const char *session)
{
	for (const char *p = session; *p; p++)
		if (!isgraph((unsigned char)*p))
			return xstrdup("");
	return xstrdup(session);
}

static struct viewer_link *open_link(const struct tcp *t, const struct contact *c,
	const char *session, double until, char **named, char **why)
{
	struct tcp_meeting m = {.dialed = true, .purpose = TCP_VIEW};
	struct viewer_link *l = NULL;
	struct tcp_keys keys;
	const char *text;

	m.fd = dial_contact(c, until, &text);
	*why = m.fd < 0 ? xstrdup(text) : meet_agent(t, &m, session, until);
	if (!*why && !tcp_keys(t, &m, &keys))
		*why = xstrdup("what it sends is no part of a key");
	if (!*why) {
		l = xcalloc(1, sizeof(*l));
		tcp_packets_open(&l->packets, m.fd, &keys, true, PACKET_MOST);
		sodium_memzero(&keys, sizeof(keys));
		*named = plain_name(m.welcome.session);
	} else if (m.fd >= 0) {
		close(m.fd);
	}
	sodium_memzero(&m, sizeof(m));
	return l;
}

struct viewer_link *viewer_link_open(const char *contact, const char *secret, const char *session,
	double most_s, char **named, char **error)
{
	const double until = transport_now() + most_s;
	char *usual = secret ? NULL : secret_usual(), *why = NULL;
	struct viewer_link *l = NULL;
	struct tcp t = {0};
	struct contact c;

	*named = *error = NULL;
	if (contact_parse(contact, &c, error)) {
		free(usual);
		return NULL;
	}
	if (sodium_init() < 0)
		*error = xstrdup("no random numbers");
	else if (!secret_read(secret ? secret : usual, &t.secret, &t.secret_bytes, error))
		l = open_link(&t, &c, session ? session : c.session, until, named, &why);
	if (why)
		*error = xasprintf("cannot look at the job by the agent at %s: %s", contact, why);
	if (t.secret)
		sodium_memzero(t.secret, t.secret_bytes);
	free(t.secret);
	free(usual);
	free(why);
	contact_clear(&c);
	return l;
}

void viewer_link_close(struct viewer_link *l)
{
	close(l->packets.fd);
	tcp_packets_clear(&l->packets);
	free(l);
}

int viewer_link_fd(const struct viewer_link *l)
{
	return l->packets.fd;
}

bool viewer_link_send(struct viewer_link *l, const void *packet, size_t bytes)
{
	return !tcp_packets_flush(&l->packets) &&
	       tcp_packet_put(&l->packets, TCP_PACKET, packet, bytes) &&
	       !tcp_packets_flush(&l->packets);
}

ssize_t viewer_link_receive(struct viewer_link *l, void *buf, size_t room)
{
	const int stuck = tcp_packets_flush(&l->packets);
	char *content;
	size_t bytes;
	/* what came before the other side closed can be read, though nothing can be sent */
	int got = tcp_packet_take(&l->packets, &content, &bytes);

	if (got <= 0)
		return got ? got : stuck;
	bytes = bytes < room ? bytes : room;
	memcpy(buf, content, bytes);
	free(content);
	return (ssize_t)bytes;
}
