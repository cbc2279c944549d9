/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What leaves the usual ways of a thread: signal handlers that jump out of what
 * they interrupted, tasks in the memory of a thread that has not called anything
 * yet, stacks that are small. argv[1] chooses; the calls are printed as in
 * app-signals.c, whose rounds these are.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app-leaf.h"

static volatile long jumps;
static sigjmp_buf before;

/* Its frame begins where those of others do, and ends far below. */
KEEP static void large(int n)
{
	volatile char room[8192];

	for (room[0] = 0; n--; room[n & 8191] = (char)n)
		leaf();
}

UNTRACED static void on(int signal, void (*handle)(int), int flags)
{
	struct sigaction a = {.sa_handler = handle, .sa_flags = flags};

	sigaction(signal, &a, NULL);
}

UNTRACED static void jump_out(int signal)
{
	(void)signal;
	jumps++;
	siglongjmp(before, 1);
}

UNTRACED static int round_begins(void)
{
	long more = 0;

#if defined(__x86_64__)
	__asm__ volatile("int3" : "+a"(more) : : "memory");
#endif
	return more != 0;
}

UNTRACED static void by_rounds(void)
{
	on(SIGUSR1, jump_out, 0);
	work(1);
	while (round_begins())
		if (!sigsetjmp(before, 1))
			work(EVENTS);
		else
			large(20);
}

UNTRACED static void by_timer(void)
{
	struct itimerval every = {{0, 500}, {0, 500}};

	on(SIGALRM, jump_out, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	sigsetjmp(before, 1);
	while (jumps < 600)
		leaf();
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	work(EVENTS);
}

KEEP static void deep(int depth)
{
	leaf();
	if (depth)
		deep(depth - 1);
	leaf();
}

/* Frames that were skipped as the ring was full are left without an exit. */
UNTRACED static void from_deep(void)
{
	struct itimerval every = {{0, 700}, {0, 700}};

	on(SIGALRM, jump_out, 0);
	setitimer(ITIMER_REAL, &every, NULL);
	sigsetjmp(before, 1);
	while (jumps < 300)
		deep(300);
	memset(&every, 0, sizeof(every));
	setitimer(ITIMER_REAL, &every, NULL);
	usleep(900000); /* the agent may have to wait for a CPU */
	work(EVENTS);
}

UNTRACED static void events(int signal)
{
	(void)signal;
	work(10 * EVENTS);
}

/* The first event of the process, or of a child, in a handler on a stack of its own. */
UNTRACED static void small_stack(size_t bytes, int forks)
{
	stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes};
	int status = 0;

	if (sigaltstack(&stack, NULL))
		exit(94);
	on(SIGUSR1, events, SA_ONSTACK);
	if (forks)
		work(1);
	if (!forks || fork() == 0)
		raise(SIGUSR1);
	else if (wait(&status) < 0 || status)
		exit(93);
}

UNTRACED static void on_small_stack(void)
{
	small_stack(8192, 0);
}

UNTRACED static void forked_on_small_stack(void)
{
	small_stack(8192, 1);
}

UNTRACED static void *in_thread(void *unused)
{
	(void)unused;
	work(EVENTS);
	return NULL;
}

UNTRACED static void thread(const pthread_attr_t *attributes)
{
	pthread_t t;

	if (pthread_create(&t, attributes, in_thread, NULL) || pthread_join(t, NULL))
		exit(94);
}

UNTRACED static void small_thread(void)
{
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, PTHREAD_STACK_MIN);
	thread(&a);
}

/* A fork that nobody tells us of; the child's new thread is its first to call anything. */
UNTRACED static void bare_fork(void)
{
	int status = 0;

	work(EVENTS);
	if (syscall(SYS_fork) == 0) {
		thread(NULL);
		work(EVENTS);
		exit(0);
	}
	if (wait(&status) < 0 || status)
		exit(93);
	work(EVENTS);
}

UNTRACED static int guest(void *unused)
{
	(void)unused;
	usleep(1000);
	syscall(SYS_exit, 0);
	return 0;
}

/* Another task uses the thread's memory before its own first call. */
UNTRACED static void with_guest(void)
{
	char *stack = malloc(65536);
	int pid = clone(guest, stack + 65536, CLONE_VM | SIGCHLD, NULL);

	work(10 * EVENTS);
	waitpid(pid, NULL, 0);
	work(EVENTS);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"rounds", by_rounds},
	{"timer", by_timer},
	{"deep", from_deep},
	{"altstack", on_small_stack},
	{"altstack-fork", forked_on_small_stack},
	{"thread", small_thread},
	{"bare-fork", bare_fork},
	{"guest", with_guest},
};

UNTRACED int main(int argc, char **argv)
{
	for (unsigned i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			printf("%ld leaf\n%ld work\n%ld jumps\n", leaves, works, jumps);
			return 0;
		}
	return 2;
}
