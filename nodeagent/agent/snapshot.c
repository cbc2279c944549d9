/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child of snapshot.h. It shares with the agent what is mapped from segments,
 * and the descriptors: it never writes to the former, and closes the latter. So
 * each page that the agent writes is replaced by a copy before anything is closed,
 * and no socket is read.
 */
#include "nodeagent/agent/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/agent/finish.h"
#include "nodeagent/agent/deadlock.h"
#include "nodeagent/process/process.h"
#include "nodeagent/agent/rounds.h"
#include "nodeagent/replay/comm/listener.h"
#include "nodeagent/base/util.h"
#include "shm/ring.h"

#define LATE_S	   0.25 /* the last writing is not done yet */
#define NOT_SHARED (-1)

static double seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

/* True once nobody writes. */
static bool reaped(struct agent *a, int flags)
{
	struct rusage spent;
	pid_t pid;

	if (!a->snapshot)
		return true;
	while ((pid = wait4(a->snapshot, NULL, flags, &spent)) < 0 && errno == EINTR)
		;
	if (!pid)
		return false;
	if (pid == a->snapshot)
		a->host.spent_s += seconds(&spent);
	a->snapshot = 0;
	return true;
}

static void *own_copy(const void *shared, size_t bytes)
{
	return memcpy(xmalloc(bytes), shared, bytes);
}

enum what { SO_FAR, SO_FAR_AND_STACKS, ROUND };

/* A round has ended when its copy was made: nothing that was stored since then counts. */
static void leave_alone(struct process *p, bool round, uint64_t now)
{
	if (p->socket >= 0)
		close(p->socket);
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->socket = p->pidfd = NOT_SHARED;
	if (p->control)
		p->control = own_copy(p->control, sizeof(*p->control));
	traffic_listener_set(p->traffic, &(struct traffic_listener){0});
	p->sampled = NULL;
	p->session = NULL;
	if (round)
		p->end_ticks = now;
	for (size_t i = 0; i < p->n_threads; i++) /* all, as damage to one is told to all */
		if (p->threads[i]) {
			struct ring *r = &p->threads[i]->ring;

			r->consumer = own_copy(r->consumer, sizeof(*r->consumer));
		}
	for (size_t i = 0; i < p->n_threads; i++) {
		struct thread_ring *t = p->threads[i];

		if (!t)
			continue;
		replay_set_sampled(t->replay, NULL);
		if (!round)
			drain_copy(t);
		t->error = true;
	}
}

static void write_all(struct agent *a, enum what what, uint64_t now)
{
	close(a->host.listener);
	close(a->host.epoll);
	a->host.epoll = -1; /* it is the agent's */
	close(a->host.signals);
	a->host.recorder = NULL;
	for (struct process *p = a->host.processes; p; p = p->next)
		if (p->traffic && !p->ended)
			leave_alone(p, what == ROUND, now);
	if (what == SO_FAR_AND_STACKS)
		deadlock_write_stacks(a);
	if (what == ROUND) {
		agent_close_copy(a);
		_exit(rounds_write(a));
	}
	_exit(agent_write_so_far(a));
}

static void begin_copy(struct agent *a, enum what what)
{
	const uint64_t now = host_ticks(&a->host);
	struct rusage own;
	pid_t child;

	clocks_calibrate(&a->host.clocks);
	getrusage(RUSAGE_SELF, &own);
	child = fork();
	if (!child) {
		a->host.spent_s += seconds(&own); /* its own begins at 0 */
		write_all(a, what, now);
	}
	if (child < 0)
		host_warn(&a->host, false, "results could not be written on the way: %s",
			strerror(errno));
	else
		a->snapshot = child;
}

void snapshot_so_far(struct agent *a, bool wait)
{
	if (reaped(a, WNOHANG))
		begin_copy(a, SO_FAR);
	if (wait)
		reaped(a, 0);
}

void snapshot_now(struct agent *a)
{
	if (reaped(a, WNOHANG))
		begin_copy(a, SO_FAR_AND_STACKS);
}

void snapshot_round(struct agent *a)
{
	reaped(a, 0);
	begin_copy(a, ROUND);
}

double snapshot_tick(struct agent *a)
{
	double every = a->host.conf->agent_write_every_s;
	uint64_t now = clock_raw_ns();

	if (every <= 0 || !a->host.n_live)
		return NEVER_S;
	if (!a->snapshot_due)
		a->snapshot_due = now + (uint64_t)(every * 1e9);
	if (now < a->snapshot_due)
		return 1e-9 * (double)(a->snapshot_due - now);
	if (!reaped(a, WNOHANG))
		return LATE_S;
	a->snapshot_due = now + (uint64_t)(every * 1e9);
	begin_copy(a, SO_FAR);
	return every;
}

void snapshot_end(struct agent *a)
{
	reaped(a, 0);
}
