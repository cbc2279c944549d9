/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/proxy/proxy.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/clock/burst.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/proxy/internal.h"
#include "nodeagent/sandbox/sandbox.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/net/route.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/net/tcp/tcp.h"
#include "nodeagent/base/util.h"

#define UNHEARD_MOST 1000   /* dropped before the end */
#define AGENT_S	     3600.0 /* for a message of the agent, and an answer to it */

struct proxy {
	const struct proxy_duties *duties;
	int fd;	       /* to the agent; -1 when that has hung up */
	int bell;      /* eventfd, or -1 */
	uint64_t rung; /* news that the agent was told of */
	int listens;   /* to this tag, over MPI; 0: to none */
	bool told;     /* that one has come, and not yet found that there is none */
	struct transport *transport;
	struct clock_burst *clock; /* NULL: not compared */
	char *host;
	bool joining; /* over TCP: the others are not all known yet */
	bool asked;   /* ... to meet the one with which clocks are compared */
	double sync_interval_s;
	bool collated, finished;
	struct proxy_counts counts;
	struct {
		int tag;
		void *buf;
		size_t bytes;
	} last_will;
};

static void answer_agent(struct proxy *c, struct answer a, const void *buf)
{
	double left_s = AGENT_S;

	if (!proxy_transfer(c->fd, &a, sizeof(a), true, &left_s) ||
		!proxy_transfer(c->fd, (void *)buf, a.bytes, true, &left_s)) {
		close(c->fd);
		c->fd = -1;
	}
}

static void answer_open(struct proxy *c, const char *plugin, double until)
{
	char *error = NULL;

	c->transport = transport_load(plugin, until - transport_now(), &error);
	if (c->transport) { /* MPI has started what it starts */
		sandbox_enter(SANDBOX_AGENT);
		route_open(c->transport);
	}
	if (c->transport)
		answer_agent(c,
			(struct answer){.who = c->transport->rank, .size = c->transport->size},
			NULL);
	else
		answer_agent(c, (struct answer){.error = -EIO, .bytes = strlen(error)}, error);
	free(error);
}

static void answer_receive(struct proxy *c, const struct request *q)
{
	struct answer a = {0};
	void *buf = NULL;
	size_t bytes = 0;
	int who = 0;

	a.error = c->transport->receive(c->transport, q->who, q->tag, &buf, &bytes, &who, q->until);
	if (a.error && q->tag == c->listens)
		c->told = false;
	if (a.error)
		buf = NULL;
	else
		a.bytes = bytes;
	a.who = who;
	answer_agent(c, a, buf);
	free(buf);
}

/* Over TCP: takes part from now on; the answer is our contact, or what failed. */
static void answer_join(struct proxy *c, const char *buf, size_t bytes)
{
	const char *host = buf + sizeof(struct join_request), *session, *contacts;
	static struct tcp_options inviting;
	static char *invited[1];
	struct join_request j;
	char *text = NULL;

	if (bytes <= sizeof(j) || buf[bytes - 1] || !proxy_tcp()) {
		answer_agent(c, (struct answer){.error = -EINVAL}, NULL);
		return;
	}
	memcpy(&j, buf, sizeof(j));
	session = host + strlen(host) + 1;
	contacts = session < buf + bytes ? session + strlen(session) + 1 : buf + bytes;
	if (contacts < buf + bytes) {
		inviting = *proxy_tcp();
		invited[0] = xstrdup(contacts);
		inviting.lead = true;
		inviting.contacts = invited;
		inviting.n_contacts = 1;
	}
	sandbox_enter(SANDBOX_AGENT); /* before the first stranger comes */
	c->counts.begun = transport_now();
	c->transport = tcp_open(inviting.lead ? &inviting : proxy_tcp(), host,
		session < buf + bytes ? session : "", j.deadline_s, &text);
	if (c->transport) {
		route_open(c->transport);
		tcp_more_patience(c->transport, j.more_s);
		text = tcp_contact(c->transport);
		free(c->host);
		c->host = xstrdup(host);
		c->sync_interval_s = j.sync_interval_s;
		c->joining = true;
	}
	answer_agent(
		c, (struct answer){.error = c->transport ? 0 : -EIO, .bytes = strlen(text)}, text);
	free(text);
}

/* Compares clocks as soon as there is a plan, at all agents at about the same time. */
static void join_on(struct proxy *c)
{
	if (c->joining && !c->asked && c->transport->size > 0) {
		c->asked = true;
		if (c->transport->rank)
			c->transport->meet(c->transport, clock_burst_parent(c->transport->rank));
	}
	if (!c->joining || !tcp_joined(c->transport, &collate_plan_operations))
		return;
	c->joining = false;
	proxy_counts_met(&c->counts);
	c->transport->news++; /* that is some, too */
	if (c->transport->size > 1)
		c->clock = clock_burst_new(c->transport, c->sync_interval_s);
}

static void answer_joined(struct proxy *c)
{
	struct answer a = {.error = -EAGAIN};
	void *plan = NULL;

	join_on(c);
	if (!c->joining) {
		size_t bytes;

		plan = collate_plan_pack(c->transport, &bytes);
		a = (struct answer){
			.who = c->transport->rank, .size = c->transport->size, .bytes = bytes};
	}
	answer_agent(c, a, plan);
	free(plan);
}

static void answer_notes(struct proxy *c)
{
	char *notes = c->transport->pump ? tcp_notes(c->transport) : NULL;

	answer_agent(c, (struct answer){.bytes = notes ? strlen(notes) : 0}, notes);
	free(notes);
}

static void set_last_will(struct proxy *c, const struct request *q, void *buf)
{
	free(c->last_will.buf);
	c->last_will.tag = q->tag;
	c->last_will.buf = buf;
	c->last_will.bytes = q->bytes;
}

static void remember_plan(struct proxy *c, const char *buf, size_t bytes)
{
	const size_t plan = sizeof(struct collate_plan);

	if (bytes <= plan || buf[bytes - 1] || !collate_plan_replace(c->transport, buf, plan))
		return;
	free(c->host);
	c->host = xstrdup(buf + plan);
}

static void compare_clocks(struct proxy *c, const void *buf, size_t bytes)
{
	double interval_s;

	if (c->clock || bytes != sizeof(interval_s))
		return;
	memcpy(&interval_s, buf, bytes);
	c->clock = clock_burst_new(c->transport, interval_s);
}

static void answer_clock(struct proxy *c, const void *buf, size_t bytes)
{
	struct pollfd agent = {.fd = c->fd, .events = POLLIN};
	struct answer a = {0};
	double last_s = 0;
	void *packed;

	if (!c->clock || bytes != sizeof(last_s)) {
		answer_agent(c, (struct answer){.error = -ENODATA}, NULL);
		return;
	}
	memcpy(&last_s, buf, bytes);
	if (last_s > 0)
		clock_burst_last(c->clock, last_s, &agent, 1);
	packed = clock_sync_pack(clock_burst_sync(c->clock), &bytes);
	a.bytes = bytes;
	answer_agent(c, a, packed);
	free(packed);
}

static void stop_clock(struct proxy *c)
{
	clock_burst_free(c->clock);
	c->clock = NULL;
}

/* Some MPI libraries complain of messages that nobody has received. */
static void drop_unheard(struct proxy *c)
{
	struct transport *p = c->transport;
	size_t bytes;
	void *buf;
	int who;

	for (int left = UNHEARD_MOST;
		left-- && c->listens && p->waits && p->waits(p, c->listens) &&
		!p->receive(p, TRANSPORT_ANY, c->listens, &buf, &bytes, &who, 0);)
		free(buf);
}

/* True if the answer to q has more than an error; then sends it. */
static bool answer_more(struct proxy *c, const struct request *q, void *buf)
{
	struct transport *p = c->transport;

	if (q->operation == OPEN && !p)
		answer_open(c, buf, q->until);
	else if (q->operation == JOIN && !p)
		answer_join(c, buf, q->bytes);
	else if (!p || c->finished)
		answer_agent(c, (struct answer){.error = -ENOTCONN}, NULL);
	else if (q->operation == RECEIVE)
		answer_receive(c, q);
	else if (q->operation == CLOCK)
		answer_clock(c, buf, q->bytes);
	else if (q->operation == JOINED)
		answer_joined(c);
	else if (q->operation == NOTES)
		answer_notes(c);
	else if (q->operation == AWAIT_LEFT)
		answer_agent(c,
			(struct answer){.size = p->await_left && p->await_left(p, q->until)}, NULL);
	else if (q->operation == GONE)
		answer_agent(c, (struct answer){.size = p->gone && p->gone(p, q->who)}, NULL);
	else
		return false;
	return true;
}

/* buf: what came with q, or NULL; it is freed, or kept by whom it is for. */
static void serve_one(struct proxy *c, const struct request *q, void *buf)
{
	int error = 0;

	if (answer_more(c, q, buf)) {
		free(buf);
		return;
	}
	switch (q->operation) {
	case SEND:
		error = c->transport->send(c->transport, q->who, q->tag, buf, q->bytes, q->until);
		if (error == -ETIMEDOUT)
			buf = NULL; /* MPI may still read it */
		break;
	case DEATHS:
		if (c->transport->deaths)
			c->transport->deaths(c->transport, q->tag);
		break;
	case VIEWERS:
		if (c->transport->pump) /* it is TCP */
			tcp_admit_viewers(c->transport, buf);
		break;
	case TO_ROOT:
		error = c->transport->to_root(
			c->transport, q->tag, buf, q->bytes, q->together, q->status * 1e-3);
		break;
	case TO_ONE:
		error = c->transport->to_one(c->transport, q->who, q->tag, buf, q->bytes);
		break;
	case TO_ALL:
		error = c->transport->to_all(c->transport, q->tag, buf, q->bytes);
		break;
	case COMPARE:
		compare_clocks(c, buf, q->bytes);
		break;
	case FINISH:
		c->finished = true;
		stop_clock(c);
		drop_unheard(c);
		proxy_counts_take(&c->counts, c->transport);
		c->transport->finish(c->transport, q->together, q->status, q->until);
		c->transport = NULL;
		break;
	case REMEMBER:
		remember_plan(c, buf, q->bytes);
		break;
	case LISTEN:
		c->listens = q->tag;
		break;
	case LAST_WILL:
		set_last_will(c, q, buf);
		buf = NULL;
		break;
	case COLLATED:
		c->collated = true;
		if (c->transport->plan)
			c->transport->plan->complete = q->together;
		break;
	}
	free(buf);
	answer_agent(c, (struct answer){.error = error}, NULL);
}

static void serve_request(struct proxy *c)
{
	double left_s = AGENT_S;
	struct request q;
	char *buf;

	if (!proxy_transfer(c->fd, &q, sizeof(q), false, &left_s)) {
		close(c->fd);
		c->fd = -1;
		return;
	}
	buf = xmalloc(q.bytes + 1);
	buf[q.bytes] = '\0';
	if (proxy_transfer(c->fd, buf, q.bytes, false, &left_s)) {
		serve_one(c, &q, buf);
		return;
	}
	free(buf);
	close(c->fd);
	c->fd = -1;
}

/* The agent is dead: the others must not wait for it. */
static void take_over(struct proxy *c)
{
	if (!c->transport || c->finished)
		return;
	if (c->clock)
		clock_burst_gone(c->clock);
	stop_clock(c);
	if (c->last_will.buf)
		transport_to_root(c->transport, c->last_will.tag, c->last_will.buf,
			c->last_will.bytes, true, 0, transport_now() + 1);
	if (!c->collated && c->duties->take_over)
		c->duties->take_over(c->transport);
	collate_take_over(c->transport, c->host, c->collated);
}

/* Time-out for poll(): until clocks are to be compared, or the transport needs a call. */
static int wait_ms(const struct proxy *c)
{
	bool network = c->transport && c->transport->pump;
	double s = c->clock ? clock_burst_next(c->clock) : 1e9;

	if (network && c->transport->next(c->transport) < s)
		s = c->transport->next(c->transport);
	if (c->transport && route_next(c->transport) < s)
		s = route_next(c->transport);
	if (c->joining && s > 1)
		s = 1;
	if (s > 3600)
		return c->clock || network ? 3600000 : -1;
	return s <= 0 ? 0 : (int)(s * 1000) + 1;
}

/* True if the child has ended; passes other signals on to it. */
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

/* Over MPI we look when we are awake: nothing wakes us for a message. */
static bool has_news(struct proxy *c)
{
	struct transport *p = c->transport;

	if (!p || c->bell < 0)
		return false;
	if (p->waits && c->listens && !c->told) {
		c->told = p->waits(p, c->listens);
		return c->told;
	}
	if (c->rung == p->news)
		return false;
	c->rung = p->news;
	return true;
}

static void ring(struct proxy *c)
{
	const uint64_t one = 1;

	if (!has_news(c))
		return;
	while (write(c->bell, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static _Noreturn void carry(
	const struct proxy_duties *duties, int fd, int bell, pid_t child, const sigset_t *mask)
{
	struct proxy c = {.duties = duties, .fd = fd, .bell = bell};
	int signals = signalfd(-1, mask, SFD_CLOEXEC), status = 0;

	for (;;) {
		bool network = c.transport && c.transport->pump;
		struct pollfd p[3] = {{.fd = signals, .events = POLLIN},
			{.fd = c.fd, .events = POLLIN},
			{.fd = network ? c.transport->fd : -1, .events = POLLIN}};

		int ready = poll(p, 3, wait_ms(&c));

		if (ready < 0 && errno != EINTR)
			break;
		if (network) {
			c.transport->pump(c.transport, 0);
			join_on(&c);
		}
		if (c.transport)
			route_attend(c.transport);
		if (!p[0].revents && !p[1].revents && c.clock && clock_burst_next(c.clock) <= 0)
			clock_burst_run(c.clock, p, 2);
		if (p[0].revents && child_ended(signals, child, &status))
			break;
		if (p[1].revents)
			serve_request(&c);
		ring(&c);
	}
	if (!WIFSIGNALED(status)) {
		take_over(&c);
		proxy_counts_write(&c.counts);
		_exit(WEXITSTATUS(status));
	}
	complain("the agent on this node was ended by signal %d (%s)", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	if (c.duties->agent_killed)
		c.duties->agent_killed();
	/* without MPI the status is all that others can see */
	if (!c.transport)
		_exit(128 + WTERMSIG(status));
	take_over(&c);
	_exit(proxy_tcp() ? 128 + WTERMSIG(status) : 0);
}

void proxy_shield(const struct proxy_duties *duties)
{
	static const int passed_on[] = {
		SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};
	static const struct proxy_duties none;
	sigset_t mask, old;
	pid_t child;
	int pair[2], bell;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&mask, passed_on[i]);
	sigprocmask(SIG_BLOCK, &mask, &old);
	bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	child = fork();
	if (child > 0) {
		close(pair[1]);
		if (duties && duties->begin)
			duties->begin();
		raise_file_limit(); /* a descriptor for each other agent, and some for strangers */
		carry(duties ? duties : &none, pair[0], bell, child, &mask);
	}
	close(pair[0]);
	if (child == 0) {
		setsid();
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGPIPE, SIG_IGN); /* standard output ends with the launcher */
		proxy_found(pair[1], bell);
	} else {
		close(pair[1]);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
}
