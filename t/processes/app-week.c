/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * week PROCESSES EACH: a service in fast motion. So many pairs of children, one after another, each
 * of which calls step() 20 times and ends; each EACH-th pair makes a session. Until the file `end'
 * is there, if PROCESSES is 0. Prints how many processes there were, sessions that went well, and
 * sessions that failed, as agents died; what failed in another way. Writes the number of processes
 * to the file `progress' now and then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vftrace-session.h"

#define STEPS	 20
#define PROGRESS 50

static volatile unsigned sink;

static void __attribute__((noinline)) step(void)
{
	sink++;
}

static void __attribute__((noinline)) steps(void)
{
	for (int i = 0; i < STEPS; i++)
		step();
}

static int has_failed_as_expected(int code)
{
	return code == VFTRACE_NO_AGENT || code == VFTRACE_ERROR_AGENT_GONE ||
	       code == VFTRACE_ERROR_DEAD || code == VFTRACE_ERROR_NOT_JOINED ||
	       code == VFTRACE_ERROR_NOT_STARTED || code == VFTRACE_ERROR_TIMEOUT ||
	       code == VFTRACE_ERROR_ABORTED;
}

/* 0: it went well; 1: an agent died, maybe; 2: anything else. */
static int session(int number)
{
	int code = vftrace_join(number, "week", NULL);

	if (!code && !number)
		code = vftrace_expect(2, 0, NULL);
	if (!code)
		code = vftrace_start(5);
	if (!code)
		steps();
	if (!code)
		code = vftrace_finish(5);
	if (!code)
		code = vftrace_leave();
	if (code && !has_failed_as_expected(code))
		fprintf(stderr, "week: %s: %s\n", vftrace_error_text(code), vftrace_last_error());
	return !code ? 0 : has_failed_as_expected(code) ? 1 : 2;
}

static pid_t child(int number, int in_session)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	steps();
	exit(in_session ? session(number) : 0);
}

static int outcome_of_pair(int in_session)
{
	pid_t pair[2] = {child(0, in_session), child(1, in_session)};
	int worst = 0, status;

	for (int i = 0; i < 2; i++) {
		if (pair[i] < 0 || waitpid(pair[i], &status, 0) != pair[i] || !WIFEXITED(status))
			worst = 3;
		else if (WEXITSTATUS(status) > worst)
			worst = WEXITSTATUS(status);
	}
	return worst;
}

static void tell_progress(long n)
{
	FILE *f = fopen("progress.new", "w");

	if (f && fprintf(f, "%ld\n", n) > 0 && !fclose(f))
		rename("progress.new", "progress");
}

int main(int argc, char **argv)
{
	const long processes = argc > 1 ? atol(argv[1]) : 1000,
		   each = argc > 2 ? atol(argv[2]) : 10;
	long outcomes[4] = {0}, n = 0;

	for (; processes ? n < processes : access("end", F_OK); n += 2) {
		const int in_session = n / 2 % each == 0, outcome = outcome_of_pair(in_session);

		steps();
		outcomes[outcome] += in_session || outcome;
		if (n % PROGRESS == 0)
			tell_progress(n);
	}
	printf("%ld %ld %ld %ld\n", n, outcomes[0], outcomes[1], outcomes[2] + outcomes[3]);
	return 7;
}
