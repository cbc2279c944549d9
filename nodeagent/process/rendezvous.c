/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/rendezvous.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/base/runtime-dir.h"
#include "nodeagent/base/util.h"

#define BACKLOG	       4096 /* as many as may wait; see also net.core.somaxconn */
#define LOOKS_AGAIN    100  /* at a lock of nobody who lives ... */
#define LOOKS_UNSIGNED 2500 /* ... of nobody yet: on a busy node who holds it may have to wait */
#define LOOK_AGAIN_NS  2000000

/* of one length: a path that has room for one has room for both */
#define SOCKET	     ".sock"
#define SOCKET_TO_BE ".soon"
#define LOCK	     ".lock"
#define HUNG	     ".hung" /* patience.h of libhook */
#define UNSEEN	     ".lost-"

/* The file that is locked must still be the one with this name. */
static int lock_file(const char *path)
{
	struct stat ours, named;

	for (int tries = 0; tries < 100; tries++) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			int error = -errno;

			close(fd);
			return error;
		}
		if (!fstat(fd, &ours) && !stat(path, &named) && ours.st_ino == named.st_ino)
			return fd;
		close(fd);
	}
	return -EBUSY;
}

static void read_owner(const char *path, char *out, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, bytes - 1) : 0;

	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

/* False: the lock is held only for a moment, by a search for files of killed agents. */
static bool owner_lives(const char *owner)
{
	int pid = atoi(owner);

	return pid > 0 && (!kill(pid, 0) || errno != ESRCH);
}

/* As lock_file(); owner: the process that has the lock, or empty. */
static int lock_session(const char *path, char *owner, size_t bytes)
{
	const struct timespec pause = {0, LOOK_AGAIN_NS};
	int fd;

	owner[0] = '\0';
	for (int looks = 0; (fd = lock_file(path)) == -EWOULDBLOCK; looks++) {
		read_owner(path, owner, bytes);
		if (owner_lives(owner) || looks >= (owner[0] ? LOOKS_AGAIN : LOOKS_UNSIGNED))
			break;
		nanosleep(&pause, NULL);
	}
	return fd;
}

/* The socket has its name when it is served, not before: who sees it can connect. */
static int listen_at(const char *path, char **error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t kind;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		*error = xasprintf(
			"socket path %s is longer than %zu bytes; set VFTR_RUNTIME_DIR to a "
			"shorter directory",
			path, sizeof(address.sun_path) - 1);
		return -1;
	}
	strcpy(address.sun_path, path);
	kind = strlen(path) - strlen(SOCKET);
	strcpy(address.sun_path + kind, SOCKET_TO_BE);
	/* we hold the lock: sockets that are there belong to nobody alive */
	unlink(path);
	unlink(address.sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
		chmod(address.sun_path, 0600) || listen(fd, BACKLOG) ||
		rename(address.sun_path, path)) {
		*error = xasprintf("cannot listen on %s: %s", path, strerror(errno));
		if (fd >= 0) {
			unlink(address.sun_path);
			close(fd);
		}
		return -1;
	}
	return fd;
}

static void sweep_directory(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		char *lock, *sock, *soon, owner[32];
		int fd = -1;

		if (n < 6 || strcmp(e->d_name + n - 5, LOCK))
			continue;
		lock = xasprintf("%s/%s", dir, e->d_name);
		sock = xasprintf("%s/%.*s" SOCKET, dir, (int)n - 5, e->d_name);
		soon = xasprintf("%s/%.*s" SOCKET_TO_BE, dir, (int)n - 5, e->d_name);
		read_owner(lock, owner, sizeof(owner));
		if (!owner_lives(owner)) /* else one among many need not be touched */
			fd = lock_file(lock);
		/* without a name in it, for it is not the dead one that has the lock now */
		if (fd >= 0 && !ftruncate(fd, 0)) {
			unlink(sock);
			unlink(soon);
			unlink(lock);
		}
		if (fd >= 0)
			close(fd);
		free(lock);
		free(sock);
		free(soon);
	}
	if (d)
		closedir(d);
}

void session_sweep(void)
{
	char *error = NULL, *dir = runtime_directory(&error);

	if (dir)
		sweep_directory(dir);
	free(dir);
	free(error);
}

void session_sign(struct host *host)
{
	char pid[64];

	/* whether the lock is held is what counts; the lines are for messages and patience.c */
	snprintf(pid, sizeof(pid), "%d\n%.0f\n", (int)getpid(), 1e3 * host->conf->shm_block_most_s);
	if (ftruncate(host->lock, 0) || pwrite(host->lock, pid, strlen(pid), 0) < 0)
		host_warn(host, false, "cannot write %s: %s", host->lock_path, strerror(errno));
}

int session_open(struct host *host, char **error)
{
	char *dir = runtime_directory(error), owner[32];

	if (!dir)
		return -1;
	sweep_directory(dir);
	host->lock_path = xasprintf("%s/%s" LOCK, dir, host->session);
	host->socket_path = xasprintf("%s/%s" SOCKET, dir, host->session);
	free(dir);
	host->lock = lock_session(host->lock_path, owner, sizeof(owner));
	if (host->lock == -EWOULDBLOCK) {
		*error = xasprintf("another agent (pid %s) serves session `%s' on this node",
			owner[0] ? owner : "unknown", host->session);
		return 1;
	}
	if (host->lock < 0) {
		*error = xasprintf("cannot lock %s: %s", host->lock_path, strerror(-host->lock));
		return -1;
	}
	session_sign(host);
	session_lives(host);
	session_unseen(host); /* by an earlier agent */
	host->listener = listen_at(host->socket_path, error);
	return host->listener < 0 ? -1 : 0;
}

/* DIRECTORY/SESSION and this behind it. */
static char *beside_socket(const struct host *host, const char *behind)
{
	return xasprintf("%.*s%s", (int)(strlen(host->socket_path) - strlen(SOCKET)),
		host->socket_path, behind);
}

void session_lives(const struct host *host)
{
	char *mark = host->socket_path ? beside_socket(host, HUNG) : NULL;

	if (mark)
		unlink(mark);
	free(mark);
}

unsigned session_unseen(const struct host *host)
{
	char *path = host->socket_path ? beside_socket(host, UNSEEN) : NULL, *name;
	unsigned n = 0;
	struct dirent *e;
	DIR *d;

	if (!path)
		return 0;
	name = strrchr(path, '/');
	*name++ = '\0';
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (!strncmp(e->d_name, name, strlen(name)))
			n += !unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	free(path);
	return n;
}

static void close_socket(struct host *host)
{
	session_lives(host);
	if (host->listener >= 0) {
		unlink(host->socket_path);
		close(host->listener);
		host->listener = -1;
	}
}

void session_release(struct host *host)
{
	if (host->lock >= 0) {
		unlink(host->lock_path);
		close(host->lock);
		host->lock = -1;
	}
}

void session_close(struct host *host)
{
	close_socket(host);
	session_release(host);
}

void session_leave(struct host *host)
{
	char *path;

	close_socket(host);
	if (host->lock < 0)
		return;
	path = xasprintf("%.*s.writes-%d" LOCK, (int)(strlen(host->lock_path) - strlen(LOCK)),
		host->lock_path, (int)getpid());
	if (rename(host->lock_path, path)) {
		free(path);
		session_release(host);
		return;
	}
	free(host->lock_path);
	host->lock_path = path;
}

int session_accept(struct host *host, int *pid)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int fd;

	while ((fd = accept4(host->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
			peer.uid == geteuid()) {
			*pid = peer.pid;
			return fd;
		}
		host_warn(host, true, "refused a connection of another user (uid %u)",
			(unsigned)peer.uid);
		close(fd);
	}
	return -errno;
}
