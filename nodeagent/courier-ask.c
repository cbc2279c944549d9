/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of the courier. */
#include "nodeagent/courier.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nodeagent/clock-sync.h"
#include "nodeagent/collate-tree.h"
#include "nodeagent/courier-internal.h"
#include "nodeagent/ending.h"
#include "nodeagent/peer.h"
#include "nodeagent/peer-tcp.h"
#include "nodeagent/util.h"

#define PIECE_S 0.5
#define GRACE_S 10.0 /* beyond the deadline that the courier itself keeps */

static int to_courier = -1, its_bell = -1;
static const struct peer_tcp_options *tcp_options;

bool courier_transfer(int fd, void *buf, size_t bytes, bool out, double until)
{
	char *at = buf;

	while (bytes) {
		double left = until - peer_now();
		struct pollfd p = {.fd = fd, .events = out ? POLLOUT : POLLIN};
		ssize_t n;

		if (poll(&p, 1,
			    left > 3600 ? 3600000
			    : left > 0	? (int)(left * 1000) + 1
					: 0) < 0 &&
			errno != EINTR)
			return false;
		if (!p.revents && peer_now() >= until)
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

bool courier_there(void)
{
	return to_courier >= 0;
}

static int lost(void)
{
	close(to_courier);
	to_courier = -1;
	return -ECONNRESET;
}

/* *content is what the answer carries, NUL-terminated; the caller frees. */
static int ask_by(
	const struct request *q, const void *buf, struct answer *a, void **content, double until)
{
	char *in;

	*content = NULL;
	if (to_courier < 0)
		return -ECONNRESET;
	if (!courier_transfer(to_courier, (void *)q, sizeof(*q), true, until) ||
		!courier_transfer(to_courier, (void *)buf, q->bytes, true, until) ||
		!courier_transfer(to_courier, a, sizeof(*a), false, until))
		return lost();
	in = xmalloc(a->bytes + 1);
	in[a->bytes] = '\0';
	if (!courier_transfer(to_courier, in, a->bytes, false, until)) {
		free(in);
		return lost();
	}
	*content = in;
	return a->error;
}

static int ask(const struct request *q, const void *buf, struct answer *a, void **content)
{
	return ask_by(
		q, buf, a, content, (q->until > peer_now() ? q->until : peer_now()) + GRACE_S);
}

static int ask_only(const struct request *q, const void *buf)
{
	struct answer a;
	void *content;
	int error = ask(q, buf, &a, &content);

	free(content);
	return error;
}

static int courier_send(
	struct peer *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	struct request q = {
		SEND, .who = to, .tag = tag, .bytes = bytes, .until = ending_until(until)};

	return ask_only(&q, buf);
}

static int courier_receive(
	struct peer *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct request q = {RECEIVE, .who = from, .tag = tag};
	struct answer a;
	int error;

	for (;;) { /* in pieces: SIGTERM may come, which the courier passes on in between */
		double now = peer_now();

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

static void courier_finish(struct peer *p, int together, int status, double until)
{
	struct request q = {FINISH, .together = together, .status = status, .until = until};

	ask_only(&q, NULL);
	free(p);
}

static bool courier_gone(struct peer *p, int rank)
{
	struct request q = {GONE, .who = rank, .until = peer_now()};
	struct answer a;
	void *content;
	bool gone = !ask(&q, NULL, &a, &content) && a.size;

	free(content);
	return gone;
}

static struct peer *peer_behind(const struct answer *a)
{
	struct peer *p = xcalloc(1, sizeof(*p));

	p->rank = a->who;
	p->size = a->size;
	p->send = courier_send;
	p->receive = courier_receive;
	p->finish = courier_finish;
	p->gone = tcp_options ? courier_gone : NULL;
	return p;
}

struct peer *courier_open(const char *plugin, double start_s, char **error)
{
	/* MPI_Init has a deadline of its own */
	struct request q = {OPEN, .bytes = strlen(plugin) + 1, .until = peer_now() + start_s};
	struct answer a;
	void *text;
	int failed = ask(&q, plugin, &a, &text);

	if (failed) {
		*error = failed == -ECONNRESET ? xstrdup("the agents' MPI did not start")
					       : xstrdup(text);
		free(text);
		return NULL;
	}
	free(text);
	return peer_behind(&a);
}

static bool has_courier(const struct peer *p)
{
	return p && p->send == courier_send;
}

void courier_remember(struct peer *peer, const void *plan, size_t bytes, const char *host)
{
	size_t n = bytes + strlen(host) + 1;
	struct request q = {REMEMBER, .bytes = n, .until = peer_now()};
	char *buf;

	if (!has_courier(peer))
		return;
	buf = xmalloc(n);
	memcpy(buf, plan, bytes);
	memcpy(buf + bytes, host, n - bytes);
	ask_only(&q, buf);
	free(buf);
}

void courier_collated(struct peer *peer)
{
	struct request q = {COLLATED, .until = peer_now()};

	if (has_courier(peer))
		ask_only(&q, NULL);
}

void peer_will(struct peer *peer, int to, int tag, const void *buf, size_t bytes)
{
	struct request q = {WILL, .who = to, .tag = tag, .bytes = bytes, .until = peer_now()};

	if (has_courier(peer))
		ask_only(&q, buf);
}

void courier_compare_clocks(struct peer *peer, double interval_s)
{
	struct request q = {COMPARE, .bytes = sizeof(interval_s), .until = peer_now()};

	if (has_courier(peer) && peer->size > 1)
		ask_only(&q, &interval_s);
}

bool courier_clock(struct peer *peer, double last_s, struct clock_sync *c)
{
	struct request q = {CLOCK, .bytes = sizeof(last_s), .until = peer_now() + 2 * last_s};
	struct answer a;
	void *buf;
	bool known;

	memset(c, 0, sizeof(*c));
	if (!has_courier(peer) || peer->size < 2)
		return false;
	known = !ask(&q, &last_s, &a, &buf) && clock_sync_unpack(c, buf, a.bytes);
	free(buf);
	if (known)
		clock_sync_settle(c);
	return known;
}

void courier_found(int fd, int bell)
{
	to_courier = fd;
	its_bell = bell;
}

int courier_bell(void)
{
	return its_bell;
}

/* Without MPI */

void courier_use_tcp(const struct peer_tcp_options *options)
{
	tcp_options = options;
}

const struct peer_tcp_options *courier_tcp(void)
{
	return tcp_options;
}

bool courier_join(const char *host, const char *session, double deadline_s, double sync_interval_s,
	const char *contacts, char **text)
{
	struct join_request j = {deadline_s, sync_interval_s};
	size_t h = strlen(host) + 1, s = strlen(session) + 1,
	       k = contacts ? strlen(contacts) + 1 : 0;
	size_t n = sizeof(j) + h + s + k;
	/* names are looked up, which may take its time */
	struct request q = {JOIN, .bytes = n, .until = peer_now() + 60};
	char *buf = xmalloc(n);
	struct answer a;
	void *content;
	int error;

	memcpy(buf, &j, sizeof(j));
	memcpy(buf + sizeof(j), host, h);
	memcpy(buf + sizeof(j) + h, session, s);
	if (contacts)
		memcpy(buf + sizeof(j) + h + s, contacts, k);
	error = ask(&q, buf, &a, &content);
	free(buf);
	*text = content ? content : xstrdup("the courier of the agent has ended");
	return !error;
}

int courier_joined(struct peer **peer)
{
	struct request q = {JOINED, .until = peer_now()};
	struct answer a;
	void *content;
	int error = ask(&q, NULL, &a, &content);

	*peer = NULL;
	if (!error) {
		*peer = peer_behind(&a);
		if (!collate_plan_unpack(*peer, content, a.bytes))
			error = -EPROTO;
	}
	free(content);
	return error;
}

char *courier_notes(void)
{
	struct request q = {NOTES, .until = peer_now()};
	struct answer a;
	void *content;

	if (!tcp_options || ask(&q, NULL, &a, &content))
		return NULL;
	return content;
}
