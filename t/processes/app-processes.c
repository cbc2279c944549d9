/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ways to get more processes, chosen by argv[1]. Every one makes a known number
 * of calls: work(n) is one of work and n of leaf. The table at the end lists them.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define STACK	 65536

extern char **environ;

static volatile long sink;
static char **arguments;
static int argument;

KEEP static void leaf(void)
{
	sink++;
}

KEEP static void work(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

KEEP static void in_child(int n)
{
	work(n);
}

KEEP static void in_parent(int n)
{
	work(n);
}

UNTRACED static void nap(double s)
{
	struct timespec t = {(time_t)s, (long)(1e9 * (s - (double)(time_t)s))};

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* Whether the child ended as it should. */
UNTRACED static int ended(pid_t pid, int status)
{
	int got;

	return pid > 0 && waitpid(pid, &got, 0) == pid && got == status ? 0 : 98;
}

UNTRACED static char **self(const char *how)
{
	static char *argv[3];

	argv[0] = arguments[0];
	argv[1] = (char *)(uintptr_t)how;
	return argv;
}

/* Once for each child of others here: two levels below main. */
UNTRACED static int child(void)
{
	in_child(20);
	return 6;
}

KEEP static int spawn(void)
{
	pid_t pid;

	work(10);
	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, self("child"), environ))
		return 97;
	in_parent(30);
	return ended(pid, 6 << 8);
}

UNTRACED static const char *command(void)
{
	static char text[4200];

	snprintf(text, sizeof(text), "%s child", arguments[0]);
	return text;
}

KEEP static int by_system(void)
{
	work(10);
	if (system(command()) != 6 << 8)
		return 98;
	in_parent(30);
	return 0;
}

KEEP static int by_popen(void)
{
	FILE *f;

	work(10);
	f = popen(command(), "r");
	in_parent(30);
	return f && pclose(f) == 6 << 8 ? 0 : 98;
}

/* What the child of vfork() calls is in nobody's profile, until it is a program. */
KEEP static void before_exec(void)
{
	work(5);
}

KEEP static int by_vfork(void)
{
	volatile int shared = 0;
	pid_t pid;

	work(10);
	pid = vfork();
	if (pid == 0) {
		before_exec();
		shared = 1;
		execv("/proc/self/exe", self("child"));
		_exit(97);
	}
	in_parent(30);
	return shared == 1 ? ended(pid, 6 << 8) : 96;
}

/* Many calls in the child: more than a block has room for. */
KEEP static int vfork_storm(void)
{
	int bad = 0;

	for (int i = 0; i < 20; i++) {
		pid_t pid = vfork();

		if (pid == 0) {
			work(2000);
			_exit(6);
		}
		work(100);
		bad |= ended(pid, 6 << 8);
	}
	return bad;
}

KEEP static int run_clone(void *unused)
{
	(void)unused;
	work(5);
	_exit(6);
}

KEEP static int with_clone(int flags)
{
	char *stack = malloc(STACK);
	int bad = 0;

	work(10);
	for (int i = 0; i < 50; i++) {
		pid_t pid = clone(run_clone, stack + STACK, flags | SIGCHLD, NULL);

		in_parent(300);
		bad |= ended(pid, 6 << 8);
	}
	free(stack);
	return bad;
}

/* A copy without the handlers of pthread_atfork(). */
UNTRACED static int by_clone(void)
{
	return with_clone(0);
}

UNTRACED static int by_clone_vfork(void)
{
	return with_clone(CLONE_VM | CLONE_VFORK);
}

static volatile int stop;

/* Runs beside its host, on the same thread-local memory. */
KEEP static int run_beside(void *unused)
{
	(void)unused;
	while (!stop)
		work(100);
	syscall(SYS_exit, 6);
	return 0;
}

KEEP static int beside(void)
{
	char *stack = malloc(STACK);
	struct timespec from, now;
	long rounds = 0;
	pid_t pid;

	work(10);
	pid = clone(run_beside, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		in_parent(100);
		rounds++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - from.tv_sec + 1e-9 * (double)(now.tv_nsec - from.tv_nsec) < 0.5);
	stop = 1;
	printf("%ld\n", rounds);
	return ended(pid, 6 << 8);
}

/* The same by the bare system call: nobody could have told us. */
KEEP static int raw_fork(void)
{
	pid_t pid;

	work(10);
#ifdef SYS_fork
	pid = (pid_t)syscall(SYS_fork);
#else
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
	if (pid == 0) {
		for (int i = 0; i < 1000; i++)
			in_child(20);
		exit(6);
	}
	for (int i = 0; i < 1000; i++)
		in_parent(30);
	return ended(pid, 6 << 8);
}

/* It never calls anything, and exits like any other. */
KEEP static int raw_fork_silent(void)
{
	pid_t pid;

	work(10);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		exit(6);
	if (ended(pid, 6 << 8))
		return 98;
	in_parent(30);
	return 0;
}

/* ---- threads ---- */

KEEP static void *exec_in_thread(void *unused)
{
	(void)unused;
	work(7);
	execv("/proc/self/exe", self("child"));
	return NULL;
}

KEEP static int thread_exec(void)
{
	pthread_t t;

	work(10);
	if (pthread_create(&t, NULL, exec_in_thread, NULL))
		return 99;
	pthread_join(t, NULL);
	return 99;
}

static pthread_barrier_t all_there;

KEEP static void *fork_in_thread(void *result)
{
	pid_t pid;

	work(7);
	pthread_barrier_wait(&all_there);
	pid = fork();
	if (pid == 0) {
		in_child(20);
		exit(6);
	}
	*(int *)result = ended(pid, 6 << 8);
	work(8);
	return NULL;
}

KEEP static int thread_fork(void)
{
	pthread_t t[4];
	int bad[4];

	pthread_barrier_init(&all_there, NULL, 4);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, fork_in_thread, &bad[i]))
			return 99;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return bad[0] | bad[1] | bad[2] | bad[3];
}

static pthread_barrier_t at_list, list_seen;

UNTRACED static int stay_at_list(struct dl_phdr_info *info, size_t bytes, void *unused)
{
	(void)info, (void)bytes, (void)unused;
	pthread_barrier_wait(&at_list);
	pthread_barrier_wait(&list_seen);
	return 1;
}

UNTRACED static void *at_the_list(void *unused)
{
	dl_iterate_phdr(stay_at_list, unused);
	return NULL;
}

/*
 * While another thread has the dynamic loader's list of modules, this one goes on, and forks: in
 * its children nobody will give the list back.
 */
KEEP static int beside_list(void)
{
	pthread_t t;
	pid_t pid;
	int bad;

	pthread_barrier_init(&at_list, NULL, 2);
	pthread_barrier_init(&list_seen, NULL, 2);
	work(10);
	if (pthread_create(&t, NULL, at_the_list, NULL))
		return 99;
	pthread_barrier_wait(&at_list);
	for (int i = 0; i < 100; i++)
		in_parent(300);
	pid = fork();
	if (pid == 0) {
		in_child(20);
		pid = fork();
		if (pid == 0) {
			in_child(20);
			exit(6);
		}
		exit(ended(pid, 6 << 8));
	}
	bad = ended(pid, 0);
	pthread_barrier_wait(&list_seen);
	pthread_join(t, NULL);
	return bad;
}

/* ---- generations ---- */

/* Three generations, and two lives of one of the children. */
KEEP static int tree(void)
{
	pid_t first, second;

	first = fork();
	if (first == 0) {
		pid_t inner = fork();

		if (inner == 0) {
			in_child(20);
			raise(SIGTERM);
		}
		ended(inner, SIGTERM);
		work(3);
		execv("/proc/self/exe", self("child"));
		_exit(97);
	}
	nap(0.1);
	second = fork();
	if (second == 0) {
		work(4);
		exit(3);
	}
	return ended(first, 6 << 8) | ended(second, 3 << 8);
}

/* argument children, 16 at a time. */
KEEP static int many(void)
{
	int running = 0, bad = 0, status;

	for (int i = 0; i < argument; i++) {
		pid_t pid;

		if (running == 16) {
			bad |= wait(&status) < 0 || status != 6 << 8 ? 98 : 0;
			running--;
		}
		pid = fork();
		if (pid == 0) {
			in_child(20);
			exit(6);
		}
		running += pid > 0;
	}
	while (running--)
		bad |= wait(&status) < 0 || status != 6 << 8 ? 98 : 0;
	return bad;
}

/* As many that become a program that is not traced. */
KEEP static int many_others(void)
{
	int bad = 0;

	for (int i = 0; i < argument; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(97);
		}
		bad |= ended(pid, 0);
	}
	return bad;
}

/* ---- longer lives than their parent's ---- */

/* It runs for `argument` ms more, the last call at its end. */
UNTRACED static int stay(double first_s)
{
	close(0);
	nap(first_s);
	in_child(20);
	nap(1e-3 * argument);
	in_child(20);
	return 0;
}

KEEP static int outlive(void)
{
	work(10);
	if (fork() == 0)
		exit(stay(0));
	return 0;
}

/* Its first call comes when the parent is long gone. */
KEEP static int late(void)
{
	work(10);
	if (fork() == 0)
		exit(stay(0.4));
	return 0;
}

UNTRACED static int daemonise(int closing)
{
	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	umask(0);
	for (int fd = 0; closing && fd < 1024; fd++)
		close(fd);
	exit(stay(0.2));
}

KEEP static int a_daemon(void)
{
	work(10);
	return daemonise(0);
}

/* It closes everything, our socket, too. */
/* The program that it becomes says hello before anybody has missed this one. */
KEEP static int closing_exec(void)
{
	work(3);
	close_range(3, ~0u, 0);
	execv("/proc/self/exe", self("child"));
	return 97;
}

KEEP static int closing_daemon(void)
{
	work(10);
	return daemonise(1);
}

static const struct {
	const char *name;
	int (*run)(void);
} ways[] = {
	{"child", child},
	{"spawn", spawn},
	{"system", by_system},
	{"popen", by_popen},
	{"vfork", by_vfork},
	{"vfork-storm", vfork_storm},
	{"clone", by_clone},
	{"clone-vfork", by_clone_vfork},
	{"beside", beside},
	{"raw-fork", raw_fork},
	{"raw-fork-silent", raw_fork_silent},
	{"thread-exec", thread_exec},
	{"thread-fork", thread_fork},
	{"beside-list", beside_list},
	{"tree", tree},
	{"many", many},
	{"many-others", many_others},
	{"outlive", outlive},
	{"late", late},
	{"daemon", a_daemon},
	{"closing-daemon", closing_daemon},
	{"closing-exec", closing_exec},
};

int main(int argc, char **argv)
{
	arguments = argv;
	if (argc > 2)
		argument = atoi(argv[2]);
	for (unsigned i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			return ways[i].run();
	fprintf(stderr, "usage: app-processes WAY [NUMBER]\n");
	return 2;
}
