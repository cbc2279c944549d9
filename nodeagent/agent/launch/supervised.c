/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent's side of supervisor.h: COMMAND is a child of another process. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/agent/launch/supervisor.h"

static int link_fd = -1, end_fd = -1;
static pid_t supervisor_pid;
static bool alone; /* it was killed */
static bool gone;  /* COMMAND, as the kernel says */

void supervised_begin(int link)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	link_fd = link;
	supervisor_pid = getppid();
	prctl(PR_SET_NAME, "vftr-agent"); /* who signals us by name means COMMAND */
	setpgid(0, 0);			  /* what the terminal sends is not for us */
	signal(SIGTTOU, SIG_IGN);	  /* and what we say may be said */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		if (null > STDERR_FILENO)
			close(null);
	}
}

bool supervised_is(void)
{
	return link_fd >= 0;
}

void supervised_replace(void)
{
	const struct supervision_message m = {SUPERVISION_REPLACE, getpid()};

	if (link_fd >= 0 && send(link_fd, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		supervised_leave(); /* nobody waits for us */
}

void supervised_has_written(void)
{
	const struct supervision_message m = {SUPERVISION_WRITTEN, 0};

	if (link_fd >= 0 && send(link_fd, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		supervised_leave();
}

void supervised_leave(void)
{
	if (link_fd >= 0)
		close(link_fd);
	link_fd = -1;
}

int supervised_link(void)
{
	return link_fd;
}

int supervised_end(void)
{
	return end_fd;
}

/* A packet, or false: none is there, or the supervisor is gone. */
static bool receive_packet(struct supervision_message *m, int flags)
{
	struct iovec part = {m, sizeof(*m)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(link_fd, &message, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		alone = true;
	if (n != sizeof(*m))
		return false;
	c = CMSG_FIRSTHDR(&message);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&end_fd, CMSG_DATA(c), sizeof(int));
	return true;
}

/* Closes our copy of COMMAND's standard output, which would keep its reader waiting. */
static void leave_output(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

int supervised_run(struct agent *a)
{
	struct supervision_message m = {SUPERVISION_RUN, 0};

	if (send(link_fd, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m) || !receive_packet(&m, 0) ||
		m.kind != SUPERVISION_STARTED)
		return -1;
	a->command = m.value;
	launch_close_inherited();
	leave_output();
	return 0;
}

static void ended(struct agent *a, int status)
{
	a->command = 0;
	a->command_status = status;
	a->told_to_stop = true;
}

/* COMMAND, too, has the signal. */
static void asked(struct agent *a, int signal)
{
	if (signal == SIGTERM)
		ending_begin();
	a->asked_to_end = signal;
}

static void hurry(struct agent *a, int signal)
{
	if (signal == SIGTERM)
		ending_begin();
	a->told_to_stop = a->at_once = true;
}

void supervised_news(struct agent *a)
{
	struct supervision_message m;

	while (link_fd >= 0 && receive_packet(&m, MSG_DONTWAIT)) {
		if (m.kind == SUPERVISION_ENDED)
			ended(a, m.value);
		else if (m.kind == SUPERVISION_SIGNAL)
			asked(a, m.value);
		else if (m.kind == SUPERVISION_HURRY)
			hurry(a, m.value);
	}
	if (!alone || link_fd < 0)
		return;
	if (a->host.epoll > 0) /* copies of us have it open, too */
		epoll_ctl(a->host.epoll, EPOLL_CTL_DEL, link_fd, NULL);
	close(link_fd);
	link_fd = -1;
	if (gone)
		supervised_ended(a);
}

void supervised_ended(struct agent *a)
{
	int status = 0;

	gone = true;
	if (link_fd >= 0) { /* it will tell us; also if somebody has stopped it */
		kill(supervisor_pid, SIGCONT);
		return;
	}
	if (a->command) {
		procfs_exit_status(end_fd, a->command, &status);
		ended(a, status);
	}
}

void supervised_look(struct agent *a)
{
	if (a->command && alone && end_fd < 0 && kill(a->command, 0) && errno == ESRCH)
		ended(a, 0);
}
