/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

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

/*
 * How a loader is asked. glibc's --list stops at the first library that is
 * missing, its variable does not; another loader would run the program.
 */
static const struct {
	const char *name; /* how its base name begins */
	const char *option;
	const char *variable;
} loaders[] = {
	{"ld-linux", NULL, "LD_TRACE_LOADED_OBJECTS=1"},
	{"ld64.so", NULL, "LD_TRACE_LOADED_OBJECTS=1"},
	{"ld-musl", "--list", NULL},
};

/* This one's, with the variable (may be NULL). Only the array is allocated. */
static char **environment(const char *variable)
{
	char **out;
	size_t n = 0, k = 0;

	while (environ[n])
		n++;
	out = xcalloc(n + 2, sizeof(char *));
	for (size_t i = 0; i < n; i++) {
		size_t u = 0;

		while (u < ARRAY_SIZE(unwanted) &&
			strncmp(environ[i], unwanted[u], strlen(unwanted[u])))
			u++;
		if (u == ARRAY_SIZE(unwanted))
			out[k++] = environ[i];
	}
	out[k] = (char *)variable;
	return out;
}

/*
 * Index in loaders[], or -errno. A program names its loader itself: only one
 * that the system owns is run.
 */
static int check_loader(const char *interpreter)
{
	const char *slash = strrchr(interpreter, '/');
	struct stat st;

	if (interpreter[0] != '/')
		return -EPERM;
	if (stat(interpreter, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & 022))
		return -EPERM;
	for (size_t i = 0; i < ARRAY_SIZE(loaders); i++)
		if (!strncmp(slash + 1, loaders[i].name, strlen(loaders[i].name)))
			return (int)i;
	return -EPERM;
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

/* Runs argv with both outputs in a pipe, of which list takes what it knows. */
static int ask(struct loaded *list, char **argv, char **envp)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status, error;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
	error = -posix_spawn(&pid, argv[0], &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	take_lines(list, ends[0]);
	if (!error)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	return error;
}

int loaded_list(struct loaded *list, const char *program, const char *interpreter)
{
	int which = check_loader(interpreter), error;
	char *argv[4] = {(char *)interpreter}, **envp, *path;
	size_t n = 1;

	memset(list, 0, sizeof(*list));
	if (which < 0)
		return which;
	/* a loader takes a name without a slash for a library */
	path = strchr(program, '/') ? xstrdup(program) : xasprintf("./%s", program);
	envp = environment(loaders[which].variable);
	if (loaders[which].option)
		argv[n++] = (char *)loaders[which].option;
	argv[n] = path;
	error = ask(list, argv, envp);
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
