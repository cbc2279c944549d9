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

/* The name of the file that it runs, in `to`; empty if that is not shown. */
static const char *file_of(int pid, char to[PATH_MAX])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, to, PATH_MAX - 1);
	to[n > 0 ? n : 0] = '\0';
	procfs_cut_deleted(to);
	return basename(to);
}

static bool runs_file(int pid, const char *name)
{
	char to[PATH_MAX];

	return !strcmp(file_of(pid, to), name);
}

/* A script, or one that names itself, has another name than its file. What the kernel has cut off
 * its file's name says no more than that. */
static bool runs_program(int pid, const char *name)
{
	char comm[16], to[PATH_MAX];
	const char *file = file_of(pid, to);

	if (!strcmp(file, name))
		return true;
	if (!procfs_thread_name(pid, pid, comm) || strncmp(comm, name, sizeof(comm) - 1) != 0)
		return false;
	return strlen(name) < sizeof(comm) || strncmp(file, comm, sizeof(comm) - 1) != 0;
}

static bool is_of_job(int pid, const char *job)
{
	char id[64];

	return procfs_variable(pid, "SLURM_JOB_ID", id, sizeof(id)) && !strcmp(id, job);
}

static bool is_wanted(const struct attach_choice *c, int pid)
{
	return c->user || (c->name && runs_program(pid, c->name)) ||
	       (c->job && is_of_job(pid, c->job));
}

/* What would wait for us, as we for it: this process, tools and launchers like it, and those before
 * them, such as shells. */
struct waiters {
	int *pids;
	size_t n, cap;
};

static bool is_waiter(const struct waiters *w, int pid)
{
	return ANY(i, w->n, w->pids[i] == pid);
}

static void add_waiters_from(struct waiters *w, int pid)
{
	for (; pid > 1 && !is_waiter(w, pid); pid = procfs_parent(pid))
		*APPEND(w->pids, w->n, w->cap) = pid;
}

static bool waits_for_tasks(int pid)
{
	static const char *const names[] = {"srun", "vftr", "vftr-node-agent"};

	return ANY(i, ARRAY_SIZE(names), runs_file(pid, names[i]));
}

/* Calls see() with each process of this user. */
static void look_at_processes(void (*see)(struct attach_choice *c, struct waiters *w, int pid),
	struct attach_choice *c, struct waiters *w)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	char path[300];
	struct stat st;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s", e->d_name);
		if (atoi(e->d_name) > 0 && !stat(path, &st) && st.st_uid == geteuid())
			see(c, w, atoi(e->d_name));
	}
	if (d)
		closedir(d);
}

static void see_waiter(struct attach_choice *c, struct waiters *w, int pid)
{
	(void)c;
	if (waits_for_tasks(pid))
		add_waiters_from(w, pid);
}

static void see_wanted(struct attach_choice *c, struct waiters *w, int pid)
{
	char *why;

	if (c->n >= ATTACH_MOST || is_waiter(w, pid) || !is_wanted(c, pid))
		return;
	why = attach_refusal(pid, NULL);
	if (why)
		note_refusal(c, why);
	else
		attach_choose(c, pid);
}

void attach_choose_all(struct attach_choice *c)
{
	struct waiters w = {0};

	add_waiters_from(&w, getpid());
	look_at_processes(see_waiter, c, &w);
	look_at_processes(see_wanted, c, &w);
	free(w.pids);
}
