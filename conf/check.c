/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks beyond one value: keys against each other and against the file system. */
#include <errno.h>
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

	*error = NULL;
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

static int check_directory(const struct conf *c, char **error)
{
	const char *dir = c->output_directory, *cause = NULL;
	char buf[QUOTE_BYTES];
	struct stat st;

	if (stat(dir, &st) < 0)
		cause = strerror(errno);
	else if (!S_ISDIR(st.st_mode))
		cause = "it is not a directory";
	else if (access(dir, W_OK | X_OK) < 0)
		cause = strerror(errno);
	if (!cause)
		return 0;
	return wrong(c, CONF_ID_output_directory,
		text_of("\"%s\" can't be written to: %s", quoted(buf, dir, strlen(dir)), cause),
		error);
}

int conf_check_paths(const struct conf *c, char **error)
{
	const char *scenario = c->hwprof_default_scenario;
	char buf[QUOTE_BYTES];

	if (check_whole(c, error) < 0 || check_directory(c, error) < 0)
		return -1;
	if (has_scenario(c) && access(scenario, R_OK) < 0)
		return wrong(c, CONF_ID_hwprof_default_scenario,
			text_of("\"%s\" can't be read: %s", quoted(buf, scenario, strlen(scenario)),
				strerror(errno)),
			error);
	return 0;
}
