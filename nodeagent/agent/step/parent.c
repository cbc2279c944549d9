/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process that the launcher takes for the first task of its node. It runs COMMAND and
 * passes signals on; then it keeps the step from being over until the agent has written.
 * The agent says how long that is, and must say so again and again: whatever becomes of it,
 * this process ends as COMMAND did.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/step/internal.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/base/util.h"

#define START_S	  30.0 /* for the agent to begin; then COMMAND runs without it */
#define SILENCE_S 15.0 /* ... and to say something after COMMAND's end */

struct parent {
	const struct in_step *step;
	int signals;
	pid_t command, agent; /* 0: has ended */
	int status, agent_status;
	bool ready, ended, let_go;
	bool alone; /* who signals this process does not mean COMMAND, too */
	double until;
};

static void command_ended(struct parent *p, int status)
{
	const struct in_step_message m = {IN_STEP_ENDED, status};

	p->ended = true;
	p->status = status;
	p->until = transport_now() + SILENCE_S;
	send(p->step->link, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void reap(struct parent *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == p->command) {
			command_ended(p, status);
		} else if (pid == p->agent) {
			p->agent = 0;
			p->agent_status = status;
		}
	}
}

/* Most launchers send signals to a task's process group, so that COMMAND has got it. */
static void pass_on(const struct parent *p, const struct signalfd_siginfo *i)
{
	const struct in_step_message hurry = {IN_STEP_HURRY, 0};
	bool launcher = i->ssi_pid == (uint32_t)getppid() && getpgrp() == getpid();
	bool to_group = i->ssi_code == SI_KERNEL || (launcher && !p->alone) ||
			i->ssi_pid == (uint32_t)p->command;

	if (!p->command) /* it would have ended the task */
		exit(128 + (int)i->ssi_signo);
	if (!p->ended && !to_group)
		kill(p->command, (int)i->ssi_signo);
	/* the agent is in another process group, and SIGKILL may follow */
	if (p->agent && i->ssi_signo == SIGTERM)
		send(p->step->link, &hurry, sizeof(hurry), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void on_signals(struct parent *p)
{
	struct signalfd_siginfo i;

	while (read(p->signals, &i, sizeof(i)) == sizeof(i)) {
		if (i.ssi_signo == SIGCHLD)
			reap(p);
		else if (i.ssi_signo != SIGCONT && i.ssi_signo != SIGURG && i.ssi_signo != SIGTSTP)
			pass_on(p, &i);
	}
}

static void on_link(struct parent *p)
{
	struct in_step_message m;

	while (recv(p->step->link, &m, sizeof(m), MSG_DONTWAIT) == sizeof(m)) {
		switch (m.kind) {
		case IN_STEP_READY:
			p->ready = true;
			break;
		case IN_STEP_WAIT:
			p->until = transport_now() + m.value;
			break;
		case IN_STEP_LET_GO:
			p->let_go = true;
			break;
		}
	}
}

static void wait_for_news(struct parent *p)
{
	double left = p->until - transport_now();
	struct pollfd f[] = {{.fd = p->signals, .events = POLLIN},
		{.fd = p->agent ? p->step->link : -1, .events = POLLIN}};

	if (poll(f, 2, left > 0 ? (int)(left * 1000) + 1 : 0) > 0 && f[1].revents & POLLIN)
		on_link(p);
	/* what SIGCHLD tells comes after what the agent has said before */
	on_signals(p);
	if (f[1].revents & POLLHUP)
		poll(f, 1, 50);
}

/*
 * Closes COMMAND's files, so that their readers see their end. The socket of the launcher
 * stays open until we end: MPICH's takes its end for a death, and would kill us too early.
 */
static void let_go_of_files(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (null > STDERR_FILENO)
		close(null);
}

static void run_command(struct parent *p, const struct launch *l)
{
	int error;

	p->command = launch_child(l->command, SIGKILL, &error);
	let_go_of_files();
	if (p->command > 0)
		return;
	complain("cannot run %s: %s", l->command[0], strerror(error ? error : errno));
	command_ended(p, launch_not_run_status(error) << 8);
}

/* Ends this process in the way COMMAND ended. */
_Noreturn static void end_as(int status)
{
	const struct rlimit none = {0, 0};
	sigset_t one;

	if (!WIFSIGNALED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none); /* COMMAND has left its own */
	signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, WTERMSIG(status));
	kill(getpid(), WTERMSIG(status));
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	_exit(128 + WTERMSIG(status));
}

_Noreturn void in_step_parent(
	const struct in_step *s, const struct launch *l, const char *session, pid_t agent)
{
	struct parent p = {.step = s,
		.agent = agent,
		.until = transport_now() + START_S,
		.alone = s->step.launcher && !strcmp(s->step.launcher, "srun") && step_has_group()};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_DFL); /* where it is ignored, nobody can wait */
	p.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	while (!p.ready && p.agent && transport_now() < p.until)
		wait_for_news(&p);
	if (!p.ready && !p.agent && WIFEXITED(p.agent_status)) {
		in_step_append(s->list, IN_STEP_FAILED); /* it has said why */
		exit(OWN_FAILURE);
	}
	if (!p.ready) {
		complain("the agent of session `%s' did not start; task %d runs untraced", session,
			s->step.rank);
		setenv("VFTR_OFF", "1", 1);
	}
	run_command(&p, l);
	while (!p.ended) {
		p.until = transport_now() + 3600;
		wait_for_news(&p);
	}
	while (p.ready && p.agent && !p.let_go && transport_now() < p.until)
		wait_for_news(&p);
	if (p.ready && p.agent && !p.let_go)
		complain("the agent of session `%s' says nothing for %.0f s; it is left behind",
			session, SILENCE_S);
	else if (!p.agent && WIFSIGNALED(p.agent_status))
		complain("the agent of session `%s' was ended by signal %d (%s)", session,
			WTERMSIG(p.agent_status), strsignal(WTERMSIG(p.agent_status)));
	if (!p.agent && p.agent_status) { /* by a signal, or its proxy says so */
		meeting_end(s);
		unlink(s->list);
		if (s->first)
			unlink(s->first);
	}
	if (!p.status && l->require_profile && (!p.ready || (!p.agent && p.agent_status))) {
		complain(REQUIRED_PROFILE);
		p.status = OWN_FAILURE << 8;
	}
	end_as(p.status);
}
