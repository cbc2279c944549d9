/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/deadlock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/results/older-results.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/symbols/names.h"
#include "nodeagent/agent/snapshot.h"
#include "nodeagent/live/sample/standstill.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/process.h"
#include "nodeagent/session/session.h"
#include "nodeagent/process/names.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

#define STOP_S 0.5 /* how often the stop file is looked for */
#define LOOKS  4   /* in agent.deadlock_s */
#define LATE_S 0.5 /* how often it is asked whether another snapshot is written */
#define FRAMES 256
/* Who is asked to end, and does not, is killed by then: 30 s after SIGTERM with Slurm's default. */
#define KILLED_WITHIN_S 35.0
#define SAME_S		5.0 /* signals so close ask for the same end */
#define MIX		0x9e3779b97f4a7c15u

/* What was seen at the last looks; times in raw ns. */
struct deadlock {
	uint64_t sum, since, due; /* of what was stored: it has not changed since */
	enum session_activity told;
	uint64_t stacks_due; /* when to try to write the stacks; 0: they are not wanted */
	uint64_t stop_due;
	bool has_stopped;
};

/* Changes whenever a thread stores a word, published or not. */
static uint64_t stored(const struct thread_ring *t)
{
	uint64_t sum = load_relaxed(&t->ring.producer->head);

	for (unsigned k = 0; k < 2; k++)
		for (size_t i = 0; i < BLOCK_WORDS; i++)
			sum = (sum ^ load_relaxed(&t->ring.stage[k][i])) * MIX;
	return sum;
}

static uint64_t all_stored(const struct agent *a)
{
	uint64_t sum = a->host.n_ever + a->host.n_live * MIX;

	for (const struct process *p = a->host.live; p; p = p->next_live) {
		if (!p->greeted || p->ended)
			continue;
		sum = (sum ^ p->definitions) * MIX;
		for (size_t i = 0; i < p->n_threads; i++)
			if (p->threads[i])
				sum = (sum ^ stored(p->threads[i])) * MIX;
	}
	return sum;
}

static void say_where_stacks_are(struct agent *a, bool urgent)
{
	char *path = host_result(&a->host, "", RESULT_STACKS);

	host_warn(&a->host, urgent,
		"no thread has recorded anything for %g s: their call stacks are in %s",
		a->host.conf->agent_deadlock_s, path);
	free(path);
}

static struct deadlock *deadlock_of(struct agent *a)
{
	if (!a->deadlock)
		a->deadlock = xcalloc(1, sizeof(*a->deadlock));
	return a->deadlock;
}

static double write_wanted_stacks(struct agent *a)
{
	struct deadlock *d = a->deadlock;
	const uint64_t now = clock_raw_ns();

	if (!d->stacks_due)
		return NEVER_S;
	if (now < d->stacks_due)
		return 1e-9 * (double)(d->stacks_due - now);
	if (!snapshot_now(a)) {
		d->stacks_due = now + (uint64_t)(LATE_S * 1e9);
		return LATE_S;
	}
	d->stacks_due = 0;
	say_where_stacks_are(a, true);
	return NEVER_S;
}

void deadlock_report(struct agent *a)
{
	deadlock_of(a)->stacks_due = 1;
	write_wanted_stacks(a);
}

static char *stack_text(struct agent *a, const struct thread_ring *t)
{
	const struct name_style style = name_style_of(a->host.conf);
	const char *separator = name_separator(a->host.conf);
	uint64_t keys[FRAMES];
	size_t n = replay_stack(t->replay, false, keys, FRAMES);
	char *text = xstrdup("");

	for (size_t i = 0; i < n; i++) {
		char *name =
			name_shown(symcache_name(a->host.symbols, t->process, keys[i]), &style);

		text = xappend(text, "%s%s", name, separator);
		free(name);
	}
	return text;
}

void deadlock_write_stacks(struct agent *a)
{
	char *path = host_result(&a->host, "", RESULT_STACKS);
	struct writing *tmp;
	FILE *f;
	int error;

	older_results_of_stacks(&a->host);
	error = write_begin(&f, &tmp, path);
	if (error) {
		complain("%s: %s", path, strerror(-error));
		return;
	}
	say_where_stacks_are(a, false); /* in the logs of this copy, too */
	for (const struct process *p = a->host.live; p; p = p->next_live) {
		for (size_t i = 0; p->greeted && !p->ended && i < p->n_threads; i++) {
			char *text = p->threads[i] ? stack_text(a, p->threads[i]) : NULL;

			if (text)
				fprintf(f, "%s, thread %u: %sinit\n", process_name(p),
					p->threads[i]->number, text);
			free(text);
		}
	}
	error = write_end(f, tmp);
	if (error)
		complain("%s: %s", path, strerror(-error));
	free(path);
}

static bool asked_within(const struct agent *a, double s)
{
	return a->asked_at && 1e-9 * (double)(clock_raw_ns() - a->asked_at) < s;
}

void deadlock_note(struct agent *a)
{
	const int signal = a->asked_to_end;
	bool deadlock = false;
	char *text;

	a->asked_to_end = 0;
	/* timeout(1) sends SIGTERM twice: ranks are ending then */
	if (!signal || (a->standstill && asked_within(a, SAME_S)))
		return;
	text = a->host.n_live ? standstill_text(&a->host, &deadlock) : NULL;
	a->asked_at = clock_raw_ns();
	a->has_deadlock = deadlock;
	free(a->standstill); /* the program went on after an earlier signal */
	a->standstill = text ? xasprintf("as SIG%s came, %s", sigabbrev_np(signal), text) : NULL;
	free(text);
}

bool deadlock_was_asked(const struct agent *a)
{
	return asked_within(a, KILLED_WITHIN_S);
}

static bool ended_badly(const struct process *p)
{
	return p->greeted &&
	       (p->end == PROCESS_RUNNING || p->end == PROCESS_KILLED || p->exit_status > 0);
}

bool deadlock_tell(struct agent *a)
{
	bool is_told = false;

	for (const struct process *p = a->host.processes; a->standstill && p; p = p->next)
		is_told |= ended_badly(p);
	is_told &= deadlock_was_asked(a);
	if (is_told) /* each of many nodes may have to tell: the others do in the logs only */
		host_warn(&a->host,
			a->has_deadlock && (!a->host.transport || !a->host.transport->rank), "%s",
			a->standstill);
	free(a->standstill);
	a->standstill = NULL;
	return is_told;
}

static double look_for_deadlock(struct agent *a)
{
	struct deadlock *d = a->deadlock;
	const double limit_s = a->host.conf->agent_deadlock_s;
	uint64_t now = clock_raw_ns(), sum;

	if (limit_s <= 0)
		return NEVER_S;
	if (!a->host.n_live) {
		d->stacks_due = 0;
		if (d->told != SESSION_NOBODY)
			sessions_idle(a, d->told = SESSION_NOBODY);
		return NEVER_S;
	}
	if (now < d->due)
		return 1e-9 * (double)(d->due - now);
	d->due = now + (uint64_t)(limit_s / LOOKS * 1e9);
	sum = all_stored(a);
	if (sum != d->sum || !d->since) {
		d->sum = sum;
		d->since = now;
		d->stacks_due = 0; /* they would be others */
		if (d->told != SESSION_BUSY_NODE)
			sessions_idle(a, d->told = SESSION_BUSY_NODE);
	} else if (d->told != SESSION_QUIET && 1e-9 * (double)(now - d->since) >= limit_s) {
		if (!sessions_idle(a, d->told = SESSION_QUIET))
			deadlock_report(a);
	}
	return limit_s / LOOKS;
}

static double look_for_stop_file(struct agent *a)
{
	struct deadlock *d = a->deadlock;
	const char *file = a->host.conf->agent_stop_file;
	uint64_t now = clock_raw_ns();

	if (!file || !file[0] || d->has_stopped)
		return NEVER_S;
	if (now < d->stop_due)
		return 1e-9 * (double)(d->stop_due - now);
	d->stop_due = now + (uint64_t)(STOP_S * 1e9);
	if (access(file, F_OK))
		return STOP_S;
	d->has_stopped = true;
	host_warn(&a->host, true, "%s is there: the run is stopped", file);
	/* the same as if somebody else had sent it to who waits for the command, or to us */
	if (a->command)
		kill(a->command, SIGTERM);
	else
		raise(SIGTERM);
	return 0;
}

double deadlock_tick(struct agent *a)
{
	double deadlock, stacks, stop;

	deadlock_of(a);
	deadlock = look_for_deadlock(a);
	stacks = write_wanted_stacks(a);
	stop = look_for_stop_file(a);
	return MIN(MIN(deadlock, stacks), stop);
}
