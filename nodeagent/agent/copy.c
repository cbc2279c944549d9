/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy never writes to what it shares with the agent, and closes the descriptors. So
 * each page that the agent writes is replaced by a copy before anything is closed,
 * no socket is read, and no temporary file of the agent is written.
 */
#include "nodeagent/agent/copy.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/listener.h"
#include "shm/ring.h"

#define NOT_SHARED (-1)

static double seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

bool copy_is_reaped(struct agent *a, pid_t copy)
{
	struct rusage spent;
	pid_t pid;

	while ((pid = wait4(copy, NULL, WNOHANG, &spent)) < 0 && errno == EINTR)
		;
	if (pid == copy)
		a->host.spent_s += seconds(&spent);
	return pid;
}

static void *own_copy(const void *shared, size_t bytes)
{
	return memcpy(xmalloc(bytes), shared, bytes);
}

/* What was read has ended when the copy was made: nothing that was stored since then counts. */
static void leave_alone(struct process *p, bool only_read, uint64_t now)
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
	if (only_read)
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
		if (!only_read)
			drain_copy(t);
		t->error = true;
	}
}

static void leave_all(struct agent *a, bool only_read, uint64_t now)
{
	close(a->host.listener);
	close(a->host.epoll);
	a->host.epoll = -1; /* it is the agent's */
	close(a->host.signals);
	a->host.recorder = NULL;
	matching_copied(&a->host);
	for (struct process *p = a->host.processes; p; p = p->next)
		if (p->traffic && !p->ended)
			leave_alone(p, only_read, now);
}

pid_t copy_make(struct agent *a, bool only_read)
{
	const uint64_t now = host_ticks(&a->host);
	struct rusage own;
	pid_t child;

	clocks_calibrate(&a->host.clocks);
	getrusage(RUSAGE_SELF, &own);
	child = fork();
	if (!child) {
		a->host.spent_s += seconds(&own); /* its own begins at 0 */
		leave_all(a, only_read, now);
	}
	return child;
}
