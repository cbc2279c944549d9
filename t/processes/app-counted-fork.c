/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of fork() of a process that counts tiny(), whose hooks it has taken out of the code. The
 * agent, which is the parent, is stopped as soon as it knows the child: it has not told the child
 * where tiny() is. Prints how often the child's signal mask was changed during its calls of
 * tiny(), and how many calls of tiny() there were in all.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART	     __attribute__((noinline, noipa))
#define UNTRACED     __attribute__((no_instrument_function))
#define CODE_BYTES   64
#define SECONDS_MOST 60
#define ROUND	     10000
#define CHILDS	     100000
#define WORDS	     5000 /* of several blocks: the child looks at what it is told */

static long masks;

UNTRACED int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	masks++;
	return (int)syscall(SYS_rt_sigprocmask, how, set, old, 8L);
}

APART static void tiny(void)
{
	__asm__ volatile("");
}

APART static void recorded(void)
{
	__asm__ volatile("");
}

UNTRACED static void call_tiny(long n)
{
	while (n-- > 0)
		tiny();
}

/* Returns the calls that it took. */
UNTRACED static long until_tiny_is_changed(void)
{
	const time_t end = time(NULL) + SECONDS_MOST;
	unsigned char before[CODE_BYTES];
	long calls = 0;

	memcpy(before, (const void *)&tiny, CODE_BYTES);
	while (!memcmp(before, (const void *)&tiny, CODE_BYTES) && time(NULL) < end) {
		call_tiny(ROUND);
		calls += ROUND;
		recorded();
	}
	return calls;
}

UNTRACED static void child(pid_t agent)
{
	recorded();
	kill(agent, SIGSTOP);
	for (int i = 0; i < WORDS; i++)
		recorded();
	masks = 0;
	call_tiny(CHILDS);
	kill(agent, SIGCONT);
	printf("masks %ld\n", masks);
	fflush(stdout);
	_exit(0);
}

int main(void)
{
	const pid_t agent = getppid();
	const long calls = until_tiny_is_changed();

	if (!fork())
		child(agent);
	wait(NULL);
	call_tiny(CHILDS);
	printf("calls %ld\n", calls + CHILDS + CHILDS);
	return 0;
}
