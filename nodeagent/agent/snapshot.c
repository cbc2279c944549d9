/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/snapshot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/copy.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/finish.h"
#include "nodeagent/agent/deadlock.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/agent/rounds.h"

#define LATE_S	0.25 /* the last writing is not done yet */
#define SLICE_S 0.1  /* ... and it is asked so often whether SIGTERM has come */
#define FULL_S	1.0  /* the longest wait where too many write: processes wait for less */
#define KEEP_S	15.0 /* of what a batch system leaves us */

/* True once nobody writes. */
static bool all_reaped(struct agent *a)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < a->n_copies; i++)
		if (!copy_is_reaped(a, a->copies[i]))
			a->copies[kept++] = a->copies[i];
	a->n_copies = kept;
	return !kept;
}

/* Until no more than `most' write. */
static bool await_copies(struct agent *a, unsigned most, double s)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const double until = transport_now() + s;

	while (!all_reaped(a) && a->n_copies > most && transport_now() < until)
		nanosleep(&pause, NULL);
	return a->n_copies <= most;
}

enum what { SO_FAR, SO_FAR_AND_STACKS, ROUND };

/* Files of rounds are written one after the other, each with what the one before has left. */
static void await_end(int pidfd)
{
	struct pollfd f = {pidfd, POLLIN, 0};

	while (pidfd >= 0 && poll(&f, 1, -1) < 0 && errno == EINTR)
		;
}

/* In the copy. before: the one that is to end first, by its pidfd, or -1. */
static void write_all(struct agent *a, enum what what, int before)
{
	if (what == SO_FAR_AND_STACKS)
		deadlock_write_stacks(a);
	await_end(before);
	if (what == ROUND) {
		agent_close_copy(a);
		_exit(rounds_write(a));
	}
	_exit(agent_write_so_far(a));
}

/* There is room for one. before: of write_all(). False: it could not be begun, as was said. */
static bool begin_copy(struct agent *a, enum what what, int before)
{
	const pid_t child = copy_make(a, what == ROUND);

	if (!child)
		write_all(a, what, before);
	if (child > 0)
		a->copies[a->n_copies++] = child;
	else
		host_warn(&a->host, false, "results could not be written on the way: %s",
			strerror(errno));
	return child > 0;
}

/* While others wait for the results, and the rings are not read. */
static double patience_s(const struct agent *a)
{
	return ending_left(a->host.conf->agent_deadline_s, KEEP_S);
}

void snapshot_so_far(struct agent *a, bool wait)
{
	const double until = transport_now() + (wait ? patience_s(a) : 0);

	if (await_copies(a, 0, until - transport_now())) /* it does not know of what was since */
		begin_copy(a, SO_FAR, -1);
	if (wait)
		await_copies(a, 0, until - transport_now());
}

bool snapshot_now(struct agent *a)
{
	return all_reaped(a) && begin_copy(a, SO_FAR_AND_STACKS, -1);
}

/* -1: there is none, or the kernel has no pidfds, and then the agent waits itself. */
static int pidfd_of_last(const struct agent *a)
{
	return a->n_copies ? (int)syscall(SYS_pidfd_open, a->copies[a->n_copies - 1], 0) : -1;
}

bool snapshot_round(struct agent *a)
{
	const int before = pidfd_of_last(a);
	const bool room = await_copies(a, before >= 0 ? COPIES_MOST - 1 : 0, FULL_S);

	if (room)
		begin_copy(a, ROUND, before);
	if (before >= 0)
		close(before);
	return room;
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
	if (!all_reaped(a))
		return LATE_S;
	a->snapshot_due = now + (uint64_t)(every * 1e9);
	begin_copy(a, SO_FAR, -1);
	return every;
}

/* What they write later would replace what is written now. */
static void end_copies(struct agent *a, double after_s)
{
	for (unsigned i = 0; i < a->n_copies; i++)
		kill(a->copies[i], SIGKILL);
	host_warn(&a->host, true,
		"results that were being written on the way were not complete after %.3g s: "
		"they are left as they are",
		after_s);
	a->n_copies = 0;
}

void snapshot_end(struct agent *a)
{
	const double began = transport_now(), deadline_s = a->host.conf->agent_deadline_s;

	/* ending_left() counts the time since SIGTERM itself: it is no bound for the time since
	 * began */
	while (!await_copies(a, 0, SLICE_S) && transport_now() - began < deadline_s &&
		ending_left(deadline_s, KEEP_S) > SLICE_S)
		ending_hear();
	if (a->n_copies)
		end_copies(a, transport_now() - began);
}
