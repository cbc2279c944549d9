/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can go wrong, and how a program sees it. A server and two clients try eight times
 * to be a session; in the first six something is broken on purpose:
 *	1 a client takes a number that another one has      ERROR_NUMBER there; the others
 *	  are freed by its abort
 *	2 a client is killed before it starts               ERROR_DEAD, with its name
 *	3 a client never comes                              ERROR_TIMEOUT
 *	4 a client is killed in the round                   ERROR_DEAD from finish
 *	5 a client got a contact that is not the server's   ERROR_CONTACT there; without it
 *	  the others give up: ERROR_ABORTED
 *	6 no agent can be started                           NO_AGENT from all calls
 * and the last two are fine. Each process goes on as if nothing had happened: no fault may
 * cost the program more than a sentence, and none leaves anything behind. Compile it without
 * -finstrument-functions: a traced main() has an agent before the sixth try.
 *	errors
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vftrace-session.h"

#define TRIES	8
#define CLIENTS 2

enum { NUMBER_TAKEN, DIES_BEFORE, NEVER_COMES, DIES_IN_ROUND, WRONG_CONTACT, NO_AGENT };

/* What start and finish should say. */
static const struct {
	const char *fault;
	int start, finish;
} expected[TRIES] = {
	{"a number that is taken", VFTRACE_ERROR_ABORTED, 0},
	{"killed before the start", VFTRACE_ERROR_DEAD, 0},
	{"a client that does not come", VFTRACE_ERROR_TIMEOUT, 0},
	{"killed in the round", VFTRACE_OK, VFTRACE_ERROR_DEAD},
	{"a wrong contact", VFTRACE_ERROR_ABORTED, 0},
	{"no agent", VFTRACE_NO_AGENT, 0},
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

/* The agent of a session that nobody serves would be started from here. */
static int without_agent(int try)
{
	int bad = setenv("VFTR_SESSION", "nobody", 1) ||
		  setenv("VFTR_AGENT", "/nonexistent/vftr-node-agent", 1);

	bad |= wrong(try, "join", vftrace_join(-1, "alone", NULL), VFTRACE_NO_AGENT);
	bad |= wrong(try, "start", vftrace_start(5), expected[try].start);
	bad |= wrong(try, "send", vftrace_log_send(VFTRACE_COMM_WORLD, 0, 0, 1), VFTRACE_NO_AGENT);
	return bad | wrong(try, "finish", vftrace_finish(5), VFTRACE_NO_AGENT);
}

static int waiting[2]; /* a pipe: a byte of each process that is about to wait */

static int wait_to_start(int try, double timeout_s)
{
	if (write(waiting[1], "", 1) != 1)
		return 1;
	return wrong(try, "start", vftrace_start(timeout_s), expected[try].start);
}

static void until_others_wait(void)
{
	char byte;

	close(waiting[1]); /* else nobody would see that they are gone */
	for (int i = 0; i < CLIENTS; i++)
		if (read(waiting[0], &byte, 1) != 1)
			return;
	pause_s(0.3);
}

/* What cannot take part, frees those that wait for it. */
static int give_up(int try, int number)
{
	int bad = wrong(try, "join", vftrace_join(number, "client", NULL), VFTRACE_OK);

	return bad | wrong(try, "abort", vftrace_abort(), VFTRACE_OK);
}

static int last_client(int try)
{
	const char *contact = "S:nowhere/nobody#0123456789abcdef";
	int bad;

	switch (try) {
	case NUMBER_TAKEN:
		until_others_wait();
		bad = wrong(try, "join", vftrace_join(1, "client", NULL), VFTRACE_ERROR_NUMBER);
		return bad | give_up(try, CLIENTS);
	case DIES_BEFORE:
		bad = wrong(try, "join", vftrace_join(CLIENTS, "client", NULL), VFTRACE_OK);
		until_others_wait();
		raise(SIGKILL);
		return bad;
	case NEVER_COMES:
		return 0;
	case WRONG_CONTACT:
		until_others_wait();
		bad = wrong(try, "join", vftrace_join(CLIENTS, "client", &contact),
			VFTRACE_ERROR_CONTACT);
		return bad | give_up(try, CLIENTS);
	}
	return -1; /* it is like the other */
}

static int client(int try, int i)
{
	int bad = i == CLIENTS ? last_client(try) : -1;

	if (bad >= 0)
		return bad;
	bad = wrong(try, "join", vftrace_join(i, "client", NULL), VFTRACE_OK);
	bad |= wait_to_start(try, try == NEVER_COMES ? 1.5 : 5);
	if (expected[try].start)
		return bad | wrong(try, "leave", vftrace_leave(), VFTRACE_OK);
	if (try == DIES_IN_ROUND && i == CLIENTS)
		raise(SIGKILL);
	vftrace_log_send(VFTRACE_COMM_WORLD, 0, 0, 1);
	return bad | wrong(try, "finish", vftrace_finish(5), expected[try].finish);
}

static int server(int try)
{
	int bad = wrong(try, "join", vftrace_join(0, "server", NULL), VFTRACE_OK);

	bad |= wrong(try, "expect", vftrace_expect(1 + CLIENTS, 0, NULL), VFTRACE_OK);
	bad |= wait_to_start(try, try == NEVER_COMES ? 1 : 5);
	if (expected[try].start)
		return bad | wrong(try, "leave", vftrace_leave(), VFTRACE_OK);
	vftrace_log_receive(VFTRACE_COMM_WORLD, 1, 0, 1);
	return bad | wrong(try, "finish", vftrace_finish(5), expected[try].finish);
}

static int live(int try, int i)
{
	return try == NO_AGENT ? without_agent(try) : i ? client(try, i) : server(try);
}

int main(void)
{
	int bad = 0, status;

	for (int try = 0; try < TRIES; try++) {
		struct timespec from, to;

		if (pipe(waiting))
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (int i = 0; i <= CLIENTS; i++)
			if (!fork())
				_exit(live(try, i));
		while (wait(&status) > 0)
			bad |= status && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
						 (try == DIES_BEFORE || try == DIES_IN_ROUND));
		clock_gettime(CLOCK_MONOTONIC, &to);
		close(waiting[0]);
		close(waiting[1]);
		printf("%s: %.1f s\n", expected[try].fault,
			(double)(to.tv_sec - from.tv_sec) +
				1e-9 * (double)(to.tv_nsec - from.tv_nsec));
		fflush(stdout);
		bad |= to.tv_sec - from.tv_sec > 4;
	}
	printf(bad ? "not as expected\n" : "all as expected\n");
	return bad != 0;
}
