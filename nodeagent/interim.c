/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The child of interim.h. It shares with the agent what is mapped from segments,
 * and the descriptors: it never writes to the former, and closes the latter. So
 * each page that the agent writes is replaced by a copy before anything is closed,
 * and no socket is read.
 */
#include "nodeagent/interim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/drain.h"
#include "nodeagent/finish.h"
#include "nodeagent/idle.h"
#include "nodeagent/process.h"
#include "nodeagent/rounds.h"
#include "nodeagent/traffic-tap.h"
#include "nodeagent/util.h"
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

	if (!a->interim)
		return true;
	while ((pid = wait4(a->interim, NULL, flags, &spent)) < 0 && errno == EINTR)
		;
	if (!pid)
		return false;
	if (pid == a->interim)
		a->spent_s += seconds(&spent);
	a->interim = 0;
	return true;
}

static void *own_copy(const void *shared, size_t bytes)
{
	return memcpy(xmalloc(bytes), shared, bytes);
}

static uint64_t round_ticks; /* its end */

/* A round has ended when its copy was made: nothing that was stored since then counts. */
static void leave_alone(struct process *p, bool round)
{
	if (p->socket >= 0)
		close(p->socket);
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->socket = p->pidfd = NOT_SHARED;
	if (p->control)
		p->control = own_copy(p->control, sizeof(*p->control));
	traffic_tap_set(p->traffic, &(struct traffic_tap){0});
	p->sampled = NULL;
	p->session = NULL;
	if (round)
		p->end_ticks = round_ticks;
	for (size_t i = 0; i < p->n_threads; i++) {
		struct thread_ring *t = p->threads[i];

		if (!t)
			continue;
		t->ring.consumer = own_copy(t->ring.consumer, sizeof(*t->ring.consumer));
		replay_set_sampled(t->replay, NULL);
		if (!round)
			drain_copy(t);
		t->error = true;
	}
}

enum what { SO_FAR, SO_FAR_AND_STACKS, ROUND };

static void write_all(struct agent *a, enum what what)
{
	close(a->listener);
	close(a->epoll);
	a->epoll = -1; /* it is the agent's */
	close(a->signals);
	a->sampling = NULL;
	for (struct process *p = a->processes; p; p = p->next)
		if (p->traffic && !p->ended)
			leave_alone(p, what == ROUND);
	if (what == SO_FAR_AND_STACKS)
		idle_write_stacks(a);
	if (what == ROUND) {
		agent_close_copy(a);
		_exit(rounds_write(a));
	}
	_exit(agent_write_so_far(a));
}

static void begin(struct agent *a, enum what what)
{
	struct rusage own;
	pid_t child;

	clocks_calibrate(&a->clocks);
	getrusage(RUSAGE_SELF, &own);
	child = fork();
	if (!child) {
		a->spent_s += seconds(&own); /* its own begins at 0 */
		write_all(a, what);
	}
	if (child < 0)
		agent_warn(
			a, false, "results could not be written on the way: %s", strerror(errno));
	else
		a->interim = child;
}

void interim_so_far(struct agent *a)
{
	if (reaped(a, WNOHANG))
		begin(a, SO_FAR);
}

void interim_now(struct agent *a)
{
	if (reaped(a, WNOHANG))
		begin(a, SO_FAR_AND_STACKS);
}

void interim_round(struct agent *a)
{
	reaped(a, 0);
	round_ticks = agent_ticks(a);
	begin(a, ROUND);
}

double interim_tick(struct agent *a)
{
	double every = a->conf->agent_write_every_s;
	uint64_t now = clock_raw_ns();

	if (every <= 0 || !a->n_live)
		return NEVER_S;
	if (!a->interim_due)
		a->interim_due = now + (uint64_t)(every * 1e9);
	if (now < a->interim_due)
		return 1e-9 * (double)(a->interim_due - now);
	if (!reaped(a, WNOHANG))
		return LATE_S;
	a->interim_due = now + (uint64_t)(every * 1e9);
	begin(a, SO_FAR);
	return every;
}

void interim_end(struct agent *a)
{
	reaped(a, 0);
}
