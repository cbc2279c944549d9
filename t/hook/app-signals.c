/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs with instrumented signal handlers that count their own calls; at the
 * end a line "CALLS NAME" for each function. argv[1] chooses what happens, and
 * argv[2] how often a handler calls inner(). Rounds are those of app-stepper.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app-leaf.h"
#ifdef COUNTED
#include "libhook/process.h"
#endif

static volatile long deeps, handlers, inners, threads, ticks;
static volatile int per_handler;
static int one_by_one;
static pid_t self;
static double seconds;

KEEP static void deep(int depth)
{
	deeps++;
	if (depth)
		deep(depth - 1);
	else
		leaf();
}

KEEP static void inner(void)
{
	inners++;
}

KEEP static void handler(int signal)
{
	int n = per_handler;

	(void)signal;
	handlers++;
	for (int i = 0; i < n; i++)
		inner();
}

UNTRACED static void tick(int signal)
{
	(void)signal;
	ticks++;
}

/* The child goes on where the parent was interrupted, to the end of the round. */
UNTRACED static void forking_handler(int signal)
{
	int status;
	pid_t pid;

	(void)signal;
	handlers++;
	pid = fork();
	if (pid > 0 && (waitpid(pid, &status, 0) != pid || status != 0))
		_exit(95);
}

UNTRACED static void on(int signal, void (*handle)(int), int flags)
{
	struct sigaction a = {.sa_handler = handle, .sa_flags = flags};

	sigaction(signal, &a, NULL);
}

UNTRACED static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

UNTRACED static void every_ms(int which, int n)
{
	struct itimerval every = {{0, 1000 * n}, {0, 1000 * n}};

	setitimer(which, &every, NULL);
}

/* Is there another round? */
UNTRACED static int round_begins(void)
{
	long more = 0;

	if (getpid() != self)
		exit(0);
#if defined(__x86_64__)
	__asm__ volatile("int3" : "+a"(more) : : "memory");
#endif
	return more != 0;
}

/* ---- single steps ---- */

UNTRACED static void by_rounds(void)
{
	on(SIGUSR1, handler, 0);
	while (round_begins())
		work(EVENTS);
}

UNTRACED static void with_forks(void)
{
	on(SIGUSR1, forking_handler, 0);
	while (round_begins())
		work(EVENTS);
}

#ifdef COUNTED
/* Until calls of leaf() and inner() are counted where their hooks were called. */
UNTRACED static void warm_up(void)
{
	do {
		work(EVENTS);
		handler(0);
	} while (__builtin_popcountll(load_relaxed(&vftr_process.app->switches.taken)) < 2);
}

UNTRACED static void counted(void)
{
	warm_up();
	by_rounds();
}

UNTRACED static void counted_forks(void)
{
	warm_up();
	with_forks();
}
#endif

KEEP static void *in_thread(void *unused)
{
	(void)unused;
	threads++;
	leaf();
	return NULL;
}

/* The first event of a thread. */
UNTRACED static void with_threads(void)
{
	pthread_t t;

	on(SIGUSR1, handler, 0);
	while (round_begins())
		if (pthread_create(&t, NULL, in_thread, NULL) || pthread_join(t, NULL))
			exit(94);
}

/* ---- timers ---- */

UNTRACED static void arm(void)
{
	struct itimerval once = {{0, 0}, {0, 1000}};

	setitimer(ITIMER_REAL, &once, NULL);
}

UNTRACED static void calls(void)
{
	double until = now() + seconds;
	long seen = handlers;

	do {
		deep(200);
		work(100);
		if (one_by_one && handlers != seen) {
			seen = handlers;
			arm();
		}
	} while (now() < until);
}

/* Long handlers not one after the other at the same instruction, where the CPU was late:
 * together they would fill a block. */
UNTRACED static void by_timer(void)
{
	on(SIGALRM, handler, SA_RESTART);
	one_by_one = per_handler > 100;
	if (one_by_one)
		arm();
	else
		every_ms(ITIMER_REAL, 1);
	calls();
	every_ms(ITIMER_REAL, 0);
}

/* While the dynamic loader loads and unloads; a call per millisecond is at any place there. */
UNTRACED static void unloading(void)
{
	double until = now() + seconds;

	on(SIGALRM, handler, SA_RESTART);
	every_ms(ITIMER_REAL, 1);
	do {
		void *library = dlopen("./unloaded.so", RTLD_NOW);

		if (!library || dlclose(library))
			exit(93);
	} while (now() < until);
	every_ms(ITIMER_REAL, 0);
}

UNTRACED static void other_stack(void)
{
	stack_t stack = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};

	if (sigaltstack(&stack, NULL))
		exit(94);
	on(SIGALRM, handler, SA_RESTART | SA_ONSTACK);
	every_ms(ITIMER_REAL, 1);
	calls();
	every_ms(ITIMER_REAL, 0);
}

/*
 * A profiler in the program: it gets as many signals as the CPU time says. Its timer counts
 * whole ticks of the kernel, as ITIMER_VIRTUAL does, and not what clock() says: they differ
 * where others want the CPU.
 */
UNTRACED static void profiler(void)
{
	const struct itimerval never = {.it_value = {1000000, 0}};
	struct itimerval left;
	double cpu, in_ticks;

	on(SIGPROF, tick, SA_RESTART);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	every_ms(ITIMER_PROF, 10);
	calls();
	cpu = (double)clock() / CLOCKS_PER_SEC;
	every_ms(ITIMER_PROF, 0);
	getitimer(ITIMER_VIRTUAL, &left);
	in_ticks = 1e6 - (double)left.it_value.tv_sec - 1e-6 * (double)left.it_value.tv_usec;
	if ((double)ticks + 3 < 40 * (cpu < in_ticks ? cpu : in_ticks) ||
		(double)ticks - 3 > 120 * (cpu > in_ticks ? cpu : in_ticks)) {
		fprintf(stderr, "%ld ticks in %.3f s, by ticks %.3f s\n", ticks, cpu, in_ticks);
		exit(93);
	}
}

/* Blocking calls are interrupted, or not, as without us. */
UNTRACED static void interrupted(void)
{
	char byte;
	int pipes[2];

	work(10);
	if (pipe(pipes))
		exit(94);
	for (int i = 0; i < 20; i++) {
		on(SIGALRM, handler, 0);
		every_ms(ITIMER_REAL, 5);
		if (read(pipes[0], &byte, 1) != -1 || errno != EINTR)
			exit(93);
	}
	every_ms(ITIMER_REAL, 0);
}

UNTRACED static void print(void)
{
	printf("%ld leaf\n%ld work\n%ld deep\n%ld handler\n%ld inner\n%ld in_thread\n", leaves,
		works, deeps, handlers, inners, threads);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"rounds", by_rounds},
	{"forks", with_forks},
	{"threads", with_threads},
#ifdef COUNTED
	{"counted", counted},
	{"counted_forks", counted_forks},
#endif
	{"timer", by_timer},
	{"unloading", unloading},
	{"altstack", other_stack},
	{"profiler", profiler},
	{"interrupted", interrupted},
};

UNTRACED int main(int argc, char **argv)
{
	self = getpid();
	per_handler = argc > 2 ? atoi(argv[2]) : 2;
	seconds = argc > 3 ? atof(argv[3]) : 1;
	for (unsigned i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			print();
			return 0;
		}
	return 2;
}
