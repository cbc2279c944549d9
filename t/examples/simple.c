/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where nothing goes wrong: N processes pass numbers round a ring of pipes, and are traced
 * as a session. What to look for:
 *	- a message is logged before it is written, and after it was read
 *	- a message to oneself goes through VFTRACE_COMM_SELF
 *	- each phase is a round of its own, with its own output files
 *	- a state says what was done, a counter how much there was of something
 * Then PROGRAM_all.json has each message as matched, and PROGRAM.round1_all.json those of
 * the first phase. Each call returns why it did nothing; a program can do without.
 *	simple N ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vftrace-session.h"

#define MOST	 64
#define TAG_SELF 1001
#define TAG_NEXT 7

struct place {
	int rank, size;
	int from, to; /* pipes */
};

/* Says why tracing does not work, once; the program goes on without. */
static void note(const char *what, int code)
{
	static int said;

	if (code && code != VFTRACE_NO_AGENT && !said++)
		fprintf(stderr, "simple: %s: %s\n", what, vftrace_last_error());
}

/* What one process keeps for later is a message to itself. */
static void keep(uint64_t bytes)
{
	vftrace_log_send(VFTRACE_COMM_SELF, 0, TAG_SELF, bytes);
	vftrace_log_receive(VFTRACE_COMM_SELF, 0, TAG_SELF, bytes);
	vftrace_log_data(bytes, "kept");
}

/* Each round the first process starts a number, and all add their rank. -1: a pipe broke. */
static int pass(const struct place *at, int steps, int sum_counter)
{
	const int next = (at->rank + 1) % at->size, before = (at->rank + at->size - 1) % at->size;
	int sum = 0, x = 0;

	for (int i = 0; i < steps; i++) {
		if (at->rank) {
			if (read(at->from, &x, sizeof(x)) != sizeof(x))
				return -1;
			vftrace_log_receive(VFTRACE_COMM_WORLD, before, TAG_NEXT, sizeof(x));
		} else {
			x = 0;
		}
		x += at->rank;
		vftrace_log_send(VFTRACE_COMM_WORLD, next, TAG_NEXT, sizeof(x));
		if (write(at->to, &x, sizeof(x)) != sizeof(x))
			return -1;
		if (!at->rank) {
			if (read(at->from, &x, sizeof(x)) != sizeof(x))
				return -1;
			vftrace_log_receive(VFTRACE_COMM_WORLD, before, TAG_NEXT, sizeof(x));
		}
		sum += x;
		vftrace_counter_set_integer(sum_counter, sum);
	}
	return sum;
}

static int live(const struct place *at, int rounds)
{
	int ring, passing = 0, here = 0, sum = 0, counter = 0;

	note("join", vftrace_join(at->rank, at->rank ? "worker" : "first", NULL));
	if (!at->rank)
		note("expect", vftrace_expect(at->size, 0, NULL));
	if (!vftrace_class("ring", &ring))
		note("state", vftrace_state("passing", ring, &passing));
	note("location", vftrace_location(__FILE__, __LINE__, &here));
	note("counter", vftrace_counter_define("sum", "", VFTRACE_COUNTER_INTEGER, &counter));
	for (int round = 1; round <= rounds && sum >= 0; round++) {
		note("start", vftrace_start(20));
		keep(1000);
		vftrace_enter(passing, here);
		sum = pass(at, 10 * round, counter);
		vftrace_leave_state(passing, here);
		note("finish", vftrace_finish(20));
	}
	if (!at->rank)
		printf("sum %d\n", sum);
	return sum < 0;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3, rounds = argc > 2 ? atoi(argv[2]) : 2;
	int pipes[MOST][2], bad = 0, status;

	if (n < 2 || n > MOST || rounds < 1)
		return 2;
	for (int i = 0; i < n; i++)
		if (pipe(pipes[i]))
			return 1;
	for (int i = 0; i < n; i++) {
		const struct place at = {i, n, pipes[i][0], pipes[(i + 1) % n][1]};

		if (!fork()) {
			bad = live(&at, rounds);
			fflush(stdout);
			_exit(bad);
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad != 0;
}
