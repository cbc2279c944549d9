/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
#include "nodeagent/agent.h"
#include "nodeagent/util.h"
#include "shm/runtime-dir.h"

#define BACKLOG	       4096 /* as many as may wait; see also net.core.somaxconn */
#define LOOKS_AGAIN    100  /* at a lock of nobody who lives ... */
#define LOOKS_UNSIGNED 2500 /* ... of nobody yet: on a busy node who holds it may have to wait */
#define LOOK_AGAIN_NS  2000000

/* of one length: a path that has room for one has room for both */
#define SOCKET	     ".sock"
#define SOCKET_TO_BE ".soon"
#define HUNG	     ".hung" /* patience.h of libhook */
#define UNSEEN	     ".lost-"

char *runtime_directory(char **error)
{
	char dir[PATH_MAX], passed[PATH_MAX];
	const char *why = NULL;
	static bool said;
	struct stat st;

	*error = NULL;
	if (runtime_dir(dir, passed, sizeof(dir)))
		why = strerror(ENAMETOOLONG);
	else if (mkdir(dir, 0700) && errno != EEXIST)
		why = strerror(errno);
	else if (lstat(dir, &st))
		why = strerror(errno);
	else if (!S_ISDIR(st.st_mode))
		why = "it is not a directory";
	else if (st.st_uid != geteuid())
		why = "it belongs to another user";
	else if (st.st_mode & 077)
		why = "others may enter it (it must have mode 0700)";
	if (why) {
		*error = xasprintf("runtime directory %s: %s", dir, why);
		return NULL;
	}
	if (passed[0] && !said && !lstat(passed, &st) && st.st_uid != geteuid())
		complain("%s belongs to another user (uid %u); %s is used instead", passed,
			(unsigned)st.st_uid, dir);
	else if (passed[0] && !said)
		complain("there can be no %s; %s is used instead", passed, dir);
	said |= passed[0];
	return xstrdup(dir);
}

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

/* Who looks for files that killed agents have left holds any lock for a moment. */
static bool owner_lives(const char *owner)
{
	int pid = atoi(owner);

	return pid > 0 && (!kill(pid, 0) || errno != ESRCH);
}

/* As lock_file(); owner: who has it, or empty. */
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

static void sweep(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		size_t n = strlen(e->d_name);
		char *lock, *sock, *soon, owner[32];
		int fd = -1;

		if (n < 6 || strcmp(e->d_name + n - 5, ".lock"))
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
		sweep(dir);
	free(dir);
	free(error);
}

void session_sign(struct agent *a)
{
	char pid[64];

	/* whether the lock is held is what counts; the lines are for messages and patience.c */
	snprintf(pid, sizeof(pid), "%d\n%.0f\n", (int)getpid(), 1e3 * a->conf->shm_block_most_s);
	if (ftruncate(a->lock, 0) || pwrite(a->lock, pid, strlen(pid), 0) < 0)
		agent_warn(a, false, "cannot write %s: %s", a->lock_path, strerror(errno));
}

int session_open(struct agent *a, char **error)
{
	char *dir = runtime_directory(error), owner[32];

	if (!dir)
		return -1;
	sweep(dir);
	a->lock_path = xasprintf("%s/%s.lock", dir, a->session);
	a->socket_path = xasprintf("%s/%s" SOCKET, dir, a->session);
	free(dir);
	a->lock = lock_session(a->lock_path, owner, sizeof(owner));
	if (a->lock == -EWOULDBLOCK) {
		*error = xasprintf("another agent (pid %s) serves session `%s' on this node",
			owner[0] ? owner : "unknown", a->session);
		return 1;
	}
	if (a->lock < 0) {
		*error = xasprintf("cannot lock %s: %s", a->lock_path, strerror(-a->lock));
		return -1;
	}
	session_sign(a);
	session_lives(a);
	session_unseen(a); /* by an earlier agent */
	a->listener = listen_at(a->socket_path, error);
	return a->listener < 0 ? -1 : 0;
}

/* DIRECTORY/SESSION and this behind it. */
static char *beside_socket(const struct agent *a, const char *behind)
{
	return xasprintf(
		"%.*s%s", (int)(strlen(a->socket_path) - strlen(SOCKET)), a->socket_path, behind);
}

void session_lives(const struct agent *a)
{
	char *mark = a->socket_path ? beside_socket(a, HUNG) : NULL;

	if (mark)
		unlink(mark);
	free(mark);
}

unsigned session_unseen(const struct agent *a)
{
	char *path = a->socket_path ? beside_socket(a, UNSEEN) : NULL, *name;
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

void session_close(struct agent *a)
{
	session_lives(a);
	if (a->listener >= 0) {
		unlink(a->socket_path);
		close(a->listener);
		a->listener = -1;
	}
	if (a->lock >= 0) {
		unlink(a->lock_path);
		close(a->lock);
		a->lock = -1;
	}
}

int session_accept(struct agent *a, int *pid)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	int fd;

	while ((fd = accept4(a->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
			peer.uid == geteuid()) {
			*pid = peer.pid;
			return fd;
		}
		agent_warn(a, true, "refused a connection of another user (uid %u)",
			(unsigned)peer.uid);
		close(fd);
	}
	return -errno;
}
