/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/internal.h"
#include "shm/clock.h"

/*
 * A second of CPU time has so many periods as profile.sample says, and a twentieth more: what a
 * program does every 10 or 50 ms is seen in all its parts.
 */
#define PERIODS_MORE 1.0472

#define RATE_AUTO 20 /* samples for each second of CPU time */

#define PASS_NS	       UINT64_C(200000000) /* between two passes, at most; two looks in /proc */
#define PASS_SAMPLES   4		   /* of a thread between two passes, at most */
#define RING_BYTES_ALL ((size_t)64 << 20)
#define FILES_SHARE    4 /* one in so many descriptors may be a ring's */
#define WINDOW_NS      UINT64_C(2000000000)
#ifndef STACK_SHARE	 /* less in a test */
#define STACK_SHARE 0.04 /* of a core, that sampling may take; more twice in turn */
#endif
#define PERIOD_MOST_NS UINT64_C(1000000000)

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void note_clocks(struct stacks *s)
{
	s->now.ticks = host_ticks(s->host);
	s->now.raw_ns = clock_raw_ns();
}

static double ticks_per_ns(const struct stacks *s)
{
	const uint64_t ns = s->now.raw_ns - s->first.raw_ns;

	return ns ? (double)(s->now.ticks - s->first.ticks) / (double)ns : 1.0;
}

uint64_t stacks_ticks(const struct stacks *s, uint64_t raw_ns)
{
	const double since = (double)(int64_t)(raw_ns - s->now.raw_ns);

	return s->now.ticks + (uint64_t)(int64_t)(since * ticks_per_ns(s));
}

uint64_t stacks_weight(const struct stacks *s, uint64_t period_ns)
{
	return (uint64_t)((double)period_ns * ticks_per_ns(s));
}

static size_t rings_by_memory(void)
{
	return RING_BYTES_ALL / stack_events_bytes(STACK_USUAL);
}

/* Processes and files need descriptors, too. */
static size_t rings_by_files(void)
{
	struct rlimit files;

	return getrlimit(RLIMIT_NOFILE, &files) ? 0 : files.rlim_cur / FILES_SHARE;
}

int stacks_room(const struct stacks *s)
{
	if (s->rings < s->rings_most)
		return 0;
	return s->rings_most < rings_by_memory() ? EMFILE : ENOMEM;
}

/* The kernel refuses all samples, not those of one process. */
static bool refuses_all(struct stacks *s)
{
	char *why;

	s->refused = stack_events_refused();
	why = s->refused ? stack_events_why(s->refused) : NULL;
	if (!why)
		s->refused = 0; /* it has no room for one more */
	else
		host_warn(s->host, false,
			"profile.sample: the kernel allows no stack samples (%s): functions that "
			"are not instrumented have no call paths; see vftr-stack(7)",
			why);
	free(why);
	return s->refused;
}

void stacks_refused(struct stacks *s, const struct process *p, int error)
{
	if (error != ENOMEM && error != EMFILE && refuses_all(s))
		return;
	if (!s->no_room)
		host_warn(s->host, false,
			"profile.sample: %s: this thread, maybe more, has no stack samples: %s",
			process_name(p), strerror(error));
	s->no_room = true;
}

static long long rate_of(const struct host *host)
{
	const long long rate = host->conf->profile_sample;

	return rate == CONF_AUTO ? RATE_AUTO : rate;
}

static struct stacks *stacks_of(struct host *host)
{
	struct stacks *s = host->stacks;

	if (s)
		return s;
	s = host->stacks = xcalloc(1, sizeof(*s));
	s->host = host;
	s->owner = getpid();
	s->period_ns = (uint64_t)(1e9 / PERIODS_MORE / (double)rate_of(host));
	s->rings_most = rings_by_files();
	if (s->rings_most > rings_by_memory())
		s->rings_most = rings_by_memory();
	note_clocks(s);
	s->first = s->now;
	s->window_ns = s->now.raw_ns;
	return s;
}

/* ---- processes ------------------------------------------------------------------ */

static bool is_wanted(const struct process *p)
{
	const struct conf *c = p->host->conf;

	if (c->profile_sample == CONF_AUTO)
		return p->outside || (p->uninstrumented && !c->python_functions);
	return c->profile_sample > 0;
}

static void begin_process(struct process *p)
{
	if (p->greeted && is_wanted(p))
		p->stack = stack_process_new(stacks_of(p->host), p);
}

static void thread_begin(struct thread_ring *t)
{
	if (t->process->stack)
		stack_process_thread(t->process->stack, t);
}

static void thread_last(struct thread_ring *t)
{
	const struct process *p = t->process;

	if (p->stack && getpid() == p->host->stacks->owner)
		stack_process_thread_ends(p->stack, t);
}

static void end_process(struct process *p)
{
	if (p->stack)
		stack_process_end(p->stack, p->end_ticks);
}

static void free_process(struct process *p)
{
	stack_process_free(p->stack);
}

const struct process_observer stack_observer = {
	.begin = begin_process,
	.thread_begin = thread_begin,
	.thread_last = thread_last,
	.end = end_process,
	.free = free_process,
};

/* ---- passes ---------------------------------------------------------------------- */

static void for_each(struct stacks *s, void (*what)(struct stack_process *f))
{
	for (struct process *p = s->host->live; p; p = p->next_live)
		if (p->stack && !p->ended)
			what(p->stack);
}

static void take_fewer(struct stacks *s)
{
	s->period_ns *= 2;
	for_each(s, stack_process_set_period);
	host_warn(s->host, false,
		"profile.sample: stack samples took more than %g %% of a CPU, so from now on "
		"there "
		"are %.1f for each second of CPU time",
		1e2 * STACK_SHARE, 1e9 / (double)s->period_ns);
}

static void keep_to_share(struct stacks *s)
{
	const uint64_t ns = s->now.raw_ns - s->window_ns;

	if (ns < WINDOW_NS)
		return;
	if ((double)s->window_spent_ns <= STACK_SHARE * (double)ns)
		s->windows_over = 0;
	else if (++s->windows_over > 1 && s->period_ns * 2 <= PERIOD_MOST_NS) {
		take_fewer(s);
		s->windows_over = 0;
	}
	s->window_ns = s->now.raw_ns;
	s->window_spent_ns = 0;
}

static uint64_t pass_ns(const struct stacks *s)
{
	return PASS_SAMPLES * s->period_ns < PASS_NS ? PASS_SAMPLES * s->period_ns : PASS_NS;
}

double stack_tick(struct host *host)
{
	struct stacks *s = host->stacks;
	uint64_t before, spent;

	if (!s || s->refused || !host->n_live)
		return NEVER_S;
	note_clocks(s);
	for_each(s, stack_process_open); /* is no less with fewer samples */
	before = cpu_ns();
	for_each(s, stack_process_read);
	if (s->now.raw_ns >= s->look_ns) {
		for_each(s, stack_process_look);
		s->look_ns = s->now.raw_ns + PASS_NS;
	}
	if (s->now.raw_ns >= s->due_ns)
		s->due_ns = s->now.raw_ns + pass_ns(s);
	spent = cpu_ns() - before;
	s->window_spent_ns += spent;
	keep_to_share(s);
	return 1e-9 * (double)(s->due_ns - s->now.raw_ns);
}

void stack_end(struct host *host)
{
	struct stacks *s = host->stacks;

	if (!s)
		return;
	if (s->lost)
		host_warn(host, false,
			"profile.sample: %llu of %llu stack samples are missing, as there was no "
			"room for them or for their paths",
			(unsigned long long)s->lost, (unsigned long long)(s->lost + s->samples));
	free(s);
	host->stacks = NULL;
}
