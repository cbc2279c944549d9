/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that timers of stack samples might harm. Each prints what it counts, "NAME NUMBER".
 * usage: app-timer HOW ROUNDS
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile double sum;
static volatile long calls;
static long rounds;

APART static void burn(long n)
{
	double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sum = sum + x;
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU time of this thread, by its own clock. */
APART static void spend(double s)
{
	const double until = cpu_s() + s;

	while (cpu_s() < until)
		burn(10000);
}

static double seconds(void)
{
	return 1e-3 * (double)rounds;
}

static void count(int number)
{
	calls++;
}

/* ---- the signal itself --------------------------------------------------------- */

APART static void handler(void)
{
	struct sigaction a = {.sa_handler = count}, before;

	spend(seconds());
	if (sigaction(SIGURG, &a, &before))
		exit(3);
	spend(seconds());
	printf("timer %ld\n", calls);
	raise(SIGURG);
	printf("own %ld\n", calls);
	signal(SIGURG, SIG_DFL);
	raise(SIGURG);
	printf("ignored %ld\n", calls);
}

APART static void blocked(void)
{
	const struct timespec at_once = {0, 0};
	siginfo_t info;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	spend(seconds());
	printf("waited %d\n", sigtimedwait(&all, &info, &at_once));
	raise(SIGURG);
	printf("own %d\n", sigtimedwait(&all, &info, &at_once));
}

/* Handlers that call what was there before, as they may where it is not one of the defaults. */
static void (*called_before)(int);
static struct sigaction was_before;

static void count_and_pass(int number)
{
	calls++;
	if (called_before != SIG_DFL && called_before != SIG_IGN)
		called_before(number);
	if (was_before.sa_handler != SIG_DFL && was_before.sa_handler != SIG_IGN)
		was_before.sa_handler(number);
}

APART static void chained(void)
{
	struct sigaction a = {.sa_handler = count_and_pass};

	spend(seconds());
	sigaction(SIGURG, NULL, &was_before);
	printf("asked %d\n", was_before.sa_handler == SIG_DFL && !was_before.sa_flags);
	called_before = signal(SIGURG, count_and_pass);
	printf("signal %d\n", called_before == SIG_DFL);
	raise(SIGURG);
	signal(SIGURG, called_before);
	raise(SIGURG);
	sigaction(SIGURG, &a, &was_before);
	printf("sigaction %d\n", was_before.sa_handler == SIG_DFL);
	raise(SIGURG);
	printf("calls %ld\n", calls);
}

static sem_t sem;

static void *waits(void *none)
{
	long others = 0, wanted = 0;
	int number;
	sigset_t all;

	sigfillset(&all);
	while (!sigwait(&all, &number) && number != SIGUSR2) {
		wanted += number == SIGUSR1;
		others += number != SIGUSR1;
		spend(0.01); /* so that its own timer ends */
		sem_post(&sem);
	}
	printf("wanted %ld\nothers %ld\n", wanted, others);
	return none;
}

/* A thread for the signals of all. */
APART static void waiter(void)
{
	pthread_t thread;
	sigset_t all;

	sem_init(&sem, 0, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_create(&thread, NULL, waits, NULL);
	for (long i = 0; i < rounds / 10; i++) {
		pthread_kill(thread, SIGUSR1);
		spend(0.01);
		while (sem_wait(&sem))
			;
	}
	pthread_kill(thread, SIGUSR2);
	pthread_join(thread, NULL);
}

APART static void descriptor(void)
{
	struct signalfd_siginfo info;
	long others = 0;
	sigset_t all;
	int fd;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	fd = signalfd(-1, &all, SFD_NONBLOCK);
	spend(seconds());
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		others++;
	printf("others %ld\n", others);
}

/* ---- other signals ------------------------------------------------------------- */

APART static void profiled(void)
{
	const struct itimerval each = {{0, 10000}, {0, 10000}};
	struct sigaction a = {.sa_handler = count, .sa_flags = SA_RESTART};

	sigaction(SIGPROF, &a, NULL);
	setitimer(ITIMER_PROF, &each, NULL);
	spend(seconds());
	printf("own %d\n", calls > rounds / 10 / 4);
}

static void spend_there(int number)
{
	spend(seconds());
	calls++;
}

APART static void alternate(void)
{
	const size_t bytes = 16384;
	char *memory = mmap(NULL, 3 * 16384, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sigaction a = {.sa_handler = spend_there, .sa_flags = SA_ONSTACK};
	stack_t s = {.ss_sp = memory + bytes, .ss_size = bytes};

	mprotect(memory + bytes, bytes, PROT_READ | PROT_WRITE);
	sigaltstack(&s, NULL);
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	printf("calls %ld\n", calls);
}

/* As small as was enough for all when there were fewer registers, and for nothing else. */
APART static void tiny(void)
{
	static char memory[2048];
	const stack_t s = {.ss_sp = memory, .ss_size = sizeof(memory)};

	printf("set %d\n", sigaltstack(&s, NULL));
	spend(seconds());
}

/* In a child that has our memory. */
APART static void reset(void)
{
	const pid_t pid = vfork();
	int status;

	if (!pid) {
		signal(SIGURG, SIG_DFL);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	spend(seconds());
	printf("status %d\n", status);
}

/* A stack with nothing behind its end. */
static ucontext_t outer, inner;

static void there(void)
{
	for (int i = 0; i < 20; i++) {
		spend(seconds() / 20);
		swapcontext(&inner, &outer);
	}
}

APART static void coroutine(void)
{
	const size_t bytes = 32768;
	char *memory = mmap(NULL, 3 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(memory + bytes, bytes, PROT_READ | PROT_WRITE);
	getcontext(&inner);
	inner.uc_stack = (stack_t){.ss_sp = memory + bytes, .ss_size = bytes};
	inner.uc_link = &outer;
	makecontext(&inner, there, 0);
	for (int i = 0; i < 20; i++) {
		swapcontext(&outer, &inner);
		calls++;
	}
	printf("calls %ld\n", calls);
}

/* The stack is empty, and nothing is behind it. */
APART static void empty(void)
{
#if defined(__x86_64__)
	const size_t bytes = 65536;
	char *memory = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long n = 500000 * rounds;

	mprotect(memory, bytes, PROT_READ | PROT_WRITE);
	__asm__ volatile("xchg %1, %%rsp; 1: dec %0; jnz 1b; xchg %1, %%rsp"
			 : "+r"(n)
			 : "b"(memory + bytes)
			 : "cc", "memory");
#endif
	printf("empty 1\n");
}

/* ---- calls that a signal ends -------------------------------------------------- */

static const struct timespec moment = {0, 1000};
static int pipe_fd[2], epoll_fd;

static int by_nanosleep(void)
{
	return nanosleep(&moment, NULL);
}

static int by_usleep(void)
{
	return usleep(1);
}

static int by_poll(void)
{
	return poll(NULL, 0, 0);
}

static int by_ppoll(void)
{
	return ppoll(NULL, 0, &moment, NULL);
}

static int by_select(void)
{
	struct timeval t = {0, 1};

	return select(0, NULL, NULL, NULL, &t);
}

static int by_epoll(void)
{
	struct epoll_event e;

	return epoll_wait(epoll_fd, &e, 1, 0);
}

static int by_read(void)
{
	char byte = 0;

	return write(pipe_fd[1], &byte, 1) == 1 ? (int)read(pipe_fd[0], &byte, 1) : -1;
}

static int by_sem(void)
{
	struct timespec until;
	int result;

	clock_gettime(CLOCK_REALTIME, &until);
	result = sem_timedwait(&sem, &until);
	return result && errno == ETIMEDOUT ? 0 : result;
}

static const struct {
	const char *name;
	int (*call)(void);
} interrupted[] = {{"nanosleep", by_nanosleep}, {"usleep", by_usleep}, {"poll", by_poll},
	{"ppoll", by_ppoll}, {"select", by_select}, {"epoll_wait", by_epoll}, {"read", by_read},
	{"sem_timedwait", by_sem}};

APART static void interrupts(void)
{
	if (pipe(pipe_fd) || (epoll_fd = epoll_create1(0)) < 0 || sem_init(&sem, 0, 0))
		exit(3);
	for (unsigned i = 0; i < sizeof(interrupted) / sizeof(interrupted[0]); i++) {
		const double until = cpu_s() + seconds();
		long n = 0, ended = 0;

		for (; cpu_s() < until; n++)
			ended += interrupted[i].call() < 0 && errno == EINTR;
		printf("%s %ld\n", interrupted[i].name, ended);
		fprintf(stderr, "%s: %ld calls\n", interrupted[i].name, n);
	}
}

/* Work of a period and more in a handler that nothing interrupts. */
static void work(int number)
{
	spend(0.06);
	calls++;
}

/* The timer's signal comes when the handler returns, and must not hide that the call has ended. */
APART static void worked(void)
{
	const struct itimerval soon = {{2, 0}, {0, 20000}}; /* again, if it came before the call */
	struct sigaction a = {.sa_handler = work};
	long ended = 0;

	sigfillset(&a.sa_mask);
	sigaction(SIGALRM, &a, NULL);
	for (long i = 0; i < rounds; i++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		ended += poll(NULL, 0, 10000) < 0;
	}
	printf("ended %ld\n", ended);
}

/* The mask of ppoll() lets in what waits. */
APART static void unmasked(void)
{
	const struct timespec limit = {0, 20000000};
	sigset_t all, none;
	long ended = 0;

	signal(SIGUSR1, count);
	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (long i = 0; i < rounds / 60; i++) {
		work(0);
		ended += ppoll(NULL, 0, &limit, &none) < 0;
	}
	printf("ended %ld\n", ended);
}

/* Another process sends the signal, which would be ignored. */
APART static void urged(void)
{
	const pid_t parent = getpid(), pid = fork();
	int ended = 0;

	if (!pid) {
		for (;;) {
			kill(parent, SIGURG);
			nanosleep(&moment, NULL);
		}
	}
	for (long i = 0; i < rounds; i++) {
		ended += poll(NULL, 0, 1) < 0;
		ended += nanosleep(&moment, NULL) < 0;
		ended += select(0, NULL, NULL, NULL, &(struct timeval){0, 10}) < 0;
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("ended %d\n", ended);
}

/* ---- lives --------------------------------------------------------------------- */

static void *lives(void *none)
{
	spend(seconds() / 100);
	return none;
}

static long timers(void)
{
	FILE *f = fopen("/proc/self/timers", "r");
	char line[256];
	long n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += !strncmp(line, "ID:", 3);
	if (f)
		fclose(f);
	return n;
}

/* Threads with little stack, that come and go. */
APART static void threads(void)
{
	pthread_t thread[4];
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 32768);
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&thread[k], k % 2 ? &attr : NULL, lives, NULL))
				exit(3);
		for (int k = 0; k < 4; k++)
			pthread_join(thread[k], NULL);
	}
	printf("timers %d\n", timers() <= 2);
}

/* With a signal that waits to be delivered. */
APART static void becomes(char **argv)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &all, NULL);
	spend(seconds());
	if (fork()) {
		wait(NULL);
		argv[1] = "plain";
		execv("/proc/self/exe", argv);
	}
	sigprocmask(SIG_SETMASK, &none, NULL);
	spend(seconds());
	exit(0);
}

APART static void vforks(void)
{
	for (long i = 0; i < rounds; i++) {
		const pid_t pid = vfork();
		int status;

		if (!pid) {
			execl("/bin/true", "true", NULL);
			_exit(9);
		}
		waitpid(pid, &status, 0);
		calls += status == 0;
		burn(1000);
	}
	printf("calls %ld\n", calls);
}

/* Any call of the system but read(), write() and exit() is the end. */
static void *sandboxed(void *none)
{
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	for (long i = 0; i < 10 * rounds; i++)
		burn(50000);
	syscall(SYS_write, 1, "strict 1\n", 9);
	syscall(SYS_exit, 0);
	return none;
}

APART static void strict(void)
{
	int status;

	fflush(stdout);
	if (!fork())
		sandboxed(NULL);
	wait(&status);
	printf("status %d\n", status);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"handler", handler}, {"blocked", blocked}, {"waiter", waiter},
		{"descriptor", descriptor}, {"profiled", profiled}, {"alternate", alternate},
		{"coroutine", coroutine}, {"tiny", tiny}, {"empty", empty}, {"reset", reset},
		{"interrupts", interrupts}, {"urged", urged}, {"chained", chained},
		{"worked", worked}, {"unmasked", unmasked}, {"threads", threads},
		{"vforks", vforks}, {"strict", strict}};
	const char *how = argc > 2 ? argv[1] : "";

	rounds = argc > 2 ? atol(argv[2]) : 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(how, "becomes"))
		becomes(argv);
	if (!strcmp(how, "killed")) {
		spend(seconds());
		raise(SIGKILL);
	}
	if (!strcmp(how, "plain"))
		spend(seconds());
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(how, ways[i].name))
			ways[i].run();
	return 0;
}
