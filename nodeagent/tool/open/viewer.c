/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/open/viewer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

const char *viewer_format(const char *command)
{
	static const struct {
		const char *program, *format;
	} known[] = {
		{"vampir", "otf2"},
		{"wxparaver", "paraver"},
		{"paraver", "paraver"},
		{"speedscope", "speedscope"},
	};
	char *program = xstrdup(command);
	const char *name, *format = "perfetto";

	program[strcspn(program, " \t")] = '\0';
	name = basename(program);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].program, name))
			format = known[i].format;
	free(program);
	return format;
}

static volatile sig_atomic_t child;

static void hand_on(int number)
{
	if (child > 0)
		kill(child, number);
}

int viewer_run(const char *command, const char *path)
{
	const struct sigaction on_term = {.sa_handler = hand_on}, ignore = {.sa_handler = SIG_IGN};
	char *line = xasprintf("exec %s \"$1\"", command);
	struct sigaction of_int, of_term;
	int status = 0;
	pid_t ended;

	/* ^C is for the viewer; we still have a file to remove */
	sigaction(SIGINT, &ignore, &of_int);
	sigaction(SIGTERM, &on_term, &of_term);
	child = fork();
	if (!child) {
		sigaction(SIGINT, &of_int, NULL);
		sigaction(SIGTERM, &of_term, NULL);
		execl("/bin/sh", "sh", "-c", line, "sh", path, (char *)NULL);
		_exit(127);
	}
	free(line);
	if (child < 0) {
		complain("open: cannot start a shell: %s", strerror(errno));
		return 2;
	}
	do
		ended = waitpid(child, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 126)) {
		complain("open: cannot start the viewer `%s'", command);
		return 2;
	}
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	complain("open: the viewer `%s' ended with %s %d", command,
		WIFEXITED(status) ? "status" : "signal",
		WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 1;
}
