/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/courier.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/clock-burst.h"
#include "nodeagent/clock-sync.h"
#include "nodeagent/collate-tree.h"
#include "nodeagent/courier-internal.h"
#include "nodeagent/ending.h"
#include "nodeagent/matching-directory.h"
#include "nodeagent/peer.h"
#include "nodeagent/peer-tcp.h"
#include "nodeagent/session.h"
#include "nodeagent/supervisor.h"
#include "nodeagent/util.h"

struct courier {
	int fd;	       /* to the agent; -1 when that has hung up */
	int bell;      /* eventfd, -1 without TCP */
	uint64_t rung; /* news that the agent was told of */
	struct peer *peer;
	struct clock_burst *clock; /* NULL: not compared */
	char *host;
	bool joining; /* over TCP: the others are not all known yet */
	double sync_interval_s;
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

	if (!courier_transfer(c->fd, &a, sizeof(a), true, until) ||
		!courier_transfer(c->fd, (void *)buf, a.bytes, true, until)) {
		close(c->fd);
		c->fd = -1;
	}
}

static void answer_open(struct courier *c, const char *plugin, double until)
{
	char *error = NULL;

	c->peer = peer_load(plugin, until - peer_now(), &error);
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

/* Over TCP: takes part from now on; the answer is our contact, or what failed. */
static void answer_join(struct courier *c, const char *buf, size_t bytes)
{
	const char *host = buf + sizeof(struct join_request), *session, *contacts;
	static struct peer_tcp_options inviting;
	static char *invited[1];
	struct join_request j;
	char *text = NULL;

	if (bytes <= sizeof(j) || buf[bytes - 1] || !courier_tcp()) {
		answer(c, (struct answer){.error = -EINVAL}, NULL);
		return;
	}
	memcpy(&j, buf, sizeof(j));
	session = host + strlen(host) + 1;
	contacts = session < buf + bytes ? session + strlen(session) + 1 : buf + bytes;
	if (contacts < buf + bytes) {
		inviting = *courier_tcp();
		invited[0] = xstrdup(contacts);
		inviting.lead = true;
		inviting.contacts = invited;
		inviting.n_contacts = 1;
	}
	c->peer = peer_tcp_open(inviting.lead ? &inviting : courier_tcp(), host,
		session < buf + bytes ? session : "", j.deadline_s, &text);
	if (c->peer) {
		text = peer_tcp_contact(c->peer);
		free(c->host);
		c->host = xstrdup(host);
		c->sync_interval_s = j.sync_interval_s;
		c->joining = true;
	}
	answer(c, (struct answer){.error = c->peer ? 0 : -EIO, .bytes = strlen(text)}, text);
	free(text);
}

/* As soon as there is a plan, clocks are compared, at all agents at about the same time. */
static void join_on(struct courier *c)
{
	if (!c->joining || !peer_tcp_joined(c->peer))
		return;
	c->joining = false;
	c->peer->news++; /* that is some, too */
	if (c->peer->size > 1)
		c->clock = clock_burst_new(c->peer, c->sync_interval_s);
}

static void answer_joined(struct courier *c)
{
	struct answer a = {.error = -EAGAIN};
	void *plan = NULL;

	join_on(c);
	if (!c->joining) {
		size_t bytes;

		plan = collate_plan_pack(c->peer, &bytes);
		a = (struct answer){.who = c->peer->rank, .size = c->peer->size, .bytes = bytes};
	}
	answer(c, a, plan);
	free(plan);
}

static void answer_notes(struct courier *c)
{
	char *notes = c->peer->pump ? peer_tcp_notes(c->peer) : NULL;

	answer(c, (struct answer){.bytes = notes ? strlen(notes) : 0}, notes);
	free(notes);
}

static void set_will(struct courier *c, const struct request *q, void *buf)
{
	if (c->peer->will)
		c->peer->will(c->peer, q->who, q->tag, buf, q->bytes);
	free(c->will.buf);
	c->will.to = q->who;
	c->will.tag = q->tag;
	c->will.buf = buf;
	c->will.bytes = q->bytes;
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

static void compare_clocks(struct courier *c, const void *buf, size_t bytes)
{
	double interval_s;

	if (c->clock || bytes != sizeof(interval_s))
		return;
	memcpy(&interval_s, buf, bytes);
	c->clock = clock_burst_new(c->peer, interval_s);
}

static void answer_clock(struct courier *c, const void *buf, size_t bytes)
{
	struct pollfd agent = {.fd = c->fd, .events = POLLIN};
	struct answer a = {0};
	double last_s = 0;
	void *packed;

	if (!c->clock || bytes != sizeof(last_s)) {
		answer(c, (struct answer){.error = -ENODATA}, NULL);
		return;
	}
	memcpy(&last_s, buf, bytes);
	if (last_s > 0)
		clock_burst_last(c->clock, last_s, &agent, 1);
	packed = clock_sync_pack(clock_burst_sync(c->clock), &bytes);
	a.bytes = bytes;
	answer(c, a, packed);
	free(packed);
}

static void stop_clock(struct courier *c)
{
	clock_burst_free(c->clock);
	c->clock = NULL;
}

/* buf is freed here, or kept. */
static void serve_one(struct courier *c, const struct request *q, void *buf)
{
	int error = 0;

	if (q->operation == OPEN && !c->peer) {
		answer_open(c, buf, q->until);
		free(buf);
		return;
	}
	if (q->operation == JOIN && !c->peer) {
		answer_join(c, buf, q->bytes);
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
	case COMPARE:
		compare_clocks(c, buf, q->bytes);
		break;
	case CLOCK:
		answer_clock(c, buf, q->bytes);
		free(buf);
		return;
	case FINISH:
		c->finished = true;
		stop_clock(c);
		c->peer->finish(c->peer, q->together, q->status, q->until);
		c->peer = NULL;
		break;
	case REMEMBER:
		remember(c, buf, q->bytes);
		break;
	case WILL:
		set_will(c, q, buf);
		buf = NULL;
		break;
	case JOINED:
		answer_joined(c);
		free(buf);
		return;
	case NOTES:
		answer_notes(c);
		free(buf);
		return;
	case GONE: {
		struct peer *p = c->peer;

		answer(c, (struct answer){.size = p->gone && p->gone(p, q->who)}, NULL);
		free(buf);
		return;
	}
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

	if (!courier_transfer(c->fd, &q, sizeof(q), false, until)) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	buf = xmalloc(q.bytes + 1);
	buf[q.bytes] = '\0';
	if (courier_transfer(c->fd, buf, q.bytes, false, until)) {
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
	if (c->clock)
		clock_burst_gone(c->clock);
	stop_clock(c);
	if (c->will.buf)
		c->peer->send(c->peer, c->will.to, c->will.tag, c->will.buf, c->will.bytes,
			peer_now() + 1);
	if (!c->collated)
		directory_gone(c->peer);
	collate_stand_in(c->peer, c->host, c->collated);
}

/* For poll(): until clocks are to be compared, or the network wants us. */
static int wait_ms(const struct courier *c)
{
	bool network = c->peer && c->peer->pump;
	double s = c->clock ? clock_burst_next(c->clock) : 1e9;

	if (network && c->peer->next(c->peer) < s)
		s = c->peer->next(c->peer);
	if (c->joining && s > 1)
		s = 1;
	if (s > 3600)
		return c->clock || network ? 3600000 : -1;
	return s <= 0 ? 0 : (int)(s * 1000) + 1;
}

/* Whether the child has ended; other signals go to it. */
static bool child_ended(int signals, pid_t child, int *status)
{
	struct signalfd_siginfo s;

	if (read(signals, &s, sizeof(s)) != sizeof(s))
		return false;
	if (s.ssi_signo == SIGTERM || s.ssi_signo == SIGUSR2)
		ending_begin();
	if (s.ssi_signo != SIGCHLD)
		kill(child, (int)s.ssi_signo);
	return waitpid(child, status, WNOHANG) == child;
}

static void ring(struct courier *c)
{
	const uint64_t one = 1;

	if (!c->peer || c->bell < 0 || c->rung == c->peer->news)
		return;
	c->rung = c->peer->news;
	while (write(c->bell, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* One for each other agent, and some for strangers. */
static void more_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static _Noreturn void carry(int fd, int bell, pid_t child, const sigset_t *mask)
{
	struct courier c = {.fd = fd, .bell = bell};
	int signals = signalfd(-1, mask, SFD_CLOEXEC), status = 0;

	for (;;) {
		bool network = c.peer && c.peer->pump;
		struct pollfd p[3] = {{.fd = signals, .events = POLLIN},
			{.fd = c.fd, .events = POLLIN},
			{.fd = network ? c.peer->fd : -1, .events = POLLIN}};

		int ready = poll(p, 3, wait_ms(&c));

		if (ready < 0 && errno != EINTR)
			break;
		if (network) {
			c.peer->pump(c.peer, 0);
			join_on(&c);
		}
		if (!p[0].revents && !p[1].revents && c.clock && clock_burst_next(c.clock) <= 0)
			clock_burst_run(c.clock, p, 2);
		if (p[0].revents && child_ended(signals, child, &status))
			break;
		if (p[1].revents)
			serve(&c);
		ring(&c);
	}
	if (!WIFSIGNALED(status)) {
		stand_in(&c);
		_exit(WEXITSTATUS(status));
	}
	complain("the agent on this node was ended by signal %d (%s)", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	session_sweep();
	/* without MPI the status is all that others can see */
	if (!c.peer)
		_exit(128 + WTERMSIG(status));
	stand_in(&c);
	_exit(courier_tcp() ? 128 + WTERMSIG(status) : 0);
}

void peer_shield(void)
{
	static const int passed_on[] = {
		SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
	sigset_t mask, old;
	pid_t child;
	int pair[2], bell;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&mask, passed_on[i]);
	sigprocmask(SIG_BLOCK, &mask, &old);
	bell = courier_tcp() ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
	child = fork();
	if (child > 0) {
		close(pair[1]);
		supervised_leave();
		more_descriptors();
		carry(pair[0], bell, child, &mask);
	}
	close(pair[0]);
	if (child == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGPIPE, SIG_IGN); /* standard output ends with the launcher */
		courier_found(pair[1], bell);
	} else {
		close(pair[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}
