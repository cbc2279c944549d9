/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting an agent when there is none, so that the application never notices:
 * no SIGCHLD, nothing for its wait() to find. A child without an exit signal,
 * seen by __WCLONE only, starts the agent as its own child and waits until that
 * has detached itself. (exec would give a direct child its SIGCHLD back.)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "libhook/process.h"
#include "shm/system.h"

#define STACK_BYTES	  (64u << 10)
#define ENVIRONMENT_BYTES (64u << 10) /* its pointers: what is beyond the agent does not get */
#define AGENT_FAILURE	  125	      /* its exit status then */

extern char **environ;

/* clone() is ours, too (interpose.c), and not meant for us. */
int __clone(int (*run)(void *), void *stack, int flags, void *argument, ...);

struct start {
	char path[4096];
	char *argv[5];
	char **envp;
	int error;
};

/* The system call, as our _exit() (interpose.c) would announce the end. */
static void __attribute__((noreturn)) leave(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static int run(void *context)
{
	struct start *s = context;

	sys_execve(s->path, s->argv, s->envp);
	s->error = errno; /* shared memory: the application sees it */
	leave(127);
}

static int run_between(void *context)
{
	struct start *s = context;
	int status = 0, pid;

	sys_setsid();
	pid = __clone(run, (char *)s - STACK_BYTES / 2, CLONE_VM | CLONE_VFORK | SIGCHLD, s);
	if (pid < 0)
		s->error = errno;
	while (pid > 0 && sys_waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	leave(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static const char *our_library; /* its file, or NULL */

/* Here, as dladdr() waits for a dlopen() of another thread, which may wait for us: in a
 * constructor. */
__attribute__((constructor(101))) static void find_our_library(void)
{
	Dl_info here;

	if (dladdr((void *)(uintptr_t)find_our_library, &here))
		our_library = here.dli_fname;
}

/* $VFTR_AGENT, or that of the prefix which our library is below, or as installed. */
static void agent_path(char *out, size_t bytes)
{
	/* from PREFIX/lib, and from PREFIX/lib/x86_64-linux-gnu */
	static const char *const beside[] = {"../bin", "../../bin"};
	const char *named = getenv("VFTR_AGENT");
	const char *slash;

	if (named && named[0]) {
		snprintf(out, bytes, "%s", named);
		return;
	}
	if (!our_library) /* in a constructor that comes before ours */
		find_our_library();
	slash = our_library ? strrchr(our_library, '/') : NULL;
	for (unsigned i = 0; slash && i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(out, bytes, "%.*s/%s/vftr-node-agent", (int)(slash - our_library),
			our_library, beside[i]);
		if (!sys_access(out, X_OK))
			return;
	}
	snprintf(out, bytes, "%s/vftr-node-agent", VFTR_BINDIR);
}

/* The environment without LD_PRELOAD: the agent traces, it is not traced. */
static char **clean_environment(char **room, size_t n)
{
	size_t k = 0;

	for (char **e = environ; e && *e && k + 1 < n; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11))
			room[k++] = *e;
	room[k] = NULL;
	return room;
}

int vftr_agent_spawn(const char *session)
{
	static char embedded[] = "--embedded", option[] = "--session";
	char name[128];
	struct start *s;
	char *memory = mmap(NULL, STACK_BYTES + sizeof(*s) + ENVIRONMENT_BYTES,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t all, old;
	int pid, error, status = 0;

	if (memory == MAP_FAILED)
		return -errno;
	s = (void *)(memory + STACK_BYTES);
	snprintf(name, sizeof(name), "%s", session);
	agent_path(s->path, sizeof(s->path));
	s->argv[0] = s->path;
	s->argv[1] = embedded;
	s->argv[2] = option;
	s->argv[3] = name;
	s->envp = clean_environment((char **)(void *)(s + 1), ENVIRONMENT_BYTES / sizeof(char *));
	/* no handler of the application may run in the child */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = __clone(run_between, memory + STACK_BYTES, CLONE_VM | CLONE_VFORK, s);
	error = pid < 0 ? -errno : -s->error;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid > 0)
		while (sys_waitpid(pid, &status, __WCLONE) < 0 && errno == EINTR)
			;
	if (!error && status) /* the agent has said why, on standard error; others do not */
		error = WIFEXITED(status) && WEXITSTATUS(status) == AGENT_FAILURE ? -ECANCELED
										  : -ENOEXEC;
	munmap(memory, STACK_BYTES + sizeof(*s) + ENVIRONMENT_BYTES);
	return error;
}
