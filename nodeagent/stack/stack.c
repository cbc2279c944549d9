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
#include "nodeagent/process/cpu/cpus.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/internal.h"
#include "nodeagent/stack/timers.h"
#include "shm/clock.h"
#include "shm/stack-samples.h"

/*
 * A second of CPU time has so many periods as profile.sample says, and a twentieth more: what a
 * program does every 10 or 50 ms is seen in all its parts.
 */
#define PERIODS_MORE 1.0472

#define RATE_AUTO 20 /* samples for each second of CPU time */

#define PASS_NS		  UINT64_C(200000000) /* between two passes, at most; two looks in /proc */
#define PASS_SAMPLES	  4		      /* of a thread between two passes, at most */
#define RING_BYTES_ALL	  ((size_t)64 << 20)
#define TIMER_BYTES_CPU	  ((size_t)128 << 10) /* of a process that samples itself, for each CPU */
#define TIMER_BYTES_LEAST ((size_t)256 << 10)
#define TIMER_BYTES_MOST  ((size_t)8 << 20)
#define FILES_SHARE	  4 /* one in so many descriptors may be a ring's */
#ifndef WINDOW_NS	    /* shorter in a test */
#define WINDOW_NS UINT64_C(2000000000)
#endif
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
			process_name(p),
			error == EACCES && procfs_may_only_run(p->executable)
				? "its file may be executed and not read, so the kernel shows its "
				  "stacks to root only"
				: strerror(error));
	s->no_room = true;
}

static long long rate_of(const struct host *host)
{
	const long long rate = host->conf->profile_sample;

	return rate == CONF_AUTO ? RATE_AUTO : rate;
}

/* Whether processes are to sample themselves, and says so. */
static bool choose_timers(struct host *host)
{
	const char *by = host->conf->profile_sample_by;
	const int error = strcmp(by, "auto") ? 0 : stack_events_refused();
	char *why = error ? stack_events_why(error) : NULL;
	const bool timers = STACK_REGS && (why || !strcmp(by, "timer"));

	if (timers)
		host_warn(host, false,
			"profile.sample: timers in the processes take the stack samples, as "
			"%s%s%s; "
			"see vftr-stack(7)",
			why ? "the kernel allows the agent none (" : "profile.sample_by says",
			why ? why : "", why ? ")" : "");
	free(why);
	return timers;
}

static struct stacks *stacks_of(struct host *host)
{
	struct stacks *s = host->stacks;

	if (s)
		return s;
	s = host->stacks = xcalloc(1, sizeof(*s));
	s->host = host;
	s->owner = getpid();
	s->first_period_ns = s->period_ns = (uint64_t)(1e9 / PERIODS_MORE / (double)rate_of(host));
	s->rings_most = rings_by_files();
	s->rings_most = MIN(s->rings_most, rings_by_memory());
	s->by_timers = choose_timers(host);
	note_clocks(s);
	s->first = s->now;
	s->window_ns = s->now.raw_ns;
	return s;
}

/* ---- memory of timers ------------------------------------------------------------ */

/* Timers of CPU time end on CPUs that the process has, no more at a time. */
static size_t timer_bytes(const struct stacks *s, int pid)
{
	size_t bytes = TIMER_BYTES_LEAST;
	struct cpus cpus;

	cpus_of(pid, &cpus);
	while (bytes < TIMER_BYTES_MOST && bytes < TIMER_BYTES_CPU * (size_t)cpus_count(&cpus))
		bytes *= 2;
	while (bytes > TIMER_BYTES_LEAST && s->timer_bytes + bytes > RING_BYTES_ALL)
		bytes /= 2;
	return bytes;
}

struct stack_timers *stacks_new_timers(struct stacks *s, struct process *p)
{
	const size_t bytes = timer_bytes(s, p->pid);
	struct stack_timers *t = NULL;
	int error = ENOMEM;

	if (s->timer_bytes + bytes <= RING_BYTES_ALL)
		t = stack_timers_new(bytes, s->first_period_ns, &p->samples.fd, &error);
	if (!t) {
		stacks_refused(s, p, error == EMFILE ? EMFILE : ENOMEM);
		return NULL;
	}
	p->samples.bytes = bytes;
	p->samples.period_ns = s->first_period_ns;
	stack_timers_set_period(t, s->period_ns);
	s->timer_bytes += bytes;
	return t;
}

void stacks_free_timers(struct stacks *s, const struct process *p, struct stack_timers *t)
{
	struct stack_timers_state state;

	if (!t)
		return;
	state = stack_timers_state(t);
	s->lost += state.lost;
	s->late += state.late;
	if (state.timerless)
		host_warn(s->host, false,
			"profile.sample: %s: %u threads had no timer, and so no stack samples (see "
			"ulimit -i)",
			process_name(p), state.timerless);
	if (state.end == STACK_SAMPLES_SIGNAL && !s->timers_ended)
		host_warn(s->host, false,
			"profile.sample: %s uses the signal SIGURG itself, so it, maybe others, "
			"has no stack samples by timers",
			process_name(p));
	s->timers_ended |= state.end != STACK_SAMPLES_GO_ON;
	s->timer_bytes -= stack_timers_bytes(t);
	stack_timers_free(t);
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
