/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/standby.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/agent/copy.h"
#include "nodeagent/agent/finish.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/agent/results/run-folder.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/memory.h"
#include "shm/clock.h"

#define LATE_S	     0.25 /* the one before has not ended yet */
#define LOOK_MS	     1000 /* where nobody may tell */
#define PART_OF_LEFT 8	  /* of the memory that is left, which an agent with a copy may have */

/* ---- in the copy ---------------------------------------------------------- */

/*
 * Files on a disk stay open, of which symbols are read. All else becomes /dev/null: sockets, so
 * that others see the agent's end, and memory and counters of processes, so that they go when the
 * agent lets them go. Not closed: the numbers would be given to files that are written.
 */
static void keep_few(const struct agent *a)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && null >= 0 && (e = readdir(d))) {
		const int fd = atoi(e->d_name);
		char to[PATH_MAX];
		ssize_t n;

		if (fd <= STDERR_FILENO || fd == null || fd == dirfd(d) ||
			fd == supervised_link() ||
			(fd == a->host.lock && a->form == FORM_EMBEDDED)) /* others look at it */
			continue;
		n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);
		to[n > 0 ? n : 0] = '\0';
		if (to[0] != '/' || !strncmp(to, "/memfd:", 7) || !strncmp(to, "/proc/", 6) ||
			fd == a->host.lock || fd == a->host.results_lock)
			dup3(null, fd, O_CLOEXEC);
	}
	if (d)
		closedir(d);
}

/* Until that process, our parent, has ended. */
static void wait_for_end(pid_t agent)
{
	struct pollfd f = {(int)syscall(SYS_pidfd_open, agent, 0), POLLIN, 0};

	while (getppid() == agent)
		poll(&f, f.fd >= 0, f.fd >= 0 ? -1 : LOOK_MS);
	if (f.fd >= 0)
		close(f.fd);
}

/*
 * The digest comes after what COMMAND prints. It is asked for again and again, as another copy may
 * have read the answer.
 */
static void wait_for_command(struct agent *a)
{
	while (supervised_is() && !a->told_to_stop) {
		struct pollfd f = {supervised_link(), POLLIN, 0};

		if (poll(&f, 1, LOOK_MS) > 0)
			supervised_news(a);
		else
			supervised_replace();
	}
}

static _Noreturn void stand_by(struct agent *a, pid_t agent)
{
	struct standby_results r = {.until = time(NULL), .tell_when = wait_for_command};
	int failed;

	prctl(PR_SET_NAME, "vftr-standby");
	r.running = agent_close_copy(a);
	if (a->standby) /* of the two this one knows more */
		kill(a->standby, SIGKILL);
	keep_few(a);
	wait_for_end(agent);
	supervised_replace();
	mkdir(a->host.output_directory, 0777); /* an agent that ends removes it if it is empty */
	failed = agent_write_standby(a, &r);
	run_folder_link(a, failed);
	if (!failed)
		supervised_has_written();
	_exit(failed);
}

/* ---- in the agent ---------------------------------------------------------- */

/* Memory of the agent's own, without segments; UINT64_MAX: not known. */
static uint64_t own_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t all, shared;
	const bool known = f && fscanf(f, "%*u %" SCNu64 " %" SCNu64, &all, &shared) == 2;

	if (f)
		fclose(f);
	return known ? (all - shared) * (uint64_t)sysconf(_SC_PAGESIZE) : UINT64_MAX;
}

/* What the agent writes from now on, it has twice. */
static bool has_room(void)
{
	const struct memory_left left = memory_left("/proc", "/sys/fs/cgroup");

	return !left.strict && own_bytes() < left.left / PART_OF_LEFT;
}

static bool is_reaped(struct agent *a, pid_t *copy)
{
	if (*copy && copy_is_reaped(a, *copy))
		*copy = 0;
	return !*copy;
}

static void make_standby(struct agent *a)
{
	const pid_t agent = getpid(), copy = copy_make(a, false);

	if (!copy)
		stand_by(a, agent);
	if (copy < 0) {
		host_warn(&a->host, false,
			"there was no copy of the agent that would have written its results if it "
			"had died: %s",
			strerror(errno));
		return;
	}
	a->standby_before = a->standby;
	a->standby = copy;
}

double standby_tick(struct agent *a)
{
	const double every = a->host.conf->agent_standby_s;
	const uint64_t now = clock_raw_ns();
	const bool reaped = is_reaped(a, &a->standby_before);

	if (every <= 0 || !a->host.n_live)
		return reaped ? NEVER_S : LATE_S;
	if (!a->standby_due)
		a->standby_due = now + (uint64_t)(every * 1e9);
	if (now < a->standby_due)
		return fmin(1e-9 * (double)(a->standby_due - now), reaped ? NEVER_S : LATE_S);
	if (!reaped) { /* the next one has not come as far as to end it */
		kill(a->standby_before, SIGKILL);
		return LATE_S;
	}
	a->standby_due = now + (uint64_t)(every * 1e9);
	is_reaped(a, &a->standby); /* somebody may have killed it */
	if (has_room()) {
		make_standby(a);
	} else if (a->standby) { /* for how long is not known */
		kill(a->standby, SIGKILL);
		a->standby_before = a->standby;
		a->standby = 0;
	}
	return fmin(every, a->standby_before ? LATE_S : NEVER_S);
}

void standby_end(struct agent *a)
{
	const pid_t copies[] = {a->standby, a->standby_before};

	for (unsigned i = 0; i < 2; i++) {
		if (copies[i])
			kill(copies[i], SIGKILL);
		while (copies[i] && waitpid(copies[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
	a->standby = a->standby_before = 0;
}
