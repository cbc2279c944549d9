/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that start others, which start others: each level is attached to the one
 * above. A parent says hello to its children over pipes, and they answer. The library is
 * loaded, if its path is given; without it the program does the same, untraced.
 *	fork-tree DEPTH CHILDREN [LIBRARY]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vftrace-dynamic.h"

#define MOST	     16
#define CONTACT_MOST 2049

static int traced; /* nothing has gone wrong so far */

static void note(const char *what, int code)
{
	if (code && code != VFTRACE_NO_AGENT)
		fprintf(stderr, "fork-tree: %s: %s\n", what, vftrace_last_error());
	traced = traced && !code;
}

static void logged(int sent, int comm, int peer, int tag, size_t bytes)
{
	if (traced)
		note("log", sent ? vftrace_log_send(comm, peer, tag, bytes)
				 : vftrace_log_receive(comm, peer, tag, bytes));
}

struct pipes {
	int to, from;
};

static int grow(int depth, int children);

/* Tag 0 is the greeting, 1 the answer: so many processes are below. */
static int live_as_child(int number, int depth, int children, struct pipes p, const char *contact)
{
	int parent = VFTRACE_COMM_INVALID, below;
	char hello[5];

	note("join", vftrace_join(number, "child", &contact));
	if (traced)
		note("start", vftrace_start(20));
	if (traced)
		note("parent", vftrace_parent(&parent));
	if (read(p.from, hello, sizeof(hello)) != sizeof(hello))
		return -1;
	logged(0, parent, 0, 0, sizeof(hello));
	below = grow(depth - 1, children);
	logged(1, parent, 0, 1, sizeof(below));
	if (write(p.to, &below, sizeof(below)) != sizeof(below))
		return -1;
	if (traced)
		note("finish", vftrace_finish(20));
	return below;
}

/* Number of processes from here on, or -1. */
static int grow(int depth, int children)
{
	char contact[CONTACT_MOST] = "";
	const char *own = NULL;
	struct pipes at[MOST];
	int all = VFTRACE_COMM_INVALID, sum = 1, below;

	if (!depth)
		return 1;
	if (traced)
		note("children", vftrace_children(&own));
	if (own)
		snprintf(contact, sizeof(contact), "%s", own);
	for (int i = 0; i < children; i++) {
		int down[2], up[2];

		if (pipe(down) || pipe(up))
			return -1;
		if (!fork())
			_exit(live_as_child(i, depth, children, (struct pipes){up[1], down[0]},
				      contact) < 0);
		close(down[0]);
		close(up[1]);
		at[i] = (struct pipes){down[1], up[0]};
	}
	if (traced)
		note("attach", vftrace_attach(0, VFTRACE_COMM_SELF, children, contact, 20, &all));
	for (int i = 0; i < children; i++) {
		logged(1, all, i + 1, 0, 5);
		if (write(at[i].to, "hello", 5) != 5)
			return -1;
	}
	for (int i = 0; i < children; i++) {
		if (read(at[i].from, &below, sizeof(below)) != sizeof(below))
			return -1;
		logged(0, all, i + 1, 1, sizeof(below));
		sum += below;
	}
	while (wait(NULL) > 0)
		;
	return sum;
}

int main(int argc, char **argv)
{
	int depth = argc > 1 ? atoi(argv[1]) : 2, children = argc > 2 ? atoi(argv[2]) : 2, n;

	if (depth < 0 || children < 1 || children > MOST)
		return 2;
	traced = argc < 4 || !vftrace_load(argv[3]);
	note("join", vftrace_join(0, "root", NULL));
	if (traced)
		note("expect", vftrace_expect(1, 0, NULL));
	if (traced)
		note("start", vftrace_start(20));
	n = grow(depth, children);
	if (traced)
		note("finish", vftrace_finish(20));
	printf("%d processes\n", n);
	return n < 0;
}
