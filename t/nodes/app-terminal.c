/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-terminal WORDS KEYS... -- COMMAND...: COMMAND on a terminal of its own, as the leader of
 * its session. When WORDS have been printed, KEYS are typed, and so on; \n \d \z in KEYS are
 * Enter, ^D and ^Z. Prints what COMMAND and the terminal print, without carriage returns, and
 * then "status N". Words that do not come in 30 s end it with status 99.
 */
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 30000

static char seen[1 << 16];
static size_t n_seen, matched;

/* False: the terminal has gone, or nothing came for too long. */
static int read_more(int terminal)
{
	struct pollfd p = {.fd = terminal, .events = POLLIN};
	char bytes[4096];
	ssize_t n;

	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return 0;
	n = read(terminal, bytes, sizeof(bytes));
	for (ssize_t i = 0; i < n; i++)
		if (bytes[i] != '\r' && n_seen + 1 < sizeof(seen))
			seen[n_seen++] = bytes[i];
	return n > 0;
}

static int wait_for(int terminal, const char *words)
{
	const char *at;

	while (!(at = strstr(seen + matched, words)))
		if (!read_more(terminal))
			return 0;
	matched = (size_t)(at - seen) + strlen(words);
	return 1;
}

static void type(int terminal, const char *keys)
{
	for (; *keys; keys++) {
		char c = *keys;

		if (c == '\\' && keys[1]) {
			keys++;
			c = *keys == 'n' ? '\n' : *keys == 'd' ? 4 : 26;
		}
		if (write(terminal, &c, 1) != 1)
			return;
	}
}

int main(int argc, char **argv)
{
	int terminal, status, i = 1;
	pid_t pid;

	while (i < argc && strcmp(argv[i], "--"))
		i++;
	if (i + 1 >= argc)
		return 2;
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (!pid) {
		execvp(argv[i + 1], argv + i + 1);
		_exit(127);
	}
	for (int k = 1; k + 1 < i; k += 2) {
		if (!wait_for(terminal, argv[k])) {
			printf("%s\nnot seen: %s\n", seen, argv[k]);
			kill(-pid, SIGKILL);
			return 99;
		}
		type(terminal, argv[k + 1]);
	}
	while (read_more(terminal))
		;
	waitpid(pid, &status, 0);
	printf("%sstatus %d\n", seen,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
