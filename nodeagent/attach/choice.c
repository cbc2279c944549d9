/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/attach/choice.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/attach/attach.h"
#include "nodeagent/attach/refusal.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/procfs.h"

void attach_choose(struct attach_choice *c, int pid)
{
	c->pids = xappend(c->pids, "%d,", pid);
	c->n++;
}

static void note_refusal(struct attach_choice *c, char *why)
{
	if (c->n_refused < ATTACH_REASONS)
		c->refused[c->n_refused] = why;
	else
		free(why);
	c->n_refused++;
}

static bool runs_program(int pid, const char *name)
{
	char path[64], to[PATH_MAX], comm[16];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, to, sizeof(to) - 1);
	to[n > 0 ? n : 0] = '\0';
	return !strcmp(basename(to), name) ||
	       (procfs_thread_name(pid, pid, comm) && !strncmp(comm, name, sizeof(comm) - 1));
}

static bool is_of_job(const struct attach_choice *c, int pid)
{
	char id[64];

	if (!procfs_variable(pid, "SLURM_JOB_ID", id, sizeof(id)) || strcmp(id, c->job) != 0)
		return false;
	return !c->step || !procfs_variable(pid, "SLURM_STEP_ID", id, sizeof(id)) ||
	       strcmp(id, c->step) != 0;
}

static bool is_wanted(const struct attach_choice *c, int pid)
{
	return c->user || (c->name && runs_program(pid, c->name)) || (c->job && is_of_job(c, pid));
}

void attach_choose_all(struct attach_choice *c)
{
	struct dirent *e;
	char path[300];
	struct stat st;
	DIR *d = opendir("/proc");

	while (d && (e = readdir(d)) && c->n < ATTACH_MOST) {
		const int pid = atoi(e->d_name);
		char *why;

		snprintf(path, sizeof(path), "/proc/%s", e->d_name);
		if (pid <= 0 || pid == getpid() || stat(path, &st) || st.st_uid != geteuid() ||
			!is_wanted(c, pid))
			continue;
		why = attach_refusal(pid);
		if (why)
			note_refusal(c, why);
		else
			attach_choose(c, pid);
	}
	if (d)
		closedir(d);
}
