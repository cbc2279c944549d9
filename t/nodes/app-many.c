/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-many children N AT_ONCE	N children of fork() that call leaf() ten times each
 * app-many late N AT_ONCE	the same, between a fork and the child's first call; its
 *				parent has ended before the others begin
 * app-many busy N AT_ONCE	the same as children, after 20 million calls of leaf()
 *
 * The exit status is the number of children that failed, or 99.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAVES 10

__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < LEAVES; i++)
		leaf();
}

static int failed;

__attribute__((no_instrument_function)) static bool wait_for_one(void)
{
	int status;

	if (wait(&status) < 0)
		return false;
	failed += status != 0;
	return true;
}

__attribute__((noinline)) void children(int n, int at_once)
{
	int running = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			work();
			_exit(0);
		}
		failed += pid < 0;
		running += pid > 0;
		if (running >= at_once)
			running -= wait_for_one();
	}
	while (wait_for_one())
		;
}

/* The child of a child: it calls nothing until all others have ended. */
__attribute__((noinline)) void begin_late(int go, int over)
{
	char c;

	if (fork())
		_exit(0);
	if (read(go, &c, 1) != 0)
		_exit(1);
	work();
	if (write(over, "x", 1) != 1)
		_exit(1);
	_exit(0);
}

__attribute__((noinline)) void late(int n, int at_once)
{
	int go[2], over[2];
	char c;

	if (pipe(go) || pipe(over))
		exit(98);
	if (!fork()) {
		close(go[1]);
		close(over[0]);
		begin_late(go[0], over[1]);
	}
	close(over[1]);
	close(go[0]);
	wait_for_one();
	/* the others must not have our end, or the late one would wait for them */
	children(n, at_once);
	close(go[1]);
	failed += read(over[0], &c, 1) != 1;
}

__attribute__((noinline)) void busy(void)
{
	for (int i = 0; i < 20000000; i++)
		leaf();
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 97;
	if (!strcmp(argv[1], "busy"))
		busy();
	if (!strcmp(argv[1], "late"))
		late(atoi(argv[2]), atoi(argv[3]));
	else
		children(atoi(argv[2]), atoi(argv[3]));
	return failed > 99 ? 99 : failed;
}
