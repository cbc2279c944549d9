/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/loaded.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/util.h"

#define OBJECTS_MAX 65536

extern char **environ;

/* Makes the loader say or do something else than list. */
static const char *const unwanted[] = {
	"LD_AUDIT=",
	"LD_DEBUG=",
	"LD_DEBUG_OUTPUT=",
	"LD_PROFILE=",
	"LD_SHOW_AUXV=",
	"LD_VERBOSE=",
	"LD_WARN=",
};

static char **environment(void)
{
	char **out;
	size_t n = 0, k = 0;

	while (environ[n])
		n++;
	out = xcalloc(n + 1, sizeof(char *));
	for (size_t i = 0; i < n; i++) {
		size_t u = 0;

		while (u < ARRAY_SIZE(unwanted) &&
			strncmp(environ[i], unwanted[u], strlen(unwanted[u])))
			u++;
		if (u == ARRAY_SIZE(unwanted))
			out[k++] = environ[i];
	}
	return out;
}

/* A program names its loader itself: only one that the system owns is run. */
static int check_loader(const char *interpreter)
{
	struct stat st;

	if (interpreter[0] != '/')
		return -EPERM;
	if (stat(interpreter, &st))
		return -errno;
	return S_ISREG(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022) ? 0 : -EPERM;
}

/* Lines: "\tNAME => PATH (0x...)", "\tPATH (0x...)", "\tNAME => not found". */
static void take_line(struct loaded *list, char *line)
{
	char *arrow, *path, *address;

	line[strcspn(line, "\n")] = 0;
	arrow = strstr(line, " => ");
	path = arrow ? arrow + 4 : line + 1;
	address = strstr(path, " (0x");
	while (address && strstr(address + 1, " (0x"))
		address = strstr(address + 1, " (0x");
	if (*line != '\t' || (!address && !(arrow && !strncmp(path, "not found", 9)))) {
		if (*line && !list->trouble && !strstr(line, "statically linked"))
			list->trouble = xstrdup(line);
		return;
	}
	if (address)
		*address = 0;
	if (arrow)
		*arrow = 0;
	else if (!strchr(path, '/')) /* the kernel's own, not a file */
		return;
	if (list->n >= OBJECTS_MAX)
		return;
	list->objects = grow(list->objects, list->n, &list->cap, sizeof(*list->objects));
	list->objects[list->n].name = xstrdup(line + 1);
	list->objects[list->n++].path = address ? xstrdup(path) : NULL;
}

static void take_lines(struct loaded *list, int fd)
{
	FILE *f = fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;

	if (!f) {
		close(fd);
		return;
	}
	while (getline(&line, &cap, f) > 0)
		take_line(list, line);
	free(line);
	fclose(f);
}

int loaded_list(struct loaded *list, const char *program, const char *interpreter)
{
	/* a loader takes a name without a slash for a library */
	char *path = strchr(program, '/') ? xstrdup(program) : xasprintf("./%s", program);
	char option[] = "--list", *argv[] = {(char *)interpreter, option, path, NULL};
	char **envp = environment();
	posix_spawn_file_actions_t actions;
	int ends[2], status, error;
	pid_t pid;

	memset(list, 0, sizeof(*list));
	error = check_loader(interpreter);
	if (!error && pipe2(ends, O_CLOEXEC))
		error = -errno;
	if (error)
		goto out;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
	error = -posix_spawn(&pid, interpreter, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	take_lines(list, ends[0]);
	if (!error) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	}
out:
	free(envp);
	free(path);
	return error;
}

void loaded_free(struct loaded *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->objects[i].name);
		free(list->objects[i].path);
	}
	free(list->objects);
	free(list->trouble);
	memset(list, 0, sizeof(*list));
}
