/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of the proxy. */
#include "nodeagent/proxy/proxy.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/clock/sync.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/proxy/internal.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/net/route.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/net/tcp/tcp.h"
#include "nodeagent/base/util.h"

#define PIECE_S 0.5
#define SLICE_S 1.0
#define GRACE_S 10.0 /* beyond the deadline that the proxy itself keeps */

static int to_proxy = -1, its_bell = -1;
static const struct tcp_options *tcp_options;

/* The machine may have slept meanwhile, and both sides with it: a slice counts once. */
static bool await_socket(struct pollfd *p, double *left_s)
{
	const double slice = MAX(0.0, MIN(*left_s, SLICE_S)), began = transport_now();
	const int n = poll(p, 1, slice > 0 ? (int)(slice * 1000) + 1 : 0);

	*left_s -= MIN(transport_now() - began, slice);
	return n >= 0 || errno == EINTR;
}

bool proxy_transfer(int fd, void *buf, size_t bytes, bool out, double *left_s)
{
	char *at = buf;

	while (bytes) {
		struct pollfd p = {.fd = fd, .events = out ? POLLOUT : POLLIN};
		ssize_t n;

		if (!await_socket(&p, left_s))
			return false;
		if (!p.revents && *left_s <= 0)
			return false;
		n = out ? send(fd, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT)
			: recv(fd, at, bytes, MSG_DONTWAIT);
		if (!n || (n < 0 && errno != EINTR && errno != EAGAIN))
			return false;
		if (n > 0) {
			at += n;
			bytes -= n;
		}
	}
	return true;
}

bool proxy_there(void)
{
	return to_proxy >= 0;
}

static int lost(void)
{
	close(to_proxy);
	to_proxy = -1;
	return -ECONNRESET;
}

/* *content is what the answer carries, NUL-terminated; the caller frees. */
static int ask_by(
	const struct request *q, const void *buf, struct answer *a, void **content, double until)
{
	double left_s = until - transport_now();
	char *in;

	*content = NULL;
	if (to_proxy < 0)
		return -ECONNRESET;
	if (!proxy_transfer(to_proxy, (void *)q, sizeof(*q), true, &left_s) ||
		!proxy_transfer(to_proxy, (void *)buf, q->bytes, true, &left_s) ||
		!proxy_transfer(to_proxy, a, sizeof(*a), false, &left_s))
		return lost();
	in = xmalloc(a->bytes + 1);
	in[a->bytes] = '\0';
	if (!proxy_transfer(to_proxy, in, a->bytes, false, &left_s)) {
		free(in);
		return lost();
	}
	*content = in;
	return a->error;
}

static int ask_proxy(const struct request *q, const void *buf, struct answer *a, void **content)
{
	return ask_by(q, buf, a, content,
		(q->until > transport_now() ? q->until : transport_now()) + GRACE_S);
}

static int ask_only(const struct request *q, const void *buf)
{
	struct answer a;
	void *content;
	int error = ask_proxy(q, buf, &a, &content);

	free(content);
	return error;
}

static int proxy_send(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	struct request q = {
		SEND, .who = to, .tag = tag, .bytes = bytes, .until = ending_until(until)};

	return ask_only(&q, buf);
}

static int proxy_receive(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct request q = {RECEIVE, .who = from, .tag = tag};
	struct answer a;
	int error;

	for (;;) { /* in pieces: SIGTERM may come, which the proxy passes on in between */
		double now = transport_now();

		until = ending_until(until);
		q.until = until > now + PIECE_S ? now + PIECE_S : until;
		error = ask_by(&q, NULL, &a, buf, (until > now ? until : now) + GRACE_S);
		if (error != -ETIMEDOUT || q.until >= until)
			break;
		free(*buf);
		ending_hear();
	}
	if (error) {
		free(*buf);
		*buf = NULL;
		return error;
	}
	*bytes = a.bytes;
	*who = a.who;
	return 0;
}

static void proxy_finish(struct transport *p, int together, int status, double until)
{
	struct request q = {FINISH, .together = together, .status = status, .until = until};

	ask_only(&q, NULL);
	free(p);
}

static bool proxy_gone(struct transport *p, int rank)
{
	struct request q = {GONE, .who = rank, .until = transport_now()};
	struct answer a;
	void *content;
	bool gone = !ask_proxy(&q, NULL, &a, &content) && a.size;

	free(content);
	return gone;
}

/* In pieces, as proxy_receive(). */
static bool proxy_await_left(struct transport *p, double until)
{
	for (;;) {
		const double now = transport_now();
		struct request q = {AWAIT_LEFT};
		struct answer a;
		void *content;
		int error;

		until = ending_until(until);
		q.until = until > now + PIECE_S ? now + PIECE_S : until;
		error = ask_proxy(&q, NULL, &a, &content);
		free(content);
		if (error || a.size || q.until >= until)
			return !error && a.size;
		ending_hear();
	}
}

static bool proxy_listen(struct transport *p, int tag)
{
	struct request q = {LISTEN, .tag = tag, .until = transport_now()};

	if (proxy_rings_for_all())
		return true;
	ask_only(&q, NULL);
	return false;
}

static void proxy_remember(struct transport *p, const void *plan, size_t bytes, const char *host)
{
	size_t n = bytes + strlen(host) + 1;
	struct request q = {REMEMBER, .bytes = n, .until = transport_now()};
	char *buf = xmalloc(n);

	memcpy(buf, plan, bytes);
	memcpy(buf + bytes, host, n - bytes);
	ask_only(&q, buf);
	free(buf);
}

static void proxy_collated(struct transport *p, bool complete)
{
	struct request q = {COLLATED, .together = complete, .until = transport_now()};

	ask_only(&q, NULL);
}

static void proxy_last_will(struct transport *p, int tag, const void *buf, size_t bytes)
{
	struct request q = {LAST_WILL, .tag = tag, .bytes = bytes, .until = transport_now()};

	ask_only(&q, buf);
}

static int proxy_to_root(
	struct transport *p, int tag, const void *buf, size_t bytes, bool final, double hold_s)
{
	struct request q = {TO_ROOT, .tag = tag, .together = final, .status = request_ms(hold_s),
		.bytes = bytes, .until = transport_now()};

	return ask_only(&q, buf);
}

static int proxy_to_one(struct transport *p, int to, int tag, const void *buf, size_t bytes)
{
	struct request q = {
		TO_ONE, .who = to, .tag = tag, .bytes = bytes, .until = transport_now()};

	return ask_only(&q, buf);
}

static int proxy_to_all(struct transport *p, int tag, const void *buf, size_t bytes)
{
	struct request q = {TO_ALL, .tag = tag, .bytes = bytes, .until = transport_now()};

	return ask_only(&q, buf);
}

static void proxy_deaths(struct transport *p, int tag)
{
	struct request q = {DEATHS, .tag = tag, .until = transport_now()};

	ask_only(&q, NULL);
}

static struct transport *peer_behind(const struct answer *a)
{
	struct transport *p = xcalloc(1, sizeof(*p));

	p->rank = a->who;
	p->size = a->size;
	p->send = proxy_send;
	p->receive = proxy_receive;
	p->finish = proxy_finish;
	p->gone = tcp_options ? proxy_gone : NULL;
	p->await_left = tcp_options ? proxy_await_left : NULL;
	p->last_will = proxy_last_will;
	p->deaths = tcp_options ? proxy_deaths : NULL;
	p->listen = its_bell >= 0 ? proxy_listen : NULL;
	p->remember = proxy_remember;
	p->collated = proxy_collated;
	p->to_root = proxy_to_root;
	p->to_one = proxy_to_one;
	p->to_all = proxy_to_all;
	return p;
}

struct transport *proxy_open(const char *plugin, double start_s, char **error)
{
	/* MPI_Init has a deadline of its own */
	struct request q = {OPEN, .bytes = strlen(plugin) + 1, .until = transport_now() + start_s};
	struct answer a;
	void *text;
	int failed;

	*error = NULL;
	if (!proxy_there()) {
		struct transport *p = transport_load(plugin, start_s, error);

		if (p)
			route_open(p);
		return p;
	}
	failed = ask_proxy(&q, plugin, &a, &text);
	if (failed) {
		*error = failed == -ECONNRESET ? xstrdup("the agents' MPI did not start")
					       : xstrdup(text);
		free(text);
		return NULL;
	}
	free(text);
	return peer_behind(&a);
}

static bool has_proxy(const struct transport *p)
{
	return p && p->send == proxy_send;
}

void proxy_compare_clocks(struct transport *transport, double interval_s)
{
	struct request q = {COMPARE, .bytes = sizeof(interval_s), .until = transport_now()};

	if (has_proxy(transport) && transport->size > 1)
		ask_only(&q, &interval_s);
}

bool proxy_clock(struct transport *transport, double last_s, struct clock_sync *c)
{
	struct request q = {CLOCK, .bytes = sizeof(last_s), .until = transport_now() + 2 * last_s};
	struct answer a;
	void *buf;
	bool known;

	memset(c, 0, sizeof(*c));
	if (!has_proxy(transport) || transport->size < 2)
		return false;
	known = !ask_proxy(&q, &last_s, &a, &buf) && clock_sync_unpack(c, buf, a.bytes);
	free(buf);
	if (known)
		clock_sync_settle(c);
	return known;
}

void proxy_found(int fd, int bell)
{
	to_proxy = fd;
	its_bell = bell;
}

int proxy_bell(void)
{
	return its_bell;
}

bool proxy_rings_for_all(void)
{
	return its_bell >= 0 && tcp_options;
}

/* Without MPI */

void proxy_use_tcp(const struct tcp_options *options)
{
	tcp_options = options;
}

const struct tcp_options *proxy_tcp(void)
{
	return tcp_options;
}

bool proxy_join(const char *host, const char *session, double deadline_s, double more_s,
	double sync_interval_s, const char *contacts, char **text)
{
	struct join_request j = {deadline_s, sync_interval_s, more_s};
	size_t h = strlen(host) + 1, s = strlen(session) + 1,
	       k = contacts ? strlen(contacts) + 1 : 0;
	size_t n = sizeof(j) + h + s + k;
	/* names are looked up, which may take its time */
	struct request q = {JOIN, .bytes = n, .until = transport_now() + 60};
	char *buf = xmalloc(n);
	struct answer a;
	void *content;
	int error;

	memcpy(buf, &j, sizeof(j));
	memcpy(buf + sizeof(j), host, h);
	memcpy(buf + sizeof(j) + h, session, s);
	if (contacts)
		memcpy(buf + sizeof(j) + h + s, contacts, k);
	error = ask_proxy(&q, buf, &a, &content);
	free(buf);
	*text = content ? content
			: xstrdup("the proxy, which carries the agent's messages, has ended");
	return !error;
}

int proxy_joined(struct transport **transport)
{
	struct request q = {JOINED, .until = transport_now()};
	struct answer a;
	void *content;
	int error = ask_proxy(&q, NULL, &a, &content);

	*transport = NULL;
	if (!error) {
		*transport = peer_behind(&a);
		if (!collate_plan_unpack(*transport, content, a.bytes))
			error = -EPROTO;
	}
	free(content);
	return error;
}

void proxy_admit_viewers(const char *socket)
{
	struct request q = {VIEWERS, .bytes = strlen(socket), .until = transport_now()};

	ask_only(&q, socket);
}

char *proxy_notes(void)
{
	struct request q = {NOTES, .until = transport_now()};
	struct answer a;
	void *content;

	if (!tcp_options || ask_proxy(&q, NULL, &a, &content))
		return NULL;
	return content;
}
