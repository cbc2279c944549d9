/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one sentence that the library itself writes: on the standard error that the
 * program was started with, or not at all. It never waits, and raises no signal.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "libhook/process.h"
#include "shm/system.h"

#define RWF_DO_NOT_WAIT 8 /* RWF_NOWAIT of linux/fs.h */
#define SIGSET_BYTES	8 /* of the kernel's */

static struct stat at_start;
static enum { NOT_LOOKED, IS_OPEN, IS_CLOSED } standard_error;

/* A file that the program opens as descriptor 2 later is its own, and may hold its data. */
__attribute__((constructor)) static void look(void)
{
	busy_begin(&vftr_thread); /* it is no call of the program's */
	if (standard_error == NOT_LOOKED)
		standard_error = sys_fstat(STDERR_FILENO, &at_start) ? IS_CLOSED : IS_OPEN;
	busy_end(&vftr_thread);
}

static bool is_as_at_start(void)
{
	struct stat now;

	look(); /* of a constructor that came before ours */
	return standard_error == IS_OPEN && !sys_fstat(STDERR_FILENO, &now) &&
	       now.st_dev == at_start.st_dev && now.st_ino == at_start.st_ino &&
	       now.st_rdev == at_start.st_rdev;
}

static ssize_t write_at_once(char *line, size_t n)
{
	struct iovec part = {line, n};
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	const struct timespec now = {0, 0};
	ssize_t written;

	if (S_ISSOCK(at_start.st_mode))
		return syscall(
			SYS_sendto, STDERR_FILENO, line, n, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
	if (syscall(SYS_ppoll, &out, 1, &now, NULL, 0) != 1 || !(out.revents & POLLOUT))
		return -1; /* a pipe that is full, a terminal that was stopped */
	written =
		syscall(SYS_pwritev2, STDERR_FILENO, &part, 1, (long)-1, (long)-1, RWF_DO_NOT_WAIT);
	if (written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL ||
				   (errno == EAGAIN && S_ISREG(at_start.st_mode))))
		written = syscall(SYS_write, STDERR_FILENO, line, n);
	return written;
}

/*
 * If the pipe has no reader, or the file is at its limit, the calling thread gets a
 * signal that would end the program. It is blocked, and removed.
 */
static void write_quietly(char *line, size_t n)
{
	static const struct timespec now = {0, 0};
	sigset_t all, raised, old, pending;

	sigemptyset(&raised);
	sigaddset(&raised, SIGPIPE);
	sigaddset(&raised, SIGXFSZ);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* SIGTTOU, too */
	sigpending(&pending);
	/* one that waits is the program's, and could not be told from ours */
	if (!sigismember(&pending, SIGPIPE) && !sigismember(&pending, SIGXFSZ) &&
		write_at_once(line, n) < 0 && (errno == EPIPE || errno == EFBIG))
		while (syscall(SYS_rt_sigtimedwait, &raised, NULL, &now, SIGSET_BYTES) < 0 &&
			errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void say_line(char *line, size_t bytes, int n)
{
	int saved_errno = errno;

	if (n > 0 && is_as_at_start())
		write_quietly(line, (size_t)n < bytes ? (size_t)n : bytes - 1);
	errno = saved_errno;
}

const char *strerrordesc_np(int error) __attribute__((weak)); /* glibc 2.32 */

const char *vftr_error_text(int error)
{
	const char *text = strerrordesc_np ? strerrordesc_np(error) : strerror(error);

	return text ? text : "unknown error";
}

void vftr_say(const char *what, const char *more)
{
	char line[512]; /* at most PIPE_BUF: all of it or nothing */
	int n = snprintf(line, sizeof(line), "vftrace: %s%s%s; running untraced\n", what,
		more[0] ? ": " : "", more);

	say_line(line, sizeof(line), n);
}

void vftr_say_late(uint32_t ms)
{
	char line[128];
	int n = snprintf(line, sizeof(line),
		"vftrace: the agent has written nothing for %u s; Slurm may end it with the step\n",
		ms / 1000);

	say_line(line, sizeof(line), n);
}

void vftr_stay_off(const char *what, const char *more)
{
	vftr_process.state = PROCESS_OFF;
	vftr_messages_follow();
	vftr_process_gate();
	if (what && !vftr_user_has_switched_off())
		vftr_say(what, more);
}
