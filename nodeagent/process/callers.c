/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/callers.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nodeagent/process/host.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/pids.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/process/rendezvous.h"
#include "nodeagent/base/util.h"
#include "shm/clock.h"

#define HELLO_WITHIN_S 10.0
#define SLICE_NS       UINT64_C(1000000000)
#define SURELY_IDLE_S  1.0 /* when descriptors are short */
#define PER_PROCESS    16u
#define RESERVED       16 /* descriptors for control pages, rings and files */
#define DEAF_S	       0.1
#define LIVES_NS       50000000 /* less than anybody waits for an agent that is gone */

struct callers {
	struct process *first, *last; /* oldest first, through next_caller */
	struct map64 of;	      /* pid -> how many */
	uint64_t deaf_since;	      /* raw ns: the listener is not watched; 0: it is */
	uint64_t due;		      /* of callers_tick(), raw ns */
	uint64_t lives_since;	      /* raw ns: it was said that the agent is here */
	uint64_t looked, missed; /* raw ns of the last look; ns in which nobody could be heard */
	rlim_t files_most;	 /* RLIMIT_NOFILE when it was read; 0: not yet */
};

static struct callers *callers_of(struct host *host)
{
	if (!host->callers)
		host->callers = xcalloc(1, sizeof(*host->callers));
	return host->callers;
}

/* While there are callers, looks are a slice apart: else agent or machine were stopped. */
static void note_look(struct callers *c)
{
	const uint64_t now = clock_raw_ns();

	if (c->looked && now - c->looked > SLICE_NS)
		c->missed += now - c->looked - SLICE_NS;
	c->looked = now;
}

/* Since it has connected, while it could be heard. */
static double age_s(const struct process *p)
{
	const uint64_t missed = p->host->callers->missed - p->missed_before;

	return 1e-9 * (double)(clock_raw_ns() - p->connected_raw_ns - missed);
}

/* The child of a process that is traced has all the time it wants. */
static bool is_child(struct process *p)
{
	if (!p->awaited)
		p->awaited = pids_known(p->host, procfs_parent(p->pid));
	return p->awaited;
}

/* The caller stays in the list: events of it may have been fetched already. */
static void hang_up(struct process *p)
{
	if (!p->turned_away) /* its HELLO said what it is */
		p->host->children_seen--;
	process_drop(p);
}

int callers_take(struct process *p)
{
	const int fd = p->socket;

	epoll_ctl(p->host->epoll, EPOLL_CTL_DEL, fd, NULL);
	p->socket = -1;
	hang_up(p);
	return fd;
}

static uint32_t *count_of(struct callers *c, int pid)
{
	if (!map64_find(&c->of, (uint32_t)pid))
		map64_add(&c->of, (uint32_t)pid, 0);
	return map64_find(&c->of, (uint32_t)pid);
}

static void enter(struct callers *c, struct process *p)
{
	p->missed_before = c->missed;
	p->prev_caller = c->last;
	*(c->last ? &c->last->next_caller : &c->first) = p;
	c->last = p;
	++*count_of(c, p->pid);
}

void callers_leave(struct process *p)
{
	struct callers *c = p->host->callers;

	if (!c) /* made by hand, in a test */
		return;
	*(p->prev_caller ? &p->prev_caller->next_caller : &c->first) = p->next_caller;
	*(p->next_caller ? &p->next_caller->prev_caller : &c->last) = p->prev_caller;
	p->next_caller = p->prev_caller = NULL;
	--*count_of(c, p->pid);
}

void callers_sweep(struct host *host)
{
	struct process *p, *next;

	for (p = host->callers && host->callers_ended ? host->callers->first : NULL; p; p = next) {
		next = p->next_caller;
		if (!p->ended)
			continue;
		callers_leave(p);
		process_free(p);
	}
	host->callers_ended = false;
}

bool callers_any(const struct host *host)
{
	for (const struct process *p = host->callers ? host->callers->first : NULL; p;
		p = p->next_caller)
		if (!p->ended)
			return true;
	return false;
}

/* ---- too many ----------------------------------------------------------------------- */

/* No process has two for long. */
static void close_surplus(struct callers *c, const struct process *last)
{
	uint32_t live = 0;

	if (*count_of(c, last->pid) <= PER_PROCESS)
		return;
	for (struct process *p = c->last; p; p = p->prev_caller)
		if (p->pid == last->pid && !p->ended && ++live > PER_PROCESS) {
			hang_up(p);
			host_warn(p->host, false,
				"process %d had more than %u connections without saying who it is: "
				"older ones were closed",
				p->pid, PER_PROCESS);
			return;
		}
}

/* We may have been stopped, and have not read it yet. */
static bool has_said_something(const struct process *p)
{
	char byte;

	return recv(p->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

static bool close_an_idle_one(struct callers *c)
{
	for (struct process *p = c->first; p; p = p->next_caller)
		if (!p->ended && age_s(p) > SURELY_IDLE_S && !is_child(p) &&
			!has_said_something(p)) {
			hang_up(p);
			return true;
		}
	return false;
}

/* The limit is asked for again only where what it was is reached. */
static bool is_short(struct callers *c, int fd)
{
	struct rlimit limit;

	if ((rlim_t)fd + RESERVED < c->files_most)
		return false;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	c->files_most = limit.rlim_cur;
	return (rlim_t)fd + RESERVED >= c->files_most;
}

/* Reads its HELLO, as otherwise the hang-up would discard the answer. */
static void turn_away(struct host *host, int fd, int pid, const char *why)
{
	struct {
		struct wire_head head;
		char text[128];
	} answer = {.head = {.kind = WIRE_REFUSED}};
	const size_t bytes = strnlen(why, sizeof(answer.text) - 1) + 1;
	char hello[64];

	answer.head.text_bytes = (uint32_t)bytes;
	memcpy(answer.text, why, bytes - 1); /* the NUL is there */
	if (recv(fd, hello, sizeof(hello), MSG_DONTWAIT) >= 0 || errno == EAGAIN)
		send(fd, &answer, sizeof(answer.head) + bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	host->n_refused++;
	host_warn(host, true, "process %d was refused: %s", pid, why);
}

static void listen_again(struct host *host, bool yes)
{
	struct epoll_event e = {.events = yes ? EPOLLIN : 0, .data.u64 = WATCH_LISTENER};

	epoll_ctl(host->epoll, EPOLL_CTL_MOD, host->listener, &e);
	host->callers->deaf_since = yes ? 0 : clock_raw_ns();
	if (!yes)
		host->callers->due = 0;
}

/* ---- coming and waiting --------------------------------------------------------------- */

void callers_accept(struct host *host)
{
	struct callers *c = callers_of(host);
	int fd, pid;

	note_look(c);
	while ((fd = session_accept(host, &pid)) >= 0) {
		struct process *p;

		if (is_short(c, fd) && !close_an_idle_one(c)) {
			turn_away(
				host, fd, pid, "the agent has no descriptors left (see ulimit -n)");
			close(fd);
			continue;
		}
		p = process_new(host, fd, pid);
		if (host_watch(host, fd, WATCH_SOCKET, p)) {
			turn_away(host, fd, pid,
				"the agent can watch no more of them (see epoll(7), "
				"max_user_watches)");
			process_free(p);
			continue;
		}
		if (p->connected_raw_ns - c->lives_since > LIVES_NS) {
			c->lives_since = p->connected_raw_ns;
			session_lives(host);
		}
		host->children_seen++; /* or any other process: then HELLO says so at once */
		enter(c, p);
		close_surplus(c, p);
		if (p->pidfd >= 0) /* without it the socket tells its end */
			host_watch(host, p->pidfd, WATCH_PIDFD, p);
		c->due = 0;
	}
	if (fd == -EMFILE) /* somebody has lowered it, by prlimit(2) */
		c->files_most = 0;
	if (fd != -EAGAIN && fd != -EINTR && fd != -ECONNABORTED)
		listen_again(host, false);
}

void callers_hear(struct host *host)
{
	struct process *p, *next;

	for (p = host->callers ? host->callers->first : NULL; p; p = next) {
		next = p->next_caller; /* who says HELLO, leaves */
		if (!p->ended)
			process_receive_all(p);
	}
}

double callers_tick(struct host *host)
{
	struct callers *c = host->callers;
	uint64_t now = clock_raw_ns();
	double again = NEVER_S;

	if (!c)
		return NEVER_S;
	note_look(c);
	if (now < c->due)
		return 1e-9 * (double)(c->due - now);
	if (c->deaf_since && 1e-9 * (double)(now - c->deaf_since) >= DEAF_S)
		listen_again(host, true);
	if (c->deaf_since)
		again = DEAF_S;
	for (struct process *p = c->first; p; p = p->next_caller) {
		double left = HELLO_WITHIN_S - age_s(p);

		if (p->ended || p->awaited)
			continue;
		if (left > 0) { /* as those behind it have */
			again = fmin(again, fmin(left, 1e-9 * SLICE_NS));
			break;
		}
		if (!is_child(p) && !has_said_something(p))
			hang_up(p);
	}
	c->due = now + (uint64_t)(again * 1e9);
	return again;
}
