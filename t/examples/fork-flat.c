/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that forks N children and talks to them over pipes; all are one session. The
 * parent is rank 0, and its contact is handed on as in programs that start others in
 * another way.
 *	fork-flat N
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vftrace-session.h"

#define MOST 100

static int fails(const char *what, int code)
{
	if (code)
		fprintf(stderr, "fork-flat: %s: %s\n", what, vftrace_last_error());
	return code;
}

/* Reads a number and returns its square. */
static int child(int number, int from, int to, const char *contact)
{
	int x;

	if (fails("join", vftrace_join(number, "child", &contact)) ||
		fails("start", vftrace_start(20)))
		return 1;
	if (read(from, &x, sizeof(x)) != sizeof(x))
		return 1;
	vftrace_log_receive(VFTRACE_COMM_WORLD, 0, 0, sizeof(x));
	x *= x;
	vftrace_log_send(VFTRACE_COMM_WORLD, 0, 1, sizeof(x));
	if (write(to, &x, sizeof(x)) != sizeof(x))
		return 1;
	return fails("finish", vftrace_finish(20));
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3, to[MOST], from[MOST], x, sum = 0, bad = 0, status;
	const char *contact = NULL;
	char server[4096];

	if (n < 1 || n > MOST || fails("join", vftrace_join(0, "parent", &contact)) ||
		fails("expect", vftrace_expect(n + 1, 0, NULL)))
		return 1;
	snprintf(server, sizeof(server), "S:%s", contact);
	for (int i = 0; i < n; i++) {
		int down[2], up[2];

		if (pipe(down) || pipe(up))
			return 1;
		if (!fork())
			_exit(child(i + 1, down[0], up[1], server));
		close(down[0]);
		close(up[1]);
		to[i] = down[1];
		from[i] = up[0];
	}
	if (fails("start", vftrace_start(20)))
		return 1;
	for (int i = 0; i < n; i++) {
		vftrace_log_send(VFTRACE_COMM_WORLD, i + 1, 0, sizeof(i));
		bad |= write(to[i], &i, sizeof(i)) != sizeof(i);
	}
	for (int i = 0; i < n; i++) {
		bad |= read(from[i], &x, sizeof(x)) != sizeof(x);
		vftrace_log_receive(VFTRACE_COMM_WORLD, i + 1, 1, sizeof(x));
		sum += x;
	}
	bad |= fails("finish", vftrace_finish(20));
	while (wait(&status) > 0)
		bad |= status;
	printf("sum %d\n", sum);
	return bad != 0;
}
