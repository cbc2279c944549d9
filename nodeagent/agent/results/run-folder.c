/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/results/run-folder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/agent/launch/program-name.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"

#define TRIES 100000

/* What this process has made and removes at its exit if it is empty; its copies do not. */
static char *made;
static pid_t maker;

static void remove_empty(void)
{
	if (made && getpid() == maker)
		rmdir(made); /* fails if there is anything */
}

static char *date_now(void)
{
	const time_t now = time(NULL);
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	return xstrdup(text);
}

static char *host_name(void)
{
	char host[256] = "localhost";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	return file_base(host);
}

char *run_folder_pattern(
	const char *wish, const char *program, const char *date, const char *host, char **error)
{
	char *job = batch_job(), *to = xstrdup("");
	const char *at = wish;

	while (*at) {
		const size_t n = strcspn(at, "%");
		const char *value = at[n] != '%'       ? ""
				    : at[n + 1] == 'p' ? program
				    : at[n + 1] == 'j' ? job
				    : at[n + 1] == 'd' ? date
				    : at[n + 1] == 'h' ? host
				    : at[n + 1] == '%' ? "%"
						       : NULL;

		to = xappend(to, "%.*s", (int)n, at);
		at += n;
		if (!*at)
			break;
		if (!value) {
			*error = at[1] == 'h' ? xasprintf("%%h is another host on each node, and "
							  "these have one folder")
					      : xasprintf("there is no %.2s; %%p is the program, "
							  "%%j the batch job, %%d date and time, "
							  "%%h the host, %%%% a %%",
							at);
			free(to);
			free(job);
			return NULL;
		}
		to = xappend(to, "%s", value);
		at += 2;
	}
	free(job);
	return to;
}

/* With all folders on the way. 0, or -1 and errno; *is_new: it was not there. */
static int make_with_parents(const char *path, bool *is_new)
{
	char *copy = xstrdup(path);
	int rc;

	for (char *slash = copy + 1; *copy && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(copy, 0777); /* the last one tells what is wrong */
		*slash = '/';
	}
	free(copy);
	rc = mkdir(path, 0777);
	*is_new = !rc;
	return rc && errno == EEXIST ? 0 : rc;
}

/* The folder that the user has named. */
static char *make_wished(const char *wish, const char *name, const char *date, bool several,
	bool *is_new, char **error)
{
	char *host = host_name(), real[PATH_MAX], *why = NULL;
	char *path = run_folder_pattern(wish, name, date, several ? NULL : host, &why);

	free(host);
	if (path && !make_with_parents(path, is_new) && realpath(path, real) &&
		!access(real, W_OK | X_OK)) {
		free(path);
		return xstrdup(real);
	}
	*error = why ? xasprintf("--output %s: %s", wish, why)
		     : xasprintf("--output %s: the folder cannot be made or written to: %s", wish,
			       strerror(errno));
	free(why);
	free(path);
	return NULL;
}

/* vftr-NAME-WHEN in that directory; who can make it has it, and others add -2, -3 ... */
static char *make_new(const char *dir, const char *name, const char *when, bool shared,
	bool *is_new, char **error)
{
	char *job = batch_job(), *first, *path;
	int n = 1;

	first = xasprintf("%s/vftr-%s-%s%s%s", dir, name, when, *job && !shared ? "-" : "",
		shared ? "" : job);
	path = xstrdup(first);
	free(job);
	while (mkdir(path, 0777) && !(errno == EEXIST && shared)) {
		if (errno != EEXIST || ++n > TRIES) {
			*error = xasprintf("cannot make the folder %s: %s", path, strerror(errno));
			free(path);
			path = NULL;
			break;
		}
		free(path);
		path = xasprintf("%s-%d", first, n);
	}
	*is_new = true;
	free(first);
	return path;
}

/* True if the folder, open as `at', has an entry of which is_it() says so. */
static bool has_entry(const char *folder, bool (*is_it)(int at, const char *name))
{
	DIR *d = opendir(folder);
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d)))
		found = is_it(dirfd(d), e->d_name);
	if (d)
		closedir(d);
	return found;
}

static bool is_result(int at, const char *name)
{
	struct result_parsed r;
	const bool found = result_parse(name, &r) && r.layout == LAYOUT_RUN;

	result_parsed_free(&r);
	return found;
}

static bool is_file(int at, const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..");
}

/* A profile, of all or of a node, which has more than nothing in it. */
static bool is_profile(int at, const char *name)
{
	struct result_parsed r;
	struct stat st;
	const bool found = result_parse(name, &r) &&
			   (r.kind == RESULT_PROFILE || r.kind == RESULT_NODE_PROFILE) &&
			   !fstatat(at, name, &st, 0) && st.st_size;

	result_parsed_free(&r);
	return found;
}

int run_folder_make(
	struct agent *a, char *const *command, const char *wish, const char *step, char **error)
{
	char *name = name_of_command(command), *date = step ? xstrdup(step) : date_now(), *path;
	bool is_new = false;

	*error = NULL;
	path = wish ? make_wished(wish, name, date, step, &is_new, error)
		    : make_new(a->host.output_directory, name, date, step, &is_new, error);
	if (path && !wish)
		a->folder_link = xasprintf("%s/vftr-%s-last", a->host.output_directory, name);
	free(date);
	free(name);
	if (!path)
		return -1;
	a->host.output_directory = path;
	if (wish && !is_new && !step && !a->quiet && has_entry(path, is_result))
		complain("results of another run in %s become NAME.old", path);
	if (is_new && !step) { /* others of the step may not have come to write yet */
		made = xstrdup(path);
		maker = getpid();
		atexit(remove_empty);
	}
	return 0;
}

void run_folder_link(const struct agent *a, bool failed)
{
	const char *folder = a->host.output_directory;
	char *suffix, *tmp;

	if (!a->folder_link || !has_entry(folder, is_file))
		return;
	if (failed && !has_entry(folder, is_profile)) {
		complain("%s has no profile: the link %s stays as it was", folder, a->folder_link);
		return;
	}
	suffix = write_suffix();
	tmp = xasprintf("%s%s", a->folder_link, suffix);
	if (symlink(basename(folder), tmp) || rename(tmp, a->folder_link)) {
		complain("cannot make the link %s: %s", a->folder_link, strerror(errno));
		unlink(tmp);
	}
	free(tmp);
	free(suffix);
}
