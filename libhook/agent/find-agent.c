/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds our agent: that of the session that we were attached to before a fork, of
 * VFTR_SESSION, of a contact that we join with, of "default", of our job, or a new
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "libhook/find-agent.h"
#include "libhook/process.h"
#include "shm/runtime-dir.h"
#include "shm/system.h"

#define LOW_DESCRIPTORS 200 /* shells and daemons use and close the lowest ones */

/* The agent's rule, too (rendezvous.c): another user with access could put a socket there. */
static int directory_is_ours(const char *directory)
{
	struct stat st;

	if (sys_lstat(directory, &st))
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 077)
		       ? 0
		       : -NOT_OUR_DIRECTORY;
}

/* A session's name is part of a file's name. */
static bool session_is_name(const char *session)
{
	return session[0] != '.' && !strchr(session, '/');
}

/* The session an agent of our own would have: one per job on this node. */
static void job_session(char *out, size_t bytes)
{
	const char *v;

	if ((v = getenv("PMIX_NAMESPACE")))
		snprintf(out, bytes, "job-%.80s", v);
	else if ((v = getenv("SLURM_JOB_ID")))
		snprintf(out, bytes, "job-%.40s.%.40s", v,
			getenv("SLURM_STEP_ID") ? getenv("SLURM_STEP_ID") : "0");
	else if (getenv("PMI_RANK"))
		snprintf(out, bytes, "job-of-%d", (int)getppid());
	else
		snprintf(out, bytes, "process-%d", (int)getpid());
	for (; *out; out++)
		if (*out == '/')
			*out = '-';
}

/* Limits the time of each call; the caller repeats it within its patience. */
static void set_slice(int fd, long us)
{
	struct timeval limit = {0, us};

	sys_setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	sys_setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* Descriptor of a connection to the agent of this session, or -errno. NULL: never waits. */
static int connect_to(const char *directory, const char *session, struct patience *patience)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int n = directory_is_ours(directory), fd, high;

	if (n)
		return n;
	n = snprintf(a.sun_path, sizeof(a.sun_path), "%s/%s.sock", directory, session);
	if (n < 0 || (size_t)n >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	fd = sys_socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	high = sys_fcntl(fd, F_DUPFD_CLOEXEC, LOW_DESCRIPTORS);
	if (high >= 0) {
		sys_close(fd);
		fd = high;
	}
	vftr_patience_of(directory, session);
	set_slice(fd, patience ? vftr_patience_slice() / 1000 : 1);
	while (sys_connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		n = -errno;
		if (patience && (n == -EAGAIN || n == -EINTR)) { /* many wait before us */
			if (vftr_patience_left(patience))
				continue;
			vftr_patience_over_unseen();
			n = vftr_patience_over() ? -ETIMEDOUT : -ECANCELED;
		}
		sys_close(fd);
		return n;
	}
	if (sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) || peer.uid != geteuid()) {
		sys_close(fd);
		return -EPERM;
	}
	return fd;
}

bool vftr_nobody_there(int error)
{
	return error == -ENOENT || error == -ECONNREFUSED || error == -ENOTDIR;
}

/* The connection of vftr_agent_expect(), if the program has not closed it and the agent lives. */
static int early(void)
{
	int fd = vftr_process.socket;

	vftr_process.socket = -1;
	if (fd < 0 || !vftr_socket_is(fd))
		return -EBADF;
	if (vftr_socket_answers(fd)) {
		set_slice(fd, vftr_patience_slice() / 1000);
		return fd;
	}
	sys_close(fd);
	return -ECONNRESET;
}

void vftr_agent_expect(void)
{
	char directory[256];
	struct stat st;
	int fd = vftr_runtime_dir(directory, NULL, sizeof(directory));

	if (!fd)
		fd = connect_to(directory, vftr_process.session, NULL);
	if (fd < 0)
		return;
	if (sys_fstat(fd, &st)) {
		sys_close(fd);
		return;
	}
	vftr_process.socket = fd;
	vftr_process.socket_inode = st.st_ino;
}

/* HOST/SESSION#KEY, or S: and that. Agents of several nodes give contacts of other forms. */
void vftr_find_agent_of(const char *contact)
{
	const char *host = contact + (strncmp(contact, "S:", 2) ? 0 : 2);
	const char *slash = strchr(host, '/'), *key = strrchr(host, '#');
	const char *named = getenv("VFTR_SESSION");
	char mine[256] = "", session[sizeof(vftr_process.session)];
	size_t bytes = slash && key > slash ? (size_t)(key - slash - 1) : 0;

	if (!bytes || bytes >= sizeof(session) || (named && named[0]))
		return;
	memcpy(session, slash + 1, bytes);
	session[bytes] = '\0';
	gethostname(mine, sizeof(mine) - 1);
	mine[strcspn(mine, ".")] = '\0';
	if (strlen(mine) != (size_t)(slash - host) || memcmp(mine, host, strlen(mine)) ||
		!session_is_name(session))
		return;
	busy_begin(&vftr_thread); /* the lock is no lock of the program */
	vftr_process_lock();
	if (vftr_process.state == PROCESS_NEW && !vftr_process.session[0])
		memcpy(vftr_process.session, session, bytes + 1);
	vftr_process_unlock();
	busy_end(&vftr_thread);
}

int vftr_agent_pid(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return sys_getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) ? 0 : (int)peer.pid;
}

int vftr_find_successor(void)
{
	char directory[256];
	int fd = vftr_runtime_dir(directory, NULL, sizeof(directory));

	if (!fd)
		fd = connect_to(directory, vftr_process.session, NULL);
	if (fd < 0)
		return fd;
	if (vftr_process.agent_pid && vftr_agent_pid(fd) == vftr_process.agent_pid) {
		sys_close(fd);
		return -EALREADY;
	}
	set_slice(fd, vftr_patience_slice() / 1000);
	return fd;
}

int vftr_find_agent(struct patience *patience)
{
	char directory[256];
	const char *named = getenv("VFTR_SESSION");
	const char *agent = getenv("VFTR_AGENT");
	struct timespec pause = {0, 2000000};
	int fd, error = vftr_runtime_dir(directory, NULL, sizeof(directory));

	fd = early();
	if (fd >= 0)
		return fd;
	if (error)
		return error;
	if (named && !session_is_name(named))
		return -NOT_A_SESSION;
	if (vftr_process.session[0]) {
		fd = connect_to(directory, vftr_process.session, patience);
		if (!vftr_nobody_there(fd))
			return fd;
	}
	snprintf(vftr_process.session, sizeof(vftr_process.session), "%.100s",
		named && named[0] ? named : "default");
	fd = connect_to(directory, vftr_process.session, patience);
	if (!vftr_nobody_there(fd) || (agent && !strcmp(agent, "off")))
		return fd;
	if (!named || !named[0])
		job_session(vftr_process.session, sizeof(vftr_process.session));
	fd = connect_to(directory, vftr_process.session, patience);
	if (!vftr_nobody_there(fd))
		return fd;
	if (vftr_process.parent_traced) /* its run is over: what it has written stays */
		return -ECANCELED;
	if (vftr_is_probe())
		return -ECANCELED;
	if (vftr_process.pid == 1) /* it would be found by wait(), and killed at our end */
		return -ECHILD;
	error = vftr_agent_spawn(vftr_process.session);
	if (error)
		return error;
	/* ours, or that of a faster rank: whoever got the lock answers */
	do {
		vftr_runtime_dir(
			directory, NULL, sizeof(directory)); /* it may have been made now */
		fd = connect_to(directory, vftr_process.session, patience);
		if (!vftr_nobody_there(fd))
			return fd;
		nanosleep(&pause, NULL);
	} while (vftr_patience_left(patience));
	return -ETIMEDOUT;
}
