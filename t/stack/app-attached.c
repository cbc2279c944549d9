/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs to be looked at from outside, by -DWHAT_NAME.
 * execs COMMAND...: works for a second of CPU time, and becomes COMMAND.
 * later N: works, then starts N children, one after the other, that work.
 * zombie: prints the pid of a child that it does not wait for, and stays.
 * headless: its first thread ends, another one goes on.
 * spent PID: ends when that process has had half a second more of a CPU.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

static double cpu_s(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		exit(1);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define APART __attribute__((noinline, noclone, unused))

APART static void work(double seconds)
{
	const double until = cpu_s(CLOCK_PROCESS_CPUTIME_ID) + seconds;

	while (cpu_s(CLOCK_PROCESS_CPUTIME_ID) < until)
		for (int i = 0; i < 100000; i++)
			sum = sum * 1.0000001 + 1e-9;
}

APART static void before(void)
{
	work(1);
	sum = sum + 1;
}

APART static void *goes_on(void *arg)
{
	work(1000);
	return arg;
}

int main(int argc, char **argv)
{
#if defined(WHAT_execs)
	before();
	execv(argv[1], argv + 1);
	return 1;
#elif defined(WHAT_later)
	before();
	for (int i = 0; i < atoi(argv[1]); i++) {
		if (!fork()) {
			work(0.3);
			return 0;
		}
		wait(NULL);
	}
#elif defined(WHAT_zombie)
	const pid_t child = fork();

	if (!child)
		return 0;
	waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT);
	printf("%d\n", child);
	fflush(stdout);
	pause();
#elif defined(WHAT_headless)
	pthread_t other;

	if (!pthread_create(&other, NULL, goes_on, NULL))
		pthread_exit(NULL);
#elif defined(WHAT_spent)
	clockid_t clock;
	double until;

	if (clock_getcpuclockid(atoi(argv[1]), &clock))
		return 1;
	until = cpu_s(clock) + 0.5;
	while (cpu_s(clock) < until)
		usleep(10000);
#endif
	return 0;
}
