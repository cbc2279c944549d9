/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that the agent must not harm, whatever becomes of it: app-unharmed KIND N.
 * Each prints what it has done, and ends with status 7. And surroundings for others:
 * app-unharmed as SURROUNDING COMMAND...
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "vftrace.h"

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define STATUS	 7
#define AT_ONCE	 8 /* children */

static volatile long sink;
static const char *self;

KEEP static void leaf(void)
{
	sink++;
}

KEEP static void work(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

static UNTRACED double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* For N ms of its own, however long that takes. */
static UNTRACED int loop(int n)
{
	for (int i = 0; i < n; i++)
		work(20000);
	return n;
}

static UNTRACED int regions(int n)
{
	char name[64];

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "a region with a name %d", i);
		vftrace_region_begin(name);
		leaf();
		vftrace_region_end(name);
	}
	return n;
}

static UNTRACED int stack(int n)
{
	leaf();
	for (int i = 0; i < n; i++)
		free(vftrace_get_stack());
	return n;
}

static UNTRACED void child(int again)
{
	char *const argv[] = {(char *)(size_t)self, (char *)(size_t) "leaf", NULL};

	leaf();
	if (again)
		execv(self, argv);
	exit(5);
}

static UNTRACED int ended(void)
{
	int status;

	return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 5;
}

/* The children that have ended as they should. */
static UNTRACED int children(int n, int at_once, int again)
{
	int ok = 0, live = 0;

	leaf();
	fflush(stdout);
	for (int i = 0; i < n; i++) {
		pid_t p = fork();

		if (!p)
			child(again);
		if (p > 0 && ++live == at_once) {
			ok += ended();
			live--;
		}
	}
	while (live--)
		ok += ended();
	return ok;
}

/* ---- surroundings -------------------------------------------------------------- */

static UNTRACED void make_pipe(int full)
{
	int end[2];

	if (pipe(end))
		exit(99);
	signal(SIGPIPE, SIG_DFL);
	if (full) {
		fcntl(end[1], F_SETFL, O_NONBLOCK);
		while (write(end[1], "full of what nobody reads", 25) > 0 ||
			write(end[1], "x", 1) > 0)
			;
		fcntl(end[1], F_SETFL, 0);
	} else {
		close(end[0]);
	}
	dup2(end[1], STDERR_FILENO);
}

static UNTRACED int surround(char **argv)
{
	const struct rlimit none = {0, 0};
	int fd;

	if (!strcmp(argv[0], "pipe"))
		make_pipe(0);
	if (!strcmp(argv[0], "full"))
		make_pipe(1);
	if (!strcmp(argv[0], "limit")) {
		signal(SIGXFSZ, SIG_DFL);
		fd = open("limited", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		dup2(fd, STDERR_FILENO);
		setrlimit(RLIMIT_FSIZE, &none);
	}
	if (!strcmp(argv[0], "closed"))
		close(STDERR_FILENO);
	execvp(argv[1], argv + 1);
	return 99;
}

/* Its descriptor 2 is a file of data when the library has something to say. */
static UNTRACED int data(void)
{
	close(STDERR_FILENO);
	if (open("data.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600) != STDERR_FILENO ||
		write(STDERR_FILENO, "HEADER01", 8) != 8)
		return 99;
	leaf();
	return write(STDERR_FILENO, "RECORD02", 8) == 8 ? STATUS : 99;
}

UNTRACED int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, ok = -1;
	double from = now();

	self = argv[0];
	if (argc > 3 && !strcmp(argv[1], "as"))
		return surround(argv + 2);
	if (argc == 2 && !strcmp(argv[1], "leaf")) {
		work(10);
		return 5;
	}
	if (argc == 2 && !strcmp(argv[1], "data"))
		return data();
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "loop"))
		ok = loop(n);
	else if (!strcmp(argv[1], "regions"))
		ok = regions(n);
	else if (!strcmp(argv[1], "stack"))
		ok = stack(n);
	else if (!strcmp(argv[1], "fork"))
		ok = children(n, AT_ONCE, 0);
	else if (!strcmp(argv[1], "exec"))
		ok = children(n, AT_ONCE, 1);
	else if (!strcmp(argv[1], "all")) /* children at the same time */
		ok = children(n, n, 0);
	printf("%s %d\n", argv[1], ok);
	if (argc > 3) { /* a file for how long it took, in seconds */
		FILE *f = fopen(argv[3], "w");

		if (f)
			fprintf(f, "%.3f\n", now() - from);
		if (f)
			fclose(f);
	}
	return STATUS;
}
