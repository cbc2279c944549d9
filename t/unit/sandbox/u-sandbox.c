/* SPDX-License-Identifier: BSD-3-Clause */
/* What each process of a sandbox can still do, and what it cannot; each in a child. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/sandbox/sandbox.h"
#include "t/lib/suite.h"

static char *no_words[] = {NULL};

/* Status of a child that enters the sandbox and does `what`; 99: there is none. */
static int in_sandbox(enum sandbox_kind kind, int (*what)(void))
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(sandbox_enter(kind) ? what() : 99);
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "a signal ended it: %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* The number of the line if the call is not refused with EPERM. */
#define REFUSED(call)                                                                              \
	do {                                                                                       \
		errno = 0;                                                                         \
		if ((call) != -1 || errno != EPERM)                                                \
			return __LINE__;                                                           \
	} while (0)
#define WORKS(call)                                                                                \
	do {                                                                                       \
		if ((call) == -1)                                                                  \
			return __LINE__;                                                           \
	} while (0)

static void *no_thread(void *x)
{
	return x;
}

static int child_ends(void)
{
	int status;
	pid_t child = fork();

	if (!child)
		_exit(7);
	return child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? 0
											    : -1;
}

static int no_agent_needs(void)
{
	REFUSED(execve("/bin/true", no_words, no_words));
	REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", no_words, no_words, 0));
#if !defined(__SANITIZE_ADDRESS__)
	REFUSED(ptrace(PTRACE_ATTACH, getppid(), 0, 0));
#endif
	REFUSED(setuid(getuid()));
	REFUSED(setgid(getgid()));
	REFUSED(mount("none", "/nowhere", "tmpfs", 0, NULL));
	REFUSED(chroot("/nowhere"));
	REFUSED(unshare(CLONE_NEWUSER));
	REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
	REFUSED(syscall(SYS_bpf, 0, NULL, 0));
	REFUSED(syscall(SYS_userfaultfd, 0));
	REFUSED(syscall(SYS_keyctl, 0, 0, 0, 0, 0));
	REFUSED(syscall(SYS_personality, 0xffffffff));
	REFUSED(syscall(SYS_init_module, NULL, 0, ""));
	REFUSED(syscall(SYS_kexec_load, 0, 0, NULL, 0));
	REFUSED(syscall(SYS_open_by_handle_at, -1, NULL, 0));
	return 0;
}

static int all_need(void)
{
	pthread_t t;
	int fd;

	WORKS(child_ends());
	if (pthread_create(&t, NULL, no_thread, NULL) || pthread_join(t, NULL))
		return __LINE__;
	fd = memfd_create("x", 0);
	WORKS(fd);
	WORKS(write(fd, "x", 1));
	WORKS(close(fd));
	return 0;
}

/* MPI libraries take both for what is long. */
static int moves_by_mpi(void)
{
	char from = 1, to = 0;
	const struct iovec f = {&from, 1}, t = {&to, 1};

	WORKS(process_vm_writev(getpid(), &f, 1, &t, 1, 0));
	WORKS(process_vm_readv(getpid(), &t, 1, &f, 1, 0));
	return 0;
}

static int no_tool_needs(void)
{
	char from = 1, to = 0;
	const struct iovec f = {&from, 1}, t = {&to, 1};

	REFUSED(process_vm_writev(getpid(), &f, 1, &t, 1, 0));
	REFUSED(process_vm_readv(getpid(), &f, 1, &t, 1, 0));
	REFUSED(socket(AF_INET, SOCK_STREAM, 0));
	REFUSED(socket(AF_UNIX, SOCK_STREAM, 0));
	REFUSED(connect(0, NULL, 0));
#ifdef SYS_io_uring_setup
	REFUSED(syscall(SYS_io_uring_setup, 1, NULL)); /* it connects sockets, too */
#endif
	return 0;
}

static int an_agent(void)
{
	int line = no_agent_needs() ?: all_need() ?: moves_by_mpi();

	WORKS(socket(AF_UNIX, SOCK_SEQPACKET, 0));
	WORKS(kill(getppid(), 0));
	return line;
}

static int a_tool(void)
{
	return no_agent_needs() ?: no_tool_needs() ?: all_need();
}

/* There is more than kill() by which a process can be ended. */
static int ends_no_other(void)
{
	const struct rlimit none = {0, 0};
	struct rlimit now;

	REFUSED(kill(getppid(), 0));
	REFUSED(syscall(SYS_tkill, getppid(), 0));
	REFUSED(tgkill(getppid(), getppid(), 0));
	REFUSED(prlimit(getppid(), RLIMIT_NOFILE, NULL, &now));
	REFUSED(prlimit(getppid(), RLIMIT_CORE, &none, NULL));
	REFUSED(fcntl(2, F_SETOWN, getppid()));
	REFUSED(fcntl(2, F_SETSIG, SIGURG));
	REFUSED(fcntl(2, F_SETFL, O_ASYNC));
	WORKS(tgkill(getpid(), gettid(), 0));
	WORKS(getrlimit(RLIMIT_NOFILE, &now));
	WORKS(fcntl(2, F_GETFL));
	WORKS(fcntl(2, F_GETFD));
	return 0;
}

static int a_reader(void)
{
	int line = no_agent_needs() ?: no_tool_needs() ?: ends_no_other(), fd;
	void *p;

	REFUSED(fork());
	REFUSED(open("/dev/null", O_WRONLY));
	REFUSED(open("/dev/null", O_RDWR));
	REFUSED(open("/tmp/vftr-is-not-made", O_RDONLY | O_CREAT, 0600));
	REFUSED(syscall(SYS_openat2, AT_FDCWD, "/dev/null", NULL, 0));
	REFUSED(unlink("/tmp/vftr-is-not-made"));
	REFUSED(rename("/tmp/vftr-is-not-made", "/tmp/vftr-is-not-made-either"));
	REFUSED(memfd_create("x", 0));
	fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	WORKS(fd);
	p = malloc(1 << 24);
	if (!p || read(fd, p, 100) <= 0)
		return __LINE__;
	free(p);
	WORKS(close(fd));
	return line;
}

START_TEST(what_an_agent_gives_up)
{
	ck_assert_int_eq(in_sandbox(SANDBOX_AGENT, an_agent), 0);
}
END_TEST

START_TEST(what_a_tool_gives_up)
{
	ck_assert_int_eq(in_sandbox(SANDBOX_TOOL, a_tool), 0);
}
END_TEST

START_TEST(what_is_left_to_a_reader_of_one_file)
{
	ck_assert_int_eq(in_sandbox(SANDBOX_READER, a_reader), 0);
}
END_TEST

static int read_in_a_tool(void)
{
	return sandbox_enter(SANDBOX_READER) ? a_reader() : __LINE__;
}

START_TEST(a_tool_has_children_that_read)
{
	ck_assert_int_eq(in_sandbox(SANDBOX_TOOL, read_in_a_tool), 0);
}
END_TEST

static int no_privileges(void)
{
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && prctl(PR_GET_SECCOMP) == 2 ? 0 : 1;
}

START_TEST(no_new_privileges_go_with_it)
{
	ck_assert_int_eq(in_sandbox(SANDBOX_AGENT, no_privileges), 0);
}
END_TEST

/* Waits for a byte, then tries. */
static void *tries_later(void *fd)
{
	char byte;

	if (read(*(int *)fd, &byte, 1) != 1)
		return (void *)1;
	errno = 0;
	return (void *)(intptr_t)(unshare(CLONE_NEWUSER) != -1 || errno != EPERM);
}

/* As MPI libraries and libuv have them. */
START_TEST(threads_that_run_already_are_in_it)
{
	int status;
	pid_t child = fork();

	if (!child) {
		int ends[2];
		pthread_t t;
		void *failed;

		if (pipe(ends) || pthread_create(&t, NULL, tries_later, &ends[0]))
			_exit(2);
		if (!sandbox_enter(SANDBOX_AGENT) || write(ends[1], "x", 1) != 1)
			_exit(3);
		_exit(pthread_join(t, &failed) || failed ? 4 : 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sandbox");
	TCase *t = tcase_create("sandbox");

	tcase_add_test(t, what_an_agent_gives_up);
	tcase_add_test(t, what_a_tool_gives_up);
	tcase_add_test(t, what_is_left_to_a_reader_of_one_file);
	tcase_add_test(t, a_tool_has_children_that_read);
	tcase_add_test(t, no_new_privileges_go_with_it);
	tcase_add_test(t, threads_that_run_already_are_in_it);
	suite_add_tcase(s, t);
	return run_suite(s);
}
