/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The event loop. The agent sleeps until a process says something, ends, or
 * has filled a quarter of a ring: it then rings the doorbell, a one-byte
 * packet. Before sleeping the agent sets the word `sleeping` in every control
 * page and looks once more.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/adopt.h"
#include "nodeagent/agent.h"
#include "nodeagent/budget.h"
#include "nodeagent/callers.h"
#include "nodeagent/courier.h"
#include "nodeagent/drain.h"
#include "nodeagent/ending.h"
#include "nodeagent/idle.h"
#include "nodeagent/in-step.h"
#include "nodeagent/interim.h"
#include "nodeagent/last-words.h"
#include "nodeagent/place.h"
#include "nodeagent/process.h"
#include "nodeagent/procfs.h"
#include "nodeagent/sampling.h"
#include "nodeagent/session.h"
#include "nodeagent/sessions.h"
#include "nodeagent/siblings.h"
#include "nodeagent/supervisor.h"
#include "nodeagent/util.h"
#include "shm/atomic.h"

#define EVENTS	       64
#define DEAF_PERIOD_MS 1    /* processes that closed our socket are polled */
#define NOBODY_CAME_S  20.0 /* an embedded agent without any process ends */
#define LOOK_AROUND_S  0.5  /* a sidecar to which nobody comes */
#define KIND_MASK      ((uint64_t)7)
#define ASLEEP_NS      20000 /* less takes who finds something at once */

int agent_watch(struct agent *a, int fd, enum watch_kind kind, struct process *p)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = (uintptr_t)p | kind};

	return epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

void agent_must_watch(struct agent *a, int fd, enum watch_kind kind)
{
	int error = agent_watch(a, fd, kind, NULL);

	if (!error)
		return;
	session_close(a);
	die(OWN_FAILURE, "cannot wait for events: %s (see epoll(7), max_user_watches)",
		strerror(-error));
}

void agent_close(struct agent *a, int *fd)
{
	if (*fd < 0)
		return;
	epoll_ctl(a->epoll, EPOLL_CTL_DEL, *fd, NULL);
	close(*fd);
	*fd = -1;
}

/* For those processes of the command that may still come, our time begins now. */
static void orphaned(struct agent *a)
{
	a->orphaned = true;
	a->quiet_since = 0;
}

/* Signals to a whole step reach agents, too; the others do not concern us. */
static void on_signal(struct agent *a)
{
	struct signalfd_siginfo s;

	while (read(a->signals, &s, sizeof(s)) == sizeof(s)) {
		if (supervised_is()) /* it tells what is to be done */
			continue;
		switch (s.ssi_signo) {
		case SIGUSR1: /* the command ended on the node of the launcher */
			if (a->sibling)
				a->told_to_stop = true;
			break;
		case SIGUSR2: /* the same had SIGTERM */
			if (a->sibling)
				ending_begin();
			break;
		case SIGTERM:
			ending_begin();
			/* fall through */
		case SIGHUP:
			if (a->step)
				in_step_hurry(a);
			else if (a->sibling) /* our launcher is giving up, the command is not */
				orphaned(a);
			else
				a->told_to_stop = a->at_once = true;
			break;
		case SIGINT:
		case SIGQUIT:
			if (a->step)
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
	in_step_hear(a);
}

static void on_bell(struct agent *a)
{
	uint64_t n;

	if (read(courier_bell(), &n, sizeof(n)) == sizeof(n))
		a->news = true;
}

static void on_event(struct agent *a, const struct epoll_event *e)
{
	struct process *p = (struct process *)(uintptr_t)(e->data.u64 & ~KIND_MASK);

	switch (e->data.u64 & KIND_MASK) {
	case WATCH_LISTENER:
		callers_accept(a);
		break;
	case WATCH_SIGNALS:
		on_signal(a);
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
		break;
	case WATCH_COMMAND:
		epoll_ctl(a->epoll, EPOLL_CTL_DEL, supervised_end(), NULL);
		supervised_ended(a);
		break;
	case WATCH_STEP: /* in_step_tick() looks at all of them */
		break;
	case WATCH_PIDFD:
		epoll_ctl(a->epoll, EPOLL_CTL_DEL, p->pidfd, NULL);
		/* a child of its own may have the socket until it has connected, too */
		if (!process_is_expected(p) || !process_receive(p))
			process_hung_up(p);
		break;
	}
}

static void set_sleeping(struct agent *a, uint32_t value)
{
	for (struct process *p = a->live; p; p = p->next_live)
		if (p->control && !p->ended)
			store_relaxed(&p->control->sleeping, value);
}

static uint64_t drain_all(struct agent *a)
{
	uint64_t bytes = 0;

	for (struct process *p = a->live; p; p = p->next_live)
		if (!p->ended)
			bytes += drain_process(p);
	return bytes;
}

static bool urgent(const struct agent *a)
{
	for (const struct process *p = a->live; p; p = p->next_live)
		if (!p->ended && drain_is_urgent(p))
			return true;
	return false;
}

static bool somebody_deaf(const struct agent *a)
{
	for (const struct process *p = a->live; p; p = p->next_live)
		if (p->greeted && !p->ended && p->socket < 0)
			return true;
	return false;
}

static double seconds_since(uint64_t raw_ns)
{
	return 1e-9 * (double)(clock_raw_ns() - raw_ns);
}

/* A child of a fork that has not called anything yet, or was not even scheduled. */
static bool somebody_expected(const struct agent *a)
{
	if (a->forks_announced > a->children_seen)
		return true;
	return callers_any(a);
}

/* What outlives the command has the same time as it would have to start. */
static double patience(struct agent *a)
{
	if (!a->stop_since)
		a->stop_since = clock_raw_ns();
	return a->conf->agent_linger_s - seconds_since(a->stop_since);
}

/* Agents that joined over TCP end together: the end of the command is not that of all. */
static bool ends_with_others(const struct agent *a)
{
	return a->several && !a->at_once && !a->orphaned;
}

static bool over(struct agent *a, double *wait_s)
{
	double linger = a->conf->agent_linger_s, quiet;
	bool adopted;

	if (a->n_live && !last_words_all_held(a)) {
		siblings_busy(a);
		a->quiet_since = 0;
		*wait_s = NEVER_S;
		if (a->told_to_stop && !a->at_once)
			*wait_s = patience(a);
		return a->at_once || (a->told_to_stop && *wait_s <= 0);
	}
	if (!a->quiet_since)
		a->quiet_since = clock_raw_ns();
	quiet = seconds_since(a->quiet_since);
	if (a->told_to_stop && !ends_with_others(a)) {
		*wait_s = a->at_once || !somebody_expected(a) ? 0 : patience(a);
		return *wait_s <= 0;
	}
	if (a->command) { /* everyday form: its end is what counts */
		*wait_s = supervised_is() ? NEVER_S : LOOK_AROUND_S;
		return false;
	}
	if (a->sibling && !a->orphaned) { /* we are told by SIGUSR1, through our courier */
		*wait_s = LOOK_AROUND_S;
		if (procfs_is_stopped(getppid()))
			kill(getppid(), SIGCONT);
		return false;
	}
	if (a->step && !a->told_to_stop && !a->joining) { /* our tasks are what counts */
		*wait_s = NEVER_S;
		return false;
	}
	adopted = !a->n_ever && !a->embedded && !a->step && adopt_look(a);
	if (a->joining) {
		*wait_s = LOOK_AROUND_S;
		if ((a->n_ever || a->told_to_stop) &&
			quiet > a->conf->agent_deadline_s + LOOK_AROUND_S)
			siblings_give_up(a);
		return false;
	}
	if (a->peer && !a->orphaned)
		return siblings_finished(
			a, adopted || a->told_to_stop || (a->n_ever && quiet >= linger), wait_s);
	if (a->expect > a->n_ever && !adopted) {
		*wait_s = a->within_s > 0 ? a->within_s - seconds_since(a->start_raw_ns) : NEVER_S;
		return *wait_s <= 0;
	}
	if (!a->n_ever) {
		*wait_s = a->embedded		      ? NOBODY_CAME_S - quiet
			  : a->sibling && a->orphaned ? a->conf->agent_start_s - quiet
						      : LOOK_AROUND_S;
		return adopted || *wait_s <= 0;
	}
	*wait_s = last_words_complete(a) ? 0 : linger - quiet;
	return *wait_s <= 0;
}

/* Is it time to stop? If not, *wait_s is when to ask again at the latest. */
static bool finished(struct agent *a, double *wait_s)
{
	double again = siblings_attend(a), session = sessions_tick(a), idle = idle_tick(a);
	double callers = callers_tick(a), step = in_step_tick(a);
	bool now;

	supervised_look(a);
	last_words_tick(a);
	a->news = false;
	now = over(a, wait_s);
	if (session < again)
		again = session;
	if (idle < again)
		again = idle;
	if (callers < again)
		again = callers;
	if (step < again)
		again = step;
	if (again < *wait_s)
		*wait_s = again;
	return now;
}

static int sleep_ms(const struct agent *a, double wait_s)
{
	if (somebody_deaf(a))
		return DEAF_PERIOD_MS;
	if (wait_s > NEVER_S)
		wait_s = NEVER_S;
	return wait_s <= 0 ? 0 : (int)(wait_s * 1000) + 1;
}

/* Who has not been let in yet: he may have given up waiting, and is to be counted. */
static void hear_the_last(struct agent *a)
{
	callers_accept(a);
	callers_hear(a);
	processes_sweep(a);
}

/* Who was woken hears of what happens now; who was busy, of what has happened meanwhile. */
static int wait_for_events(struct agent *a, struct epoll_event *events, int timeout)
{
	static uint64_t back;
	uint64_t before = clock_raw_ns();
	int n = epoll_wait(a->epoll, events, EVENTS, timeout);
	uint64_t now = clock_raw_ns();

	a->heard_raw_ns = now - before > ASLEEP_NS || !back ? now : back;
	back = now;
	return n;
}

void agent_serve(struct agent *a)
{
	struct epoll_event events[EVENTS];
	double wait_s = 0;

	ending_listen(hear, a);
	while (!finished(a, &wait_s)) {
		int n, timeout = 0;
		bool waits = false; /* for the disk */
		uint64_t bytes = drain_all(a);
		double flush_s = sampling_tick(a), interim_s, budget_s;

		interim_s = interim_tick(a);
		if (interim_s < flush_s)
			flush_s = interim_s;
		budget_s = budget_tick(a);
		if (budget_s < flush_s)
			flush_s = budget_s;
		if (!bytes || !urgent(a)) {
			set_sleeping(a, 1);
			/* pairs with the producers, who publish and then read sleeping */
			fence_full();
			waits = urgent(a) && sampling_is_behind(a);
			if (waits)
				sampling_wait(a);
			else if (!urgent(a))
				timeout = sleep_ms(a, flush_s < wait_s ? flush_s : wait_s);
		}
		n = wait_for_events(a, events, timeout);
		if (timeout || waits) {
			set_sleeping(a, 0);
			a->wakeups++;
		}
		for (int i = 0; i < n; i++)
			on_event(a, &events[i]);
		processes_sweep(a);
		place_again(a);
	}
	hear_the_last(a);
}
