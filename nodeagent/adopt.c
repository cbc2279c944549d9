/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/adopt.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/agent.h"
#include "nodeagent/merge.h"
#include "nodeagent/profile.h"
#include "nodeagent/session.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp.h"
#include "shm/clock.h"

#define BEFORE_S	 5 /* a job may be that much older than we are */
#define FIRST_PAUSE_NS	 UINT64_C(500000000)
#define LONGEST_PAUSE_NS UINT64_C(5000000000)
#define REFUSALS_MOST	 100

static bool seen;

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

static bool is_recent(const struct agent *a, const struct stat *st)
{
	return st->st_mtime >= a->start_s - BEFORE_S;
}

static bool is_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Sessions of agents that processes started for themselves: see attach.c. */
static bool somebody_else(const struct agent *a)
{
	char *error = NULL, *dir = runtime_directory(&error);
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		char *path;
		struct stat st;

		if (!ends_with(e->d_name, ".lock") ||
			(strncmp(e->d_name, "job-", 4) && strncmp(e->d_name, "process-", 8)))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		found = strcmp(path, a->lock_path) && !stat(path, &st) && is_recent(a, &st) &&
			is_locked(path);
		free(path);
	}
	if (d)
		closedir(d);
	free(dir);
	free(error);
	return found;
}

/* Those of agents that we have seen, or that ended after we began. */
static bool is_left_for_us(const struct agent *a, const struct stat *st)
{
	double written = (double)st->st_mtim.tv_sec + 1e-9 * (double)st->st_mtim.tv_nsec;

	return seen ? is_recent(a, st) : written > a->start_exact_s;
}

/* We look again and again, and say it once of a file. */
static void refuse(const char *path, const struct stat *st, const char *why)
{
	static ino_t said[REFUSALS_MOST];
	static size_t n;

	for (size_t i = 0; i < n; i++)
		if (said[i] == st->st_ino)
			return;
	if (n == REFUSALS_MOST)
		return;
	said[n++] = st->st_ino;
	complain("%s is not taken for a profile of this run: %s", path, why);
}

/* Anybody who may write there may have put it there: only one of ours is taken. */
static struct profile *take(const struct agent *a, const char *path, const struct stat *st)
{
	const char *why = not_own_file(path, st);
	char *error = NULL;
	struct profile *p;

	if (why) {
		refuse(path, st, why);
		return NULL;
	}
	p = vfp_read_own(path, &error);
	if (error)
		complain("%s", error);
	else if (!a->quiet)
		complain("%s is taken as the profile of this node, which another agent of this "
			 "user has left",
			path);
	free(error);
	return p;
}

static struct profile *profiles_left(const struct agent *a)
{
	char *suffix = xasprintf("_%s" VFP_SUFFIX, a->host);
	DIR *d = opendir(a->output_directory);
	struct profile *all = NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = xasprintf("%s/%s", a->output_directory, e->d_name);
		struct stat st;

		if (ends_with(e->d_name, suffix) && !lstat(path, &st) && is_left_for_us(a, &st)) {
			struct profile *p = take(a, path, &st);

			if (p)
				all = all ? profile_merge(all, p) : p;
		}
		free(path);
	}
	if (d)
		closedir(d);
	free(suffix);
	return all;
}

/* Whether it is time to list the output directory, and worth it. */
static bool output_has_changed(const struct agent *a)
{
	static struct timespec changed;
	static bool again; /* in the same tick of its clock there may be more */
	static uint64_t due, pause = FIRST_PAUSE_NS;
	uint64_t now = clock_raw_ns();
	struct stat st;

	if (now < due)
		return false;
	due = now + pause;
	pause = pause * 2 < LONGEST_PAUSE_NS ? pause * 2 : LONGEST_PAUSE_NS;
	if (stat(a->output_directory, &st))
		return false;
	if (st.st_mtim.tv_sec == changed.tv_sec && st.st_mtim.tv_nsec == changed.tv_nsec) {
		bool more = again;

		again = false;
		return more;
	}
	changed = st.st_mtim;
	return again = true;
}

bool adopt_look(struct agent *a)
{
	static bool listed; /* since their end */

	if (somebody_else(a)) {
		seen = true;
		listed = false;
		return false;
	}
	if (!a->adopted && ((seen && !listed) || output_has_changed(a))) {
		a->adopted = profiles_left(a);
		listed = seen;
	}
	return seen || a->adopted;
}
