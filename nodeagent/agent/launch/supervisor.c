/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parent of COMMAND and of the agent. All signals are blocked and read from a
 * descriptor; what does not come from the terminal, which COMMAND is at as well, is
 * passed on. Where COMMAND is stopped by job control the supervisor stops, too: that is
 * what its caller sees.
 */
#include "nodeagent/agent/launch/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/net/ending.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/sandbox/sandbox.h"
#include "nodeagent/base/util.h"

#define LOOK_MS		250 /* how often we ask whether the agent does anything */
#define HELD_MAX	64
#define LEAST_S		2.0 /* an agent that is idle for less may be waiting for another */
#define KEEP_S		1.0 /* before SIGKILL */
#define GENERATIONS_MAX 64  /* between COMMAND and a process that signals us */

struct supervisor {
	const struct supervision *what;
	pid_t command, agent;
	pid_t standby; /* the copy of an agent that was killed, which writes results; or 0 */
	bool written;  /* ... and has written them */
	int link, signals;
	int status;	  /* COMMAND's, as from waitpid() */
	int agent_status; /* the same */
	bool started, ended, asked, hurried, leaves;
	struct signalfd_siginfo held[HELD_MAX]; /* came before COMMAND was there */
	unsigned n_held;
	uint64_t work; /* of the agent, when we last looked */
	double works_since;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell_agent(struct supervisor *s, enum supervision_kind kind, int value, int fd)
{
	struct supervision_message m = {kind, value};
	struct iovec part = {&m, sizeof(m)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(int));
	}
	if (s->link >= 0 && sendmsg(s->link, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* it has ended, which SIGCHLD tells */
}

/* ---- COMMAND ---------------------------------------------------------------- */

static void say_not_run(const char *name, int error)
{
	bool here = error == ENOENT && !strchr(name, '/') && !access(name, X_OK);

	complain("cannot run %s: %s%s%s", name, strerror(error),
		here ? "; for the one of this directory write ./" : "", here ? name : "");
}

/* Closes the files that COMMAND has, so that their readers see their end when it ends. */
static void let_go(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	launch_close_inherited();
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

static void pass_on(struct supervisor *s, const struct signalfd_siginfo *i);
static void wait_for_agent(struct supervisor *s, const char *does);

static void run_command(struct supervisor *s)
{
	char *const *argv = s->what->command();
	int when_we_die = 0, error, pidfd;

	/* who asked for our end with his would have asked for COMMAND's */
	if (prctl(PR_GET_PDEATHSIG, &when_we_die) || when_we_die != SIGKILL)
		when_we_die = 0;
	s->command = launch_child(argv, when_we_die, &error);
	if (s->command < 0) {
		say_not_run(argv[0], error ? error : errno);
		close(s->link); /* the agent ends */
		s->link = -1;
		wait_for_agent(s, "was to write a profile");
		exit(launch_not_run_status(error));
	}
	s->started = true;
	pidfd = (int)syscall(SYS_pidfd_open, s->command, 0);
	tell_agent(s, SUPERVISION_STARTED, s->command, pidfd);
	if (pidfd >= 0)
		close(pidfd);
	let_go();
	for (unsigned i = 0; i < s->n_held; i++)
		pass_on(s, &s->held[i]);
}

static void run_untraced(struct supervisor *s)
{
	setenv("VFTR_OFF", "1", 1);
	run_command(s);
}

/* ---- signals ---------------------------------------------------------------- */

static bool is_of_terminal(int signal)
{
	switch (signal) {
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGWINCH:
		return true;
	case SIGHUP: /* where the line is cut, the leader of the session alone gets it */
		return getsid(0) != getpid();
	default:
		return false;
	}
}

static bool ends(int signal)
{
	return signal == SIGINT || signal == SIGQUIT || signal == SIGHUP || signal == SIGTERM;
}

/* kill(0, ...) in COMMAND or below it has reached COMMAND by itself. */
static bool is_from_command(const struct supervisor *s, pid_t sender)
{
	for (int i = 0; sender > 1 && i < GENERATIONS_MAX; i++) {
		if (sender == s->command)
			return true;
		sender = procfs_parent(sender);
	}
	return false;
}

static void pass_on(struct supervisor *s, const struct signalfd_siginfo *i)
{
	int signal = (int)i->ssi_signo;

	if (signal == SIGCONT && !procfs_is_stopped(s->command))
		return; /* all of the group got it */
	if (ends(signal) && !is_from_command(s, (pid_t)i->ssi_pid)) {
		if (signal == SIGTERM)
			ending_begin();
		tell_agent(s, SUPERVISION_SIGNAL, signal, -1);
	}
	if (i->ssi_code == SI_KERNEL && is_of_terminal(signal))
		return;
	if (i->ssi_code == SI_QUEUE)
		sigqueue(s->command, signal, (union sigval){.sival_ptr = (void *)i->ssi_ptr});
	else if (i->ssi_code == SI_KERNEL || !is_from_command(s, (pid_t)i->ssi_pid))
		kill(s->command, signal);
}

/* Stop as COMMAND has; we go on here when somebody continues us. */
static void stop_as(int signal)
{
	struct sigaction usual = {.sa_handler = SIG_DFL}, old;
	sigset_t one, pending, mask;

	sigpending(&pending);
	if (sigismember(&pending, SIGCONT)) /* it is over already */
		return;
	if (signal != SIGSTOP)
		sigaction(signal, &usual, &old);
	kill(getpid(), signal);
	sigemptyset(&one);
	sigaddset(&one, signal);
	sigprocmask(SIG_UNBLOCK, &one, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (signal != SIGSTOP)
		sigaction(signal, &old, NULL);
}

static bool in_foreground(void)
{
	int terminal = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	bool yes = terminal >= 0 && tcgetpgrp(terminal) == getpgrp();

	if (terminal >= 0)
		close(terminal);
	return yes;
}

static void on_stop(struct supervisor *s, int signal)
{
	if (!procfs_is_stopped(s->command))
		return;
	/* who stops COMMAND alone in a batch job will continue it alone, too */
	if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU || in_foreground())
		stop_as(signal);
}

static void on_child(struct supervisor *s)
{
	siginfo_t info = {0};
	int status;

	if (s->agent > 0 && waitpid(s->agent, &status, WNOHANG) == s->agent) {
		s->agent = 0;
		s->agent_status = status;
	}
	if (!s->started || s->ended)
		return;
	info.si_pid = 0;
	if (!waitid(P_PID, (id_t)s->command, &info, WSTOPPED | WNOHANG) && info.si_pid)
		on_stop(s, info.si_status);
	info.si_pid = 0;
	/* it stays until we exit: the agent asks the kernel for its status, too */
	if (waitid(P_PID, (id_t)s->command, &info, WEXITED | WNOWAIT | WNOHANG) || !info.si_pid)
		return;
	s->ended = true;
	s->status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
	tell_agent(s, SUPERVISION_ENDED, s->status, -1);
}

/* Before COMMAND runs, a signal that would have ended it ends us. */
static void before_command(struct supervisor *s, const struct signalfd_siginfo *i)
{
	int signal = (int)i->ssi_signo;

	switch (signal) {
	case SIGINT:
	case SIGQUIT:
	case SIGHUP:
	case SIGTERM:
		if (launch_ignored(signal))
			return;
		if (s->agent > 0)
			kill(s->agent, SIGKILL);
		complain("ended by signal %d (%s) before COMMAND was run", signal,
			strsignal(signal));
		exit(128 + signal);
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
		stop_as(signal);
		return;
	case SIGCONT:
	case SIGWINCH:
	case SIGURG:
		return;
	default:
		if (s->n_held < HELD_MAX)
			s->held[s->n_held++] = *i;
	}
}

/* COMMAND has ended, the agent writes: the first one tells it, with the second we go. */
static void after_command(struct supervisor *s, int signal)
{
	if (!ends(signal))
		return;
	s->leaves = s->hurried;
	s->hurried = true;
	if (signal == SIGTERM)
		ending_begin();
	tell_agent(s, SUPERVISION_HURRY, signal, -1);
}

static void on_signals(struct supervisor *s)
{
	struct signalfd_siginfo i;

	while (!s->leaves && read(s->signals, &i, sizeof(i)) == sizeof(i)) {
		if (i.ssi_signo == SIGCHLD)
			on_child(s);
		else if (i.ssi_pid == (uint32_t)getpid() && i.ssi_code == SI_USER)
			continue; /* nobody reads what we say */
		else if (!s->started)
			before_command(s, &i);
		else if (s->ended)
			after_command(s, (int)i.ssi_signo);
		else
			pass_on(s, &i);
	}
}

/* ---- the agent -------------------------------------------------------------- */

static void on_link(struct supervisor *s)
{
	struct supervision_message m;
	ssize_t n = recv(s->link, &m, sizeof(m), MSG_DONTWAIT);

	if (n == sizeof(m) && m.kind == SUPERVISION_RUN) {
		s->asked = true;
	} else if (n == sizeof(m) && m.kind == SUPERVISION_REPLACE) {
		s->standby = m.value;
		if (s->ended) /* the agent may have read it */
			tell_agent(s, SUPERVISION_ENDED, s->status, -1);
	} else if (n == sizeof(m) && m.kind == SUPERVISION_WRITTEN) {
		s->written = true;
	} else if (n == 0 || (n < 0 && errno != EAGAIN)) { /* its end is told by SIGCHLD */
		close(s->link);
		s->link = -1;
	}
}

/* Seconds for which the agent has not done anything. One that is stopped is continued. */
static double idle_s(struct supervisor *s)
{
	const pid_t writes = s->agent > 0 ? s->agent : s->standby;
	uint64_t work = writes ? procfs_work(writes) : s->work;

	if (s->agent > 0 && procfs_is_stopped(s->agent))
		kill(s->agent, SIGCONT);
	if (!work || work != s->work) /* 0: the kernel does not tell */
		s->works_since = now_s();
	s->work = work;
	return now_s() - s->works_since;
}

static void wait_for_news(struct supervisor *s, int timeout_ms)
{
	struct pollfd p[] = {
		{.fd = s->signals, .events = POLLIN}, {.fd = s->link, .events = POLLIN}};

	if (poll(p, 2, timeout_ms) <= 0)
		return;
	if (p[1].revents)
		on_link(s);
	if (p[0].revents)
		on_signals(s);
}

/* Serves until COMMAND runs; exits if it is not to run. */
static void start(struct supervisor *s)
{
	s->works_since = now_s();
	while (!s->asked && s->agent > 0) {
		wait_for_news(s, LOOK_MS);
		if (s->agent > 0 && idle_s(s) > s->what->patience_s) {
			complain("the agent has done nothing for %.0f s; COMMAND runs untraced",
				s->what->patience_s);
			kill(s->agent, SIGKILL);
			run_untraced(s);
			return;
		}
	}
	if (s->asked) {
		run_command(s);
	} else if (WIFSIGNALED(s->agent_status)) {
		complain("signal %d (%s) ended the agent before COMMAND was run, which runs "
			 "untraced",
			WTERMSIG(s->agent_status), strsignal(WTERMSIG(s->agent_status)));
		run_untraced(s);
		if (!s->what->require_profile)
			s->agent_status = 0;
	} else {
		exit(launch_exit_status(s->agent_status));
	}
}

static void wait_for_agent(struct supervisor *s, const char *does)
{
	s->works_since = now_s();
	ending_writes();
	/* its proxy may be what we know and be dead: then the socket tells */
	while ((s->agent > 0 || s->link >= 0) && !s->leaves) {
		double idle = idle_s(s);

		if (idle > s->what->patience_s ||
			(idle > LEAST_S && ending_left(KEEP_S, 0) < KEEP_S)) {
			complain("what %s has done nothing for %.0f s and is left behind", does,
				idle);
			return;
		}
		wait_for_news(s, LOOK_MS);
	}
}

/* A signal ended the agent: what others have is still written. */
static void bereaved(struct supervisor *s)
{
	int signal = WTERMSIG(s->agent_status);

	complain("signal %d (%s) ended the agent%s", signal, strsignal(signal),
		s->what->bereaved ? "; the profile is made from what others have written"
		: s->written	  ? "" /* as the standby has said */
				  : ": there is no profile of this run");
	if (!s->what->bereaved)
		return;
	s->agent = fork();
	if (s->agent == 0) {
		setpgid(0, 0);
		sandbox_enter(SANDBOX_AGENT);
		exit(!s->what->bereaved(s->what->ctx));
	}
	wait_for_agent(s, "makes the profile");
}

/* The exit status of all, when nothing more comes. */
static int last_status(const struct supervisor *s)
{
	const int status = launch_exit_status(s->status);

	if (status || !s->what->require_profile || (s->agent == 0 && s->agent_status == 0))
		return status;
	complain(REQUIRED_PROFILE);
	return OWN_FAILURE;
}

static void supervisor_main(struct supervisor *s)
{
	start(s);
	while (!s->ended)
		wait_for_news(s, -1);
	wait_for_agent(s, "writes the profile");
	if (s->agent == 0 && WIFSIGNALED(s->agent_status))
		bereaved(s);
	exit(last_status(s));
}

int supervise(const struct supervision *what)
{
	static struct supervisor s;
	struct sigaction usual = {.sa_handler = SIG_DFL};
	int link[2], saved;
	sigset_t all, old;

	s = (struct supervisor){.what = what};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link))
		return -1;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	sigaction(SIGCHLD, &usual, NULL); /* where it is ignored, nobody can wait */
	s.signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	s.agent = s.signals < 0 ? -1 : fork();
	if (s.agent < 0) {
		saved = errno;
		sigprocmask(SIG_SETMASK, &old, NULL);
		close(link[0]);
		close(link[1]);
		errno = saved;
		return -1;
	}
	if (s.agent == 0) {
		close(s.signals);
		close(link[0]);
		sigprocmask(SIG_SETMASK, &old, NULL);
		supervised_begin(link[1]);
		return 0;
	}
	close(link[1]);
	s.link = link[0];
	supervisor_main(&s);
	return -1;
}
