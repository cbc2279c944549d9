/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All the ways in which a program can end, jump, fork and misbehave, chosen by
 * argv[1]; each makes a known number of calls first. The table at the end lists
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static volatile long sink;
static char **arguments;
static const char *argument = "";

KEEP static void leaf(void)
{
	sink++;
}

KEEP static void work(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

/* ---- ends: work(10), then the end three frames deep ---- */

static void (*the_end)(void);

KEEP static void inner(void)
{
	leaf();
	the_end();
}

KEEP static void outer(void)
{
	work(10);
	inner();
}

UNTRACED static void do_exit(void)
{
	exit(3);
}

UNTRACED static void do__exit(void)
{
	_exit(4);
}

UNTRACED static void do_quick_exit(void)
{
	quick_exit(5);
}

UNTRACED static void do_segv(void)
{
	raise(SIGSEGV);
}

UNTRACED static void do_bad_pointer(void)
{
	*(volatile int *)(sink ? (uintptr_t)8 : 0) = 1;
}

UNTRACED static void do_kill(void)
{
	raise(SIGKILL);
}

UNTRACED static void do_term(void)
{
	raise(SIGTERM);
}

UNTRACED static void do_exec(void)
{
	char *self[] = {arguments[0], (char *)(uintptr_t)(argument[0] ? argument : "return"), NULL};

	execv("/proc/self/exe", self);
	_exit(99);
}

UNTRACED static void do_nothing(void)
{
}

UNTRACED static int end_by(void (*how)(void))
{
	the_end = how;
	outer();
	return 0;
}

UNTRACED static int end_return(void)
{
	return end_by(do_nothing);
}

UNTRACED static int end_exit(void)
{
	return end_by(do_exit);
}

UNTRACED static int end__exit(void)
{
	return end_by(do__exit);
}

UNTRACED static int end_quick_exit(void)
{
	return end_by(do_quick_exit);
}

UNTRACED static int end_abort(void)
{
	return end_by(abort);
}

UNTRACED static int end_segv(void)
{
	return end_by(do_segv);
}

UNTRACED static int end_bad_pointer(void)
{
	return end_by(do_bad_pointer);
}

UNTRACED static int end_kill(void)
{
	return end_by(do_kill);
}

UNTRACED static int end_term(void)
{
	return end_by(do_term);
}

UNTRACED static int end_exec(void)
{
	return end_by(do_exec);
}

/* ---- more than one process ---- */

KEEP static void in_child(void)
{
	work(20);
}

KEEP static void in_parent(void)
{
	work(30);
}

KEEP static int end_fork(void)
{
	int status;
	pid_t pid;

	work(10);
	pid = fork();
	if (pid < 0)
		return 99;
	if (pid == 0) {
		in_child();
		exit(6);
	}
	in_parent();
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 6)
		return 98;
	return 0;
}

KEEP static int end_vfork(void)
{
	int status;
	pid_t pid;

	work(10);
	pid = vfork();
	if (pid < 0)
		return 99;
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(97);
	}
	in_parent();
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 6)
		return 98;
	return 0;
}

KEEP static int end_system(void)
{
	work(10);
	if (system("exit 6") != 6 << 8)
		return 98;
	in_parent();
	return 0;
}

/* ---- stacks ---- */

static jmp_buf back;

KEEP static void third(void)
{
	leaf();
	if (sink)
		longjmp(back, 1);
}

KEEP static void second(void)
{
	third();
}

KEEP static void first(void)
{
	second();
}

KEEP static int end_longjmp(void)
{
	volatile int round = 0;

	if (setjmp(back))
		leaf();
	if (round < 100) {
		round++;
		first();
	}
	work(10);
	return 0;
}

KEEP static long deeper(int n)
{
	return n ? deeper(n - 1) + 1 : 0;
}

KEEP static int end_deep(void)
{
	return deeper(19999) == 19999 ? 0 : 99;
}

KEEP static long pong(int n);

KEEP static long ping(int n)
{
	return n ? pong(n - 1) + 1 : 0;
}

KEEP static long pong(int n)
{
	return n ? ping(n - 1) + 1 : 0;
}

KEEP static int end_mutual(void)
{
	return ping(19999) == 19999 ? 0 : 99;
}

/* ---- threads ---- */

KEEP static void *thread_main(void *n)
{
	work((int)(uintptr_t)n);
	return NULL;
}

KEEP static int end_threads(void)
{
	pthread_t a, b;

	if (pthread_create(&a, NULL, thread_main, (void *)100) ||
		pthread_create(&b, NULL, thread_main, (void *)200))
		return 99;
	work(10);
	return pthread_join(a, NULL) || pthread_join(b, NULL);
}

KEEP static void *late_thread(void *n)
{
	struct timespec t = {0, 100000000};

	nanosleep(&t, NULL);
	work((int)(uintptr_t)n);
	return NULL;
}

KEEP static int end_pthread_exit(void)
{
	pthread_t a;

	if (pthread_create(&a, NULL, late_thread, (void *)100))
		return 99;
	work(10);
	pthread_exit(NULL);
}

/* ---- signals ---- */

static volatile sig_atomic_t signals;

KEEP static void in_handler(int signal)
{
	(void)signal;
	signals++;
	leaf();
}

KEEP static int end_signals(void)
{
	struct sigaction a = {.sa_handler = in_handler, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	struct timespec from, now;
	long rounds = 0;

	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		work(100);
		rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - from.tv_sec + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < 1.0);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("rounds %ld signals %ld\n", rounds, (long)signals);
	return 0;
}

static void last_words(int signal)
{
	static const char text[] = "own handler ran\n";

	(void)signal;
	leaf();
	_exit(write(STDOUT_FILENO, text, sizeof(text) - 1) < 0 ? 98 : 7);
}

KEEP static int end_own_handler(void)
{
	signal(SIGTERM, last_words);
	work(10);
	raise(SIGTERM);
	return 99;
}

/* 0 if all signal dispositions and our mask are as at the start of a process. */
KEEP static int end_dispositions(void)
{
	struct sigaction a;
	sigset_t mask;

	work(10);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (int s = 1; s < 32; s++) {
		if (s == SIGKILL || s == SIGSTOP)
			continue;
		if (sigaction(s, NULL, &a) || a.sa_handler != SIG_DFL || sigismember(&mask, s)) {
			printf("signal %d is not as it was\n", s);
			return 99;
		}
	}
	/* nobody else's child may turn up in wait() */
	errno = 0;
	if (wait(NULL) != -1 || errno != ECHILD)
		return 98;
	return 0;
}

/* ---- long runs ---- */

KEEP static int end_storm(void)
{
	work((int)strtol(argument, NULL, 10));
	return 0;
}

KEEP static int end_idle(void)
{
	double s = strtod(argument, NULL);
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

	work(10);
	while (nanosleep(&t, &t))
		;
	return 0;
}

/* Calls for that many seconds, then says how many of work() there were. */
KEEP static int end_busy(void)
{
	double s = strtod(argument, NULL);
	struct timespec from, now;
	long rounds = 0;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		work(100);
		rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) <
		 s);
	printf("rounds %ld\n", rounds);
	return 0;
}

/* Calls leaf() for that many seconds; the number is in FILE (argv[3]) before each. */
KEEP static int end_counted(void)
{
	double s = strtod(argument, NULL);
	struct timespec from, now;
	volatile long *count;
	int fd = arguments[2] && arguments[3] ? open(arguments[3], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0 || ftruncate(fd, sizeof(*count)))
		return 99;
	count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (count == MAP_FAILED)
		return 99;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		for (int i = 0; i < 100; i++) {
			(*count)++;
			leaf();
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - from.tv_sec) + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) <
		 s);
	return 0;
}

/* ---- the table ---- */

static const struct {
	const char *name;
	int (*run)(void);
} ends[] = {
	{"return", end_return},
	{"exit3", end_exit},
	{"_exit", end__exit},
	{"quick_exit", end_quick_exit},
	{"abort", end_abort},
	{"segv", end_segv},
	{"bad-pointer", end_bad_pointer},
	{"kill9", end_kill},
	{"term", end_term},
	{"exec", end_exec},
	{"fork", end_fork},
	{"vfork", end_vfork},
	{"system", end_system},
	{"longjmp", end_longjmp},
	{"deep", end_deep},
	{"mutual", end_mutual},
	{"threads", end_threads},
	{"pthread_exit_main", end_pthread_exit},
	{"signals", end_signals},
	{"own-handler", end_own_handler},
	{"dispositions", end_dispositions},
	{"storm", end_storm},
	{"idle", end_idle},
	{"busy", end_busy},
	{"counted", end_counted},
};

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc > 2)
		argument = argv[2];
	for (unsigned i = 0; argc > 1 && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(argv[1], ends[i].name))
			return ends[i].run();
	fprintf(stderr, "usage: app-end HOW [ARGUMENT [FILE]]; HOW is one of");
	for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		fprintf(stderr, " %s", ends[i].name);
	fprintf(stderr, "\n");
	return 2;
}
