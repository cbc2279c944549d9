/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can go wrong, and how a program sees it. A server and two clients try six times to
 * be a session; in the first four something is broken on purpose:
 *	1 a client takes a number that another one has      ERROR_NUMBER there; the others
 *	  are freed by its abort
 *	2 a client is killed before it starts               ERROR_DEAD, with its name
 *	3 a client never comes                              ERROR_TIMEOUT
 *	4 a client is killed in the round                   ERROR_DEAD from finish
 * and the last two are fine. Each process goes on as if nothing had happened.
 *	errors
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vftrace-session.h"

#define TRIES	6
#define CLIENTS 2

/* What start and finish should say. */
static const struct {
	const char *fault;
	int start, finish;
} expected[TRIES] = {
	{"a number that is taken", VFTRACE_ERROR_ABORTED, 0},
	{"killed before the start", VFTRACE_ERROR_DEAD, 0},
	{"a client that does not come", VFTRACE_ERROR_TIMEOUT, 0},
	{"killed in the round", VFTRACE_OK, VFTRACE_ERROR_DEAD},
	{"none", VFTRACE_OK, VFTRACE_OK},
	{"none", VFTRACE_OK, VFTRACE_OK},
};

static int wrong(int try, const char *what, int code, int wanted)
{
	if (code == wanted)
		return 0;
	fprintf(stderr, "try %d: %s: %d (%s), not %d\n", try + 1, what, code, vftrace_last_error(),
		wanted);
	return 1;
}

static void pause_s(double s)
{
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

	nanosleep(&t, NULL);
}

static int client(int try, int i)
{
	int bad, last = i == CLIENTS;

	if (try == 2 && last)
		return 0;
	if (try == 0 && last) {
		pause_s(0.3); /* the other one is there */
		bad = wrong(try, "join", vftrace_join(1, "client", NULL), VFTRACE_ERROR_NUMBER);
		bad |= wrong(try, "join", vftrace_join(2, "client", NULL), VFTRACE_OK);
		return bad | wrong(try, "abort", vftrace_abort(), VFTRACE_OK);
	}
	bad = wrong(try, "join", vftrace_join(i, "client", NULL), VFTRACE_OK);
	if (try == 1 && last) {
		pause_s(0.3);
		raise(SIGKILL);
	}
	bad |= wrong(try, "start", vftrace_start(try == 2 ? 1.5 : 5), expected[try].start);
	if (expected[try].start)
		return bad | wrong(try, "leave", vftrace_leave(), VFTRACE_OK);
	if (try == 3 && last)
		raise(SIGKILL);
	vftrace_log_send(VFTRACE_COMM_WORLD, 0, 0, 1);
	return bad | wrong(try, "finish", vftrace_finish(5), expected[try].finish);
}

static int server(int try)
{
	int bad = wrong(try, "join", vftrace_join(0, "server", NULL), VFTRACE_OK);

	bad |= wrong(try, "expect", vftrace_expect(1 + CLIENTS, 0, NULL), VFTRACE_OK);
	bad |= wrong(try, "start", vftrace_start(try == 2 ? 1 : 5), expected[try].start);
	if (expected[try].start)
		return bad | wrong(try, "leave", vftrace_leave(), VFTRACE_OK);
	vftrace_log_receive(VFTRACE_COMM_WORLD, 1, 0, 1);
	return bad | wrong(try, "finish", vftrace_finish(5), expected[try].finish);
}

int main(void)
{
	int bad = 0, status;

	for (int try = 0; try < TRIES; try++) {
		struct timespec from, to;

		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i <= CLIENTS; i++)
			if (!fork())
				_exit(i ? client(try, i) : server(try));
		while (wait(&status) > 0)
			bad |= status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
						 (try == 1 || try == 3));
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("%s: %.1f s\n", expected[try].fault,
			(double)(to.tv_sec - from.tv_sec) +
				1e-9 * (double)(to.tv_nsec - from.tv_nsec));
		fflush(stdout);
		bad |= to.tv_sec - from.tv_sec > 4;
	}
	printf(bad ? "not as expected\n" : "all as expected\n");
	return bad != 0;
}
