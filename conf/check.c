/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks beyond one value: keys against each other and against the file system. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/internal.h"

/* [FILE:LINE: ]KEY: cause; consumes cause. */
static int wrong(const struct conf *c, enum conf_id id, char *cause, char **error)
{
	const char *path = conf_options[id].path, *text = cause ? cause : "not valid";

	if (c->file && c->line[id])
		*error = text_of("%s:%d: %s: %s", c->file, c->line[id], path, text);
	else
		*error = text_of("%s: %s", path, text);
	free(cause);
	return -1;
}

static bool has_scenario(const struct conf *c)
{
	return c->hwprof_default_scenario && c->hwprof_default_scenario[0];
}

int check_whole(const struct conf *c, char **error)
{
	size_t n = c->hwprof_observables.n;
	const char *launcher = c->agent_launcher;

	*error = NULL;
	if (launcher && !launcher[strspn(launcher, " \t\n")])
		return wrong(c, CONF_ID_agent_launcher,
			text_of("\"%s\" is not a command", launcher), error);
	if (has_scenario(c) && (n > 0 || c->hwprof_counters.n > 0))
		return wrong(c, CONF_ID_hwprof_default_scenario,
			text_of("it excludes hwprof.counters and hwprof.observables"), error);
	if (n > 0 && (unsigned long long)c->hwprof_sort_by_column >= n)
		return wrong(c, CONF_ID_hwprof_sort_by_column,
			text_of("%lld is not the position of an observable: there are %zu, the "
				"first is 0",
				c->hwprof_sort_by_column, n),
			error);
	return 0;
}

/* NULL, or why not: to root all is permitted, but /proc takes no files. */
static const char *why_no_file_in(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	char *path;

	if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
		return strerror(errno);
	if (fd < 0) { /* of a file system without files that have no name */
		path = text_of("%s/.vftr-XXXXXX", dir);
		fd = path ? mkostemp(path, O_CLOEXEC) : -1;
		if (fd >= 0)
			unlink(path);
		free(path);
	}
	if (fd < 0)
		return errno == ENOENT ? "no file can be made in it" : strerror(errno);
	close(fd);
	return NULL;
}

/* 0, or -1 as wrong(). */
static int check_directory(const struct conf *c, enum conf_id id, const char *dir, char **error)
{
	const char *cause = NULL;
	char buf[QUOTE_BYTES];
	struct stat st;

	if (stat(dir, &st) < 0)
		cause = strerror(errno);
	else if (!S_ISDIR(st.st_mode))
		cause = "it is not a directory";
	else if (access(dir, W_OK | X_OK) < 0)
		cause = strerror(errno);
	else
		cause = why_no_file_in(dir);
	if (!cause)
		return 0;
	return wrong(c, id,
		text_of("\"%s\" can't be written to: %s", quoted(buf, dir, strlen(dir)), cause),
		error);
}

/* Checks outfile_basename, which may contain the path of a folder. */
static int check_basename(const struct conf *c, char **error)
{
	const char *base = c->outfile_basename, *slash = base ? strrchr(base, '/') : NULL;
	size_t bytes = base ? strlen(slash ? slash + 1 : base) : 0;
	char *dir;
	int e;

	if (bytes > CONF_BASENAME_MAX)
		return wrong(c, CONF_ID_outfile_basename,
			text_of("a file name of %zu bytes; %d are the limit", bytes,
				CONF_BASENAME_MAX),
			error);
	if (!slash)
		return 0;
	dir = text_of("%s/%.*s", c->output_directory, (int)(slash - base), base);
	e = dir ? check_directory(c, CONF_ID_outfile_basename, dir, error) : -1;
	free(dir);
	return e;
}

int conf_check_paths(const struct conf *c, bool writes, char **error)
{
	const char *scenario = c->hwprof_default_scenario;
	char buf[QUOTE_BYTES];

	if (check_whole(c, error) < 0 || check_basename(c, error) < 0)
		return -1;
	if (writes && check_directory(c, CONF_ID_output_directory, c->output_directory, error) < 0)
		return -1;
	if (has_scenario(c) && access(scenario, R_OK) < 0)
		return wrong(c, CONF_ID_hwprof_default_scenario,
			text_of("\"%s\" can't be read: %s", quoted(buf, scenario, strlen(scenario)),
				strerror(errno)),
			error);
	return 0;
}
