/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/courier.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/collate-tree.h"
#include "nodeagent/peer.h"
#include "nodeagent/util.h"

#define GRACE_S 10.0 /* beyond the deadline that the courier itself keeps */

enum operation { OPEN, SEND, RECEIVE, FINISH, REMEMBER, WILL, COLLATED };

struct request {
	uint32_t operation;
	int32_t who, tag, status, together;
	uint64_t bytes; /* that follow */
	double until;
};

struct answer {
	int32_t error, who, size;
	uint64_t bytes; /* that follow */
};

static int to_courier = -1; /* in the agent */

/* Both directions, whole or not at all. */
static bool transfer(int fd, void *buf, size_t bytes, bool out, double until)
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

/* The agent's side */

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
static int ask(const struct request *q, const void *buf, struct answer *a, void **content)
{
	double until = (q->until > peer_now() ? q->until : peer_now()) + GRACE_S;
	char *in;

	*content = NULL;
	if (to_courier < 0)
		return -ECONNRESET;
	if (!transfer(to_courier, (void *)q, sizeof(*q), true, until) ||
		!transfer(to_courier, (void *)buf, q->bytes, true, until) ||
		!transfer(to_courier, a, sizeof(*a), false, until))
		return lost();
	in = xmalloc(a->bytes + 1);
	in[a->bytes] = '\0';
	if (!transfer(to_courier, in, a->bytes, false, until)) {
		free(in);
		return lost();
	}
	*content = in;
	return a->error;
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
	struct request q = {SEND, .who = to, .tag = tag, .bytes = bytes, .until = until};

	return ask_only(&q, buf);
}

static int courier_receive(
	struct peer *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct request q = {RECEIVE, .who = from, .tag = tag, .until = until};
	struct answer a;
	int error = ask(&q, NULL, &a, buf);

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

struct peer *courier_open(const char *plugin, char **error)
{
	/* MPI_Init has a deadline of its own */
	struct request q = {OPEN, .bytes = strlen(plugin) + 1, .until = peer_now() + 60};
	struct answer a;
	void *text;
	int failed = ask(&q, plugin, &a, &text);
	struct peer *p;

	if (failed) {
		*error = failed == -ECONNRESET ? xstrdup("the agents' MPI did not start")
					       : xstrdup(text);
		free(text);
		return NULL;
	}
	free(text);
	p = xcalloc(1, sizeof(*p));
	p->rank = a.who;
	p->size = a.size;
	p->send = courier_send;
	p->receive = courier_receive;
	p->finish = courier_finish;
	return p;
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

/* The courier's side */

struct courier {
	int fd; /* to the agent; -1 when that has hung up */
	struct peer *peer;
	char *host;
	bool collated, finished;
	struct {
		int to, tag;
		void *buf;
		size_t bytes;
	} will;
};

static void answer(struct courier *c, struct answer a, const void *buf)
{
	double until = peer_now() + 3600;

	if (!transfer(c->fd, &a, sizeof(a), true, until) ||
		!transfer(c->fd, (void *)buf, a.bytes, true, until)) {
		close(c->fd);
		c->fd = -1;
	}
}

static void answer_open(struct courier *c, const char *plugin)
{
	char *error = NULL;

	c->peer = peer_load(plugin, &error);
	if (c->peer)
		answer(c, (struct answer){.who = c->peer->rank, .size = c->peer->size}, NULL);
	else
		answer(c, (struct answer){.error = -EIO, .bytes = strlen(error)}, error);
	free(error);
}

static void answer_receive(struct courier *c, const struct request *q)
{
	struct answer a = {0};
	void *buf = NULL;
	size_t bytes = 0;
	int who = 0;

	a.error = c->peer->receive(c->peer, q->who, q->tag, &buf, &bytes, &who, q->until);
	if (a.error)
		buf = NULL;
	else
		a.bytes = bytes;
	a.who = who;
	answer(c, a, buf);
	free(buf);
}

static void remember(struct courier *c, const char *buf, size_t bytes)
{
	struct collate_plan *plan = xmalloc(sizeof(*plan));

	if (bytes <= sizeof(*plan) || buf[bytes - 1]) {
		free(plan);
		return;
	}
	memcpy(plan, buf, sizeof(*plan));
	free(c->peer->plan);
	c->peer->plan = plan;
	free(c->host);
	c->host = xstrdup(buf + sizeof(*plan));
}

/* buf is freed here, or kept. */
static void serve_one(struct courier *c, const struct request *q, void *buf)
{
	int error = 0;

	if (q->operation == OPEN && !c->peer) {
		answer_open(c, buf);
		free(buf);
		return;
	}
	if (!c->peer || c->finished) {
		answer(c, (struct answer){.error = -ENOTCONN}, NULL);
		free(buf);
		return;
	}
	switch (q->operation) {
	case SEND:
		error = c->peer->send(c->peer, q->who, q->tag, buf, q->bytes, q->until);
		if (error == -ETIMEDOUT)
			buf = NULL; /* MPI may still read it */
		break;
	case RECEIVE:
		answer_receive(c, q);
		free(buf);
		return;
	case FINISH:
		c->finished = true;
		c->peer->finish(c->peer, q->together, q->status, q->until);
		c->peer = NULL;
		break;
	case REMEMBER:
		remember(c, buf, q->bytes);
		break;
	case WILL:
		free(c->will.buf);
		c->will.to = q->who;
		c->will.tag = q->tag;
		c->will.buf = buf;
		c->will.bytes = q->bytes;
		buf = NULL;
		break;
	case COLLATED:
		c->collated = true;
		break;
	}
	free(buf);
	answer(c, (struct answer){.error = error}, NULL);
}

static void serve(struct courier *c)
{
	double until = peer_now() + 3600;
	struct request q;
	char *buf;

	if (!transfer(c->fd, &q, sizeof(q), false, until)) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	buf = xmalloc(q.bytes + 1);
	buf[q.bytes] = '\0';
	if (transfer(c->fd, buf, q.bytes, false, until)) {
		serve_one(c, &q, buf);
		return;
	}
	free(buf);
	close(c->fd);
	c->fd = -1;
}

/* The agent is dead: the others must not wait for it. */
static void stand_in(struct courier *c)
{
	if (!c->peer || c->finished)
		return;
	if (c->will.buf)
		c->peer->send(c->peer, c->will.to, c->will.tag, c->will.buf, c->will.bytes,
			peer_now() + 1);
	collate_stand_in(c->peer, c->host, c->collated);
}

/* Whether the child has ended; other signals go to it. */
static bool child_ended(int signals, pid_t child, int *status)
{
	struct signalfd_siginfo s;

	if (read(signals, &s, sizeof(s)) != sizeof(s))
		return false;
	if (s.ssi_signo != SIGCHLD)
		kill(child, (int)s.ssi_signo);
	return waitpid(child, status, WNOHANG) == child;
}

static _Noreturn void carry(int fd, pid_t child, const sigset_t *mask)
{
	struct courier c = {.fd = fd};
	int signals = signalfd(-1, mask, SFD_CLOEXEC), status = 0;

	for (;;) {
		struct pollfd p[2] = {
			{.fd = signals, .events = POLLIN}, {.fd = c.fd, .events = POLLIN}};

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents && child_ended(signals, child, &status))
			break;
		if (p[1].revents)
			serve(&c);
	}
	if (!WIFSIGNALED(status)) {
		stand_in(&c);
		_exit(WEXITSTATUS(status));
	}
	complain("the agent on this node was ended by signal %d (%s)", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	/* without MPI the status is all that others can see */
	if (!c.peer)
		_exit(128 + WTERMSIG(status));
	stand_in(&c);
	_exit(0);
}

void peer_shield(void)
{
	static const int passed_on[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1};
	sigset_t mask, old;
	pid_t child;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&mask, passed_on[i]);
	sigprocmask(SIG_BLOCK, &mask, &old);
	child = fork();
	if (child > 0) {
		close(pair[1]);
		carry(pair[0], child, &mask);
	}
	close(pair[0]);
	if (child == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGPIPE, SIG_IGN); /* standard output ends with the launcher */
		to_courier = pair[1];
	} else {
		close(pair[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}
