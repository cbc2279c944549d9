/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/attach/refusal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/process/procfs.h"

struct about {
	char state;
	int tgid;
	unsigned uid, threads;
	bool has_memory;
};

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* 0, ESRCH: there is no such process, or an errno for want of descriptors or memory. */
static int read_status(int pid, struct about *a)
{
	char path[64], line[256];
	FILE *f;

	*a = (struct about){0};
	if (pid <= 0)
		return ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return is_shortage(errno) ? errno : ESRCH;
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", &a->state);
		sscanf(line, "Tgid: %d", &a->tgid);
		sscanf(line, "Uid: %u", &a->uid);
		sscanf(line, "Threads: %u", &a->threads);
		a->has_memory |= !strncmp(line, "VmSize:", 7);
	}
	fclose(f);
	return a->tgid > 0 ? 0 : ESRCH;
}

/* What it runs is not shown either: by the name that it was called with, if that has a path. */
static bool runs_unreadable(int pid)
{
	char path[64], name[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "re");
	name[f ? fread(name, 1, sizeof(name) - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	return strchr(name, '/') && procfs_may_only_run(name);
}

static char *of_other_user(int pid, const struct about *a)
{
	const struct passwd *user = getpwuid(a->uid);

	if (!geteuid())
		return xasprintf("process %d is not shown to root here either, who lacks the right "
				 "to trace other processes (CAP_SYS_PTRACE), as in a container",
			pid);
	if (a->uid == geteuid())
		return xasprintf("process %d is shown to root only, as %s", pid,
			runs_unreadable(pid) ? "its file may be executed and not read"
					     : "it has changed its user or its rights, or its "
					       "file may be executed and not read");
	return xasprintf("process %d is of user %s: only its own user, or root, may attach to it",
		pid, user ? user->pw_name : "unknown");
}

/* Of the file that it runs. */
static char *of_other_kind(int pid)
{
	unsigned char e[EI_NIDENT] = {0};
	char path[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	n = read(fd, e, sizeof(e));
	close(fd);
	if (n == sizeof(e) && !memcmp(e, ELFMAG, SELFMAG) && e[EI_CLASS] != ELFCLASS64)
		return xasprintf(
			"process %d runs a 32-bit program, whose stacks are not read", pid);
	return NULL;
}

static char *of_traced(int pid)
{
	char session[128];

	if (procfs_maps_has(pid, "memfd:vftr-control") != 1)
		return NULL;
	if (procfs_variable(pid, "VFTR_SESSION", session, sizeof(session)))
		return xasprintf("process %d is traced already: `vftr top -s %s' and `vftr where "
				 "-s %s' show what it does",
			pid, session, session);
	return xasprintf("process %d is traced already: `vftr top' and `vftr where' show what it "
			 "does",
		pid);
}

const char *attach_shortage(int error)
{
	return error == EMFILE || error == ENFILE ? "there are no descriptors left (see ulimit -n)"
						  : strerror(error);
}

char *attach_refusal(int pid, int *shortage)
{
	char path[64], *why;
	struct about a;
	int error;

	if (shortage)
		*shortage = 0;
	if (pid == getpid())
		return xasprintf("process %d is this one, which looks at others", pid);
	error = read_status(pid, &a);
	if (shortage && error != ESRCH)
		*shortage = error;
	if (error == ESRCH)
		return xasprintf("there is no process %d", pid);
	if (error)
		return xasprintf("process %d is left out: %s", pid, attach_shortage(error));
	if (a.tgid != pid)
		return xasprintf("%d is a thread of process %d: attach to that", pid, a.tgid);
	if (a.state == 'Z' && a.threads > 1)
		return xasprintf("process %d goes on without its first thread, which has ended: "
				 "the kernel shows no longer what the others run; start it with "
				 "`vftr run'",
			pid);
	if (a.state == 'Z' || a.state == 'X')
		return xasprintf(
			"process %d has ended, and its parent has not waited for it yet", pid);
	if (!a.has_memory)
		return xasprintf("process %d is a thread of the kernel", pid);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (access(path, R_OK) || procfs_maps_has(pid, "-") < 0)
		return of_other_user(pid, &a);
	why = of_other_kind(pid);
	return why ? why : of_traced(pid);
}
