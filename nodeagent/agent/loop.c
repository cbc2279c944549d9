/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop. The agent sleeps until a process says something, ends, or
 * has filled a quarter of a ring: it then rings the doorbell, a one-byte
 * packet. Before sleeping the agent sets the word `sleeping` in every control
 * page and looks once more.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/loop.h"
#include "nodeagent/agent/metrics-file.h"
#include "nodeagent/agent/over.h"
#include "nodeagent/agent/overhead.h"
#include "nodeagent/process/callers.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/agent/deadlock.h"
#include "nodeagent/agent/jobs/jobs.h"
#include "nodeagent/agent/step/in-step.h"
#include "nodeagent/agent/rounds.h"
#include "nodeagent/agent/snapshot.h"
#include "nodeagent/agent/standby.h"
#include "nodeagent/agent/last-words.h"
#include "nodeagent/agent/affinity.h"
#include "nodeagent/attach/attach.h"
#include "nodeagent/stack/stack.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/process/process.h"
#include "nodeagent/readers/readers.h"
#include "nodeagent/recorder/recorder.h"
#include "nodeagent/process/rendezvous.h"
#include "nodeagent/session/session.h"
#include "nodeagent/agent/peers.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

#define EVENTS	       64
#define DEAF_PERIOD_MS 1 /* processes that closed our socket are polled */
#define KIND_MASK      ((uint64_t)7)
#define ASLEEP_NS      20000 /* less takes who finds something at once */

void agent_must_watch(struct agent *a, int fd, enum watch_kind kind)
{
	int error = host_watch(&a->host, fd, kind, NULL);

	if (!error)
		return;
	session_close(&a->host);
	die(OWN_FAILURE, "cannot wait for events: %s (see epoll(7), max_user_watches)",
		strerror(-error));
}

/* For those processes of the command that may still come, our time begins now. */
static void become_orphan(struct agent *a)
{
	a->orphaned = true;
	a->quiet_since = 0;
}

/* Signals to a whole step reach agents, too; the others do not concern us. */
static void on_signal(struct agent *a)
{
	struct signalfd_siginfo s;

	while (read(a->host.signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGURG) /* which does no harm to any other process */
			recorder_event(&a->host, (struct flight_event){.kind = EVENT_SIGNAL},
				"SIGURG came");
		if (supervised_is()) /* it tells what is to be done */
			continue;
		switch (s.ssi_signo) {
		case SIGUSR1: /* the command ended on the node of the launcher */
			if (a->form == FORM_SIBLING)
				a->told_to_stop = true;
			break;
		case SIGUSR2: /* the same had SIGTERM */
			if (a->form == FORM_SIBLING) {
				ending_begin();
				a->asked_to_end = SIGTERM;
			}
			break;
		case SIGTERM:
			ending_begin();
			/* fall through */
		case SIGHUP:
			a->asked_to_end = (int)s.ssi_signo;
			if (a->form == FORM_STEP)
				in_step_hurry(a);
			else if (a->form == FORM_SIBLING) /* the command is not giving up */
				become_orphan(a);
			else
				a->told_to_stop = a->at_once = true;
			break;
		case SIGINT:
		case SIGQUIT:
			a->asked_to_end = (int)s.ssi_signo;
			if (a->form == FORM_STEP)
				in_step_hurry(a);
			else
				a->told_to_stop = a->at_once = true;
			break;
		}
	}
}

/* While agents exchange what they have, nobody looks at events. */
static void hear(void *agent)
{
	struct agent *a = agent;

	on_signal(a);
	supervised_news(a);
	deadlock_note(a);
	in_step_hear(a);
}

static void on_bell(struct agent *a)
{
	uint64_t n;

	if (read(proxy_bell(), &n, sizeof(n)) == sizeof(n))
		a->news = true;
}

static void on_event(struct agent *a, const struct epoll_event *e)
{
	struct process *p = (struct process *)(uintptr_t)(e->data.u64 & ~KIND_MASK);

	switch (e->data.u64 & KIND_MASK) {
	case WATCH_LISTENER:
		callers_accept(&a->host);
		break;
	case WATCH_SIGNALS:
		on_signal(a);
		deadlock_note(a);
		break;
	case WATCH_SOCKET:
		if (p->socket >= 0 && !process_receive(p))
			process_hung_up(p);
		break;
	case WATCH_BELL:
		on_bell(a);
		break;
	case WATCH_SUPERVISOR:
		supervised_news(a);
		deadlock_note(a);
		break;
	case WATCH_COMMAND:
		epoll_ctl(a->host.epoll, EPOLL_CTL_DEL, supervised_end(), NULL);
		supervised_ended(a);
		break;
	case WATCH_STEP: /* in_step_tick() looks at all of them */
		break;
	case WATCH_PIDFD:
		if (p->pidfd >= 0) /* its hang-up, of the same look, may have closed it */
			epoll_ctl(a->host.epoll, EPOLL_CTL_DEL, p->pidfd, NULL);
		/* a child of its own may have the socket until it has connected, too */
		if (!process_is_expected(p) || !process_receive(p))
			process_hung_up(p);
		break;
	}
}

static void set_sleeping(struct agent *a, uint32_t value)
{
	for (struct process *p = a->host.live; p; p = p->next_live)
		if (p->control && !p->ended)
			store_relaxed(&p->control->sleeping, value);
}

static bool urgent(const struct agent *a)
{
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (!p->ended && drain_is_urgent(p))
			return true;
	return false;
}

static bool somebody_deaf(const struct agent *a)
{
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->greeted && !p->ended && p->socket < 0 && !p->outside && !p->quarantined)
			return true;
	return false;
}

/* Tells the others of the flight recorder's events here, and the recorder of theirs and of what
 * viewers wish: what happens on one node is written by all. */
static void flight_exchange(struct agent *a)
{
	struct flight_event here;
	struct live_event e;

	while (live_event_next(a, &e)) {
		if (e.wished)
			recorder_request(&a->host, e.stamp);
		else if (e.kind < RESULT_EVENTS) /* else it is of another version */
			recorder_event_elsewhere(&a->host,
				(struct flight_event){e.kind, e.detail == 1, e.number, e.stamp});
	}
	if (recorder_event_news(&a->host, &here))
		live_event_tell(a, &(struct live_event){
					   here.kind, here.of_pid, here.number, here.stamp, false});
}

/* Who has not been let in yet: he may have given up waiting, and is to be counted. */
static void hear_callers(struct agent *a)
{
	callers_accept(&a->host);
	callers_hear(&a->host);
	processes_sweep(&a->host);
}

/*
 * Is it time to stop? If not, *wait_s is when to ask again at the latest. The time without
 * processes may have passed while this agent was stopped, and somebody waits.
 */
static bool finished(struct agent *a, double *wait_s)
{
	double again = peers_attend(a), session = sessions_tick(a), idle = deadlock_tick(a);
	double step = in_step_tick(a), live = live_tick(a), jobs = jobs_tick(a), callers;
	double deaf = processes_deaf_tick(&a->host);
	bool now;

	supervised_look(a);
	last_words_tick(a);
	flight_exchange(a);
	a->news = false;
	if (!a->host.n_live)
		hear_callers(a);
	callers = callers_tick(&a->host); /* of those that have come now, too */
	now = agent_is_over(a, wait_s);
	again = MIN(again, session);
	again = MIN(again, idle);
	again = MIN(again, callers);
	again = MIN(again, step);
	again = MIN(again, live);
	again = MIN(again, jobs);
	again = MIN(again, deaf);
	*wait_s = MIN(*wait_s, again);
	return now;
}

static int sleep_ms(const struct agent *a, double wait_s)
{
	if (somebody_deaf(a))
		return DEAF_PERIOD_MS;
	wait_s = MIN(wait_s, NEVER_S);
	return wait_s <= 0 ? 0 : (int)(wait_s * 1000) + 1;
}

/* Who came just as the time was up is served, unless others know already that this is the end. */
static bool goes_on(struct agent *a)
{
	hear_callers(a);
	return a->host.n_live && !a->told_to_stop && !a->at_once && !a->host.transport &&
	       !a->late_profile && a->form != FORM_ATTACH && !last_words_all_held(a);
}

/* Who was woken hears of what happens now; who was busy, of what has happened meanwhile. */
static int wait_for_events(struct agent *a, struct epoll_event *events, int timeout)
{
	uint64_t before = clock_raw_ns();
	int n = epoll_wait(a->host.epoll, events, EVENTS, timeout);
	uint64_t now = clock_raw_ns();

	a->host.heard_raw_ns = now - before > ASLEEP_NS || !a->back_raw_ns ? now : a->back_raw_ns;
	a->back_raw_ns = now;
	return n;
}

/* All that is due now: the bytes that rings had, and seconds until more is due, whoever writes. */
static double work_once(struct agent *a, uint64_t *bytes)
{
	double due_s = drain_off_cpu_tick(&a->host);

	due_s = fmin(due_s, attach_tick(&a->host)); /* before its samples ... */
	due_s = fmin(due_s, stack_tick(&a->host));  /* ... and these before the records */
	*bytes = readers_drain(a->readers);
	last_words_abort(a);
	due_s = fmin(due_s, recorder_tick(&a->host));
	due_s = fmin(due_s, snapshot_tick(a));
	due_s = fmin(due_s, standby_tick(a));
	due_s = fmin(due_s, overhead_tick(a));
	return fmin(due_s, metrics_file_tick(a));
}

/* Reads what there is, and sleeps until there is more, at most wait_s. */
static void serve_once(struct agent *a, double wait_s)
{
	struct epoll_event events[EVENTS];
	bool waits = false; /* for the disk */
	int n, timeout = 0;
	uint64_t bytes;
	const double due_s = work_once(a, &bytes);

	if (!bytes || !urgent(a)) {
		set_sleeping(a, 1);
		/* pairs with the producers, who publish and then read sleeping */
		fence_full();
		waits = urgent(a) && recorder_is_behind(&a->host);
		if (waits)
			recorder_wait(&a->host);
		else if (!urgent(a))
			timeout = sleep_ms(a, due_s < wait_s ? due_s : wait_s);
	}
	n = wait_for_events(a, events, timeout);
	if (timeout || waits) {
		set_sleeping(a, 0);
		a->host.wakeups++;
	}
	for (int i = 0; i < n; i++)
		on_event(a, &events[i]);
	processes_sweep(&a->host);
	affinity_again(a);
}

void agent_serve(struct agent *a)
{
	static const struct session_duties duties = {
		.all_idle = deadlock_report,
		.begin_round = rounds_begin,
	};
	double wait_s = 0;

	a->readers = readers_new(&a->host, "/proc/stat");
	sessions_begin(a, &duties);
	metrics_file_begin(a);
	ending_listen(hear, a);
	do {
		while (!finished(a, &wait_s))
			serve_once(a, wait_s);
	} while (goes_on(a));
	readers_free(a->readers);
	a->readers = NULL;
	jobs_end(a); /* while others can be told */
	live_end(a);
	flight_exchange(a);
	jobs_end(a); /* what has come since */
	live_free(a);
	metrics_file_end(a);
}
