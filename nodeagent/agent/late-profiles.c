/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/late-profiles.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/map.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/runtime-dir.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"
#include "shm/clock.h"
#include "shm/fnv.h"

#define BEFORE_S	 5 /* a job may be that much older than we are */
#define FIRST_PAUSE_NS	 UINT64_C(500000000)
#define LONGEST_PAUSE_NS UINT64_C(5000000000)
#define REFUSALS_MOST	 100

/* What was found so far; times in raw ns. */
struct late_search {
	bool seen;   /* such an agent */
	bool listed; /* the output directory, since their end */
	bool again;  /* in the same tick of its clock there may be more */
	struct timespec changed;
	uint64_t due, pause;
	ino_t said[REFUSALS_MOST];
	size_t n_said;
	struct map64 others; /* files of other jobs, by file_key(): not to be read again */
};

static bool is_recent(const struct agent *a, const struct stat *st)
{
	return st->st_mtime >= a->host.start_s - BEFORE_S;
}

static bool is_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB);

	if (fd >= 0)
		close(fd);
	return locked;
}

/* Sessions of agents that processes started for themselves, also of those that still write. */
static bool is_somebody_else(const struct agent *a)
{
	char *error = NULL, *dir = runtime_directory(&error);
	DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *e;
	bool found = false;

	while (d && !found && (e = readdir(d))) {
		char *path;
		struct stat st;

		if (!text_ends_with(e->d_name, ".lock") ||
			(strncmp(e->d_name, "job-", 4) && strncmp(e->d_name, "process-", 8)))
			continue;
		path = xasprintf("%s/%s", dir, e->d_name);
		found = strcmp(path, a->host.lock_path) && !stat(path, &st) && is_recent(a, &st) &&
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

	return a->late->seen ? is_recent(a, st) : written > a->host.start_exact_s;
}

/* We look again and again, and say it once of a file. */
static void refuse_file(
	struct late_search *l, const char *path, const struct stat *st, const char *why)
{
	for (size_t i = 0; i < l->n_said; i++)
		if (l->said[i] == st->st_ino)
			return;
	if (l->n_said == REFUSALS_MOST)
		return;
	l->said[l->n_said++] = st->st_ino;
	complain("%s is not taken for a profile of this run: %s", path, why);
}

static uint64_t file_key(const struct stat *st)
{
	uint64_t h = fnv_word(FNV_BEGIN, st->st_ino);

	h = fnv_word(h, (uint64_t)st->st_mtim.tv_sec);
	return fnv_word(h, (uint64_t)st->st_mtim.tv_nsec);
}

/* Not of agents beside another job, which has its own results there. */
static bool is_by_process(const struct profile *p)
{
	return p && p->n_agents == 1 && p->agents[0].by_process;
}

/* Anybody who may write there may have put it there: only one of ours is taken. */
static struct profile *take_profile(const struct agent *a, const char *path, const struct stat *st)
{
	const char *why = not_own_file(path, st);
	char *error = NULL;
	struct profile *p;

	if (why) {
		refuse_file(a->late, path, st, why);
		return NULL;
	}
	if (map64_find(&a->late->others, file_key(st)))
		return NULL;
	p = vfp_read_own(path, &error);
	if (error)
		complain("%s", error);
	free(error);
	if (!is_by_process(p)) {
		map64_add(&a->late->others, file_key(st), 1);
		profile_free(p);
		return NULL;
	}
	if (!a->quiet)
		complain("%s is taken as the profile of this node, which another agent of this "
			 "user has left",
			path);
	return p;
}

static bool is_of_this_node(const struct agent *a, const char *name)
{
	struct result_parsed r;
	bool is = result_parse(name, &r) && r.kind == RESULT_NODE_PROFILE &&
		  !strcmp(r.who, a->host.name);

	result_parsed_free(&r);
	return is;
}

static struct profile *profiles_left(const struct agent *a)
{
	DIR *d = opendir(a->host.output_directory);
	struct profile *all = NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *path = xasprintf("%s/%s", a->host.output_directory, e->d_name);
		struct stat st;

		if (is_of_this_node(a, e->d_name) && !lstat(path, &st) && is_left_for_us(a, &st)) {
			struct profile *p = take_profile(a, path, &st);

			if (p)
				all = all ? profile_merge(all, p) : p;
		}
		free(path);
	}
	if (d)
		closedir(d);
	return all;
}

/* Whether it is time to list the output directory, and worth it. */
static bool output_has_changed(const struct agent *a)
{
	struct late_search *l = a->late;
	uint64_t now = clock_raw_ns();
	struct stat st;

	if (now < l->due)
		return false;
	l->due = now + l->pause;
	l->pause = l->pause * 2 < LONGEST_PAUSE_NS ? l->pause * 2 : LONGEST_PAUSE_NS;
	if (stat(a->host.output_directory, &st))
		return false;
	if (st.st_mtim.tv_sec == l->changed.tv_sec && st.st_mtim.tv_nsec == l->changed.tv_nsec) {
		bool more = l->again;

		l->again = false;
		return more;
	}
	l->changed = st.st_mtim;
	return l->again = true;
}

/* A lock that gets its second name (session_leave()) meanwhile may be missed once. */
static bool somebody_else(const struct agent *a)
{
	return is_somebody_else(a) || (a->late->seen && is_somebody_else(a));
}

enum adoption late_profiles_look(struct agent *a)
{
	struct late_search *l = a->late;

	if (!l) {
		l = a->late = xcalloc(1, sizeof(*l));
		l->pause = FIRST_PAUSE_NS;
	}
	if (somebody_else(a)) {
		l->seen = true;
		l->listed = false;
		return ADOPT_WAITS;
	}
	if (!a->late_profile && ((l->seen && !l->listed) || output_has_changed(a))) {
		a->late_profile = profiles_left(a);
		if (a->late_profile && a->late_profile->run != PROFILE_RUNS_MIXED)
			a->host.run = a->late_profile->run ?: a->host.run; /* it is the same run */
		l->listed = l->seen;
	}
	return l->seen || a->late_profile ? ADOPT_OVER : ADOPT_NOBODY;
}
