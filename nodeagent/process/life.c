/* SPDX-License-Identifier: BSD-3-Clause */
/* A process from its connection to its end, and what is freed with it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/callers.h"
#include "nodeagent/process/forks.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/match/process.h"
#include "nodeagent/replay/openmp/locks.h"
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/process/pids.h"
#include "nodeagent/process/ended.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/memory.h"
#include "nodeagent/replay/openmp/lock-uses.h"
#include "nodeagent/replay/user-counters.h"
#include "nodeagent/base/util.h"

#define DEAF_NS	   100000000u /* how often it is asked what became of who closed our socket */
#define EXITING_NS 1000000u   /* ... of who is ending, and has no pidfd that tells when it has */

void process_begin_comparing(struct host *host)
{
	if (host->sync || !(host->conf->mpi_waits || host->conf->mpi_show_sync_time))
		return;
	host->sync = sync_new();
	sync_begin_sampling(host->sync, &host->clocks);
}

struct process *process_new(struct host *host, int socket, int pid)
{
	struct process *p = xcalloc(1, sizeof(*p));

	p->host = host;
	p->socket = socket;
	p->pid = pid;
	p->pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (p->pidfd <
		0) /* the kernel has none, a container forbids them, or descriptors are short */
		p->began = procfs_began(pid);
	p->program = procfs_program(pid);
	p->rank = p->size = p->rank_hint = p->size_hint = p->job_rank = WIRE_UNKNOWN;
	p->exit_status = -1;
	p->stored_control.fd = -1;
	p->connected_ticks = host_ticks(host);
	p->connected_raw_ns = clock_raw_ns();
	p->cpu_before = cpu_used(pid);
	p->code = codemap_new();
	p->ended_tree = calltree_new();
	process_begin_comparing(host);
	p->gpu = gpu_new(&host->clocks);
	p->traffic = traffic_new(host->conf, host->sync);
	return p;
}

void process_enlist(struct process *p)
{
	struct host *host = p->host;

	p->next = host->processes;
	p->at = &host->processes;
	if (p->next)
		p->next->at = &p->next;
	host->processes = p;
	if (!p->outside)
		callers_leave(p);
	p->next_live = host->live;
	host->live = p;
	pids_add(p);
}

void process_free(struct process *p)
{
	if (p->at) {
		*p->at = p->next;
		if (p->next)
			p->next->at = p->at;
	}
	regions_free(p);
	threads_free(p);
	off_clock_end(&p->off_cpu);
	openmp_free(p->openmp);
	locks_free(p->locks);
	free(p->executable);
	free(p->invoked_as);
	free(p->directory);
	free(p->quarantined);
	forks_free(p);
	observers_tell(p->host, free, p);
	codemap_free(p->code);
	gpu_free(p->gpu);
	user_counters_free(p->user_counters);
	files_free(p->files);
	memory_free(p->memory);
	lock_uses_free(p->lock_uses);
	at_once_free(&p->window.at_once);
	match_process_end(p->match);
	match_process_end(p->session_match);
	traffic_free(p->traffic);
	calltree_free(p->ended_tree);
	if (p->stored_control.agent)
		ring_store_leave_control(p->host->rings, &p->stored_control, false);
	free(p->control_left);
	host_close(p->host, &p->socket);
	host_close(p->host, &p->pidfd);
	free(p);
}

void processes_sweep(struct host *host)
{
	for (struct process **at = &host->live; *at;) {
		struct process *p = *at;

		if (!p->ended) {
			at = &p->next_live;
			continue;
		}
		*at = p->next_live;
		if (p->lost)
			process_free(p);
		else
			ended_process_add(p);
	}
	callers_sweep(host);
}

/* Without a pidfd. What cannot be looked at as we have no descriptors or memory goes on. */
static bool is_gone(const struct process *p)
{
	uint64_t began;

	errno = 0;
	began = procfs_began(p->pid);
	if (!began)
		return errno != EMFILE && errno != ENFILE && errno != ENOMEM;
	return began != p->began;
}

static bool has_exited(const struct process *p)
{
	struct pollfd f = {p->pidfd, POLLIN, 0};

	if (p->pidfd < 0)
		return !p->began || is_gone(p);
	return poll(&f, 1, 0) == 1 && (f.revents & POLLIN);
}

static enum process_end how_exited(const struct process *p)
{
	return p->said_bye || p->outside ? PROCESS_EXITED : PROCESS_KILLED;
}

void process_drop(struct process *p)
{
	p->ended = true;
	p->host->callers_ended = true;
	host_close(p->host, &p->socket);
	host_close(p->host, &p->pidfd);
	off_clock_end(&p->off_cpu);
}

static void note_end(struct process *p)
{
	const struct host *host = p->host;

	p->end_ticks = host_ticks(host);
	p->end_late_ns = host->heard_raw_ns ? clock_raw_ns() - host->heard_raw_ns : 0;
}

/* It is seen now, and was not at the last look. before: raw ns of that, or 0. */
static void note_seen_end(struct process *p, uint64_t before)
{
	if (!before)
		return;
	note_end(p);
	p->end_late_ns = clock_raw_ns() - before;
}

void process_has_had(struct process *p, struct cpu_used used)
{
	p->cpu.cpu = MAX(p->cpu.cpu, used.cpu);
	p->cpu.queued = MAX(p->cpu.queued, used.queued);
}

/* True if it runs another program. A program that may not be looked into is another one if its
 * user is; else it is taken for one that forbids that (PR_SET_DUMPABLE), and goes on. */
static bool has_execed(const struct process *p, bool *goes_on)
{
	const int has = procfs_maps_has(p->pid, "memfd:vftr-control");
	const bool other = !has || (has == -2 && procfs_has_other_user(p->pid));

	*goes_on = !other && has != -1;
	return other;
}

/* Without our socket: it has ended, is another program, or closed what is ours. */
static void look_at_deaf(struct process *p)
{
	const uint64_t before = p->deaf_seen;
	bool goes_on;

	p->deaf_seen = clock_raw_ns();
	if (has_exited(p)) {
		if (p->pidfd < 0 && !p->end_ticks)
			note_seen_end(p, before);
		process_finish(p, how_exited(p));
	} else if (p->outside) { /* its program is looked at by attach/attach.c */
		return;
	} else if (has_execed(p, &goes_on)) {
		note_seen_end(p, before);
		process_finish(p, PROCESS_EXECED);
	} else if (goes_on && !p->quarantined) { /* of that one nothing is read any more */
		p->end_ticks = 0;
	}
}

/* Time between two looks; 0: nobody needs to look. */
static uint64_t look_every_ns(const struct process *p)
{
	if (!p->deaf_seen || p->ended || p->outside)
		return 0;
	if (p->quarantined)
		return p->pidfd < 0 ? DEAF_NS : 0;
	return p->pidfd < 0 && p->end_ticks ? EXITING_NS : DEAF_NS;
}

double processes_deaf_tick(struct host *host)
{
	double again = NEVER_S;

	for (struct process *p = host->live; p; p = p->next_live) {
		const uint64_t every = look_every_ns(p);

		if (!every)
			continue;
		if (clock_raw_ns() - p->deaf_seen >= every)
			look_at_deaf(p);
		again = MIN(again, 1e-9 * (double)every);
	}
	return again;
}

void process_hung_up(struct process *p)
{
	if (p->socket >= 0) {
		process_receive_last(p);
		host_close(p->host, &p->socket);
		note_end(p);
	}
	if (p->ended)
		return;
	if (!p->greeted) { /* somebody who came and went, or a daemon that closes what it has */
		if (p->pidfd >= 0 && !has_exited(p) && p->program &&
			procfs_program(p->pid) == p->program)
			return; /* its pidfd tells of its end */
		process_drop(p);
		return;
	}
	look_at_deaf(p);
}

static void find_status(struct process *p)
{
	int status;

	if (p->end == PROCESS_EXECED || !procfs_exit_status(p->pidfd, p->pid, &status))
		return;
	if (status & 0x7f) {
		p->end = PROCESS_KILLED;
		p->exit_status = status & 0x7f;
	} else {
		p->end = PROCESS_EXITED;
		p->exit_status = status >> 8 & 0xff;
	}
}

static void warn_gpu_losses(const struct process *p)
{
	char *text;

	for (unsigned i = 0; (text = gpu_loss(p->gpu, i)); i++) {
		host_warn(p->host, false, "%s: %s", process_name(p), text);
		free(text);
	}
}

/* The next process has its control page, where nobody writes to it any more. */
static void leave_control(struct process *p)
{
	if (!p->stored_control.agent || p->end != PROCESS_EXITED || p->quarantined ||
		p->pidfd < 0 || p->host->overhead)
		return;
	p->control_left = xmalloc(sizeof(*p->control_left));
	*p->control_left = *p->control_app;
	p->control_app = p->control_left;
	p->control = NULL;
	ring_store_leave_control(p->host->rings, &p->stored_control, true);
}

void process_finish(struct process *p, enum process_end how)
{
	if (p->ended)
		return;
	if (p->socket >= 0) /* what its last records speak of */
		process_receive_all(p);
	if (p->ended) /* by its own word */
		return;
	if (how == PROCESS_RUNNING && (p->pidfd >= 0 || p->began) && has_exited(p))
		/* not heard of yet */
		how = how_exited(p);
	p->ended = true;
	p->end = how;
	if (!p->said_bye) /* and is still there */
		process_has_had(p, cpu_used(p->pid));
	p->end_s = time(NULL);
	if (how != PROCESS_RUNNING)
		find_status(p);
	if (!p->end_ticks)
		note_end(p);
	threads_all_end(p, p->end_ticks);
	gpu_end(p->gpu, p->end_ticks);
	warn_gpu_losses(p);
	observers_tell(p->host, end, p);
	if (p->greeted)
		p->host->n_live--;
	process_members_changed(p->host);
	process_warn_gave_up(p);
	process_warn_limits(p);
	process_warn_unseen(p);
	leave_control(p);
	host_close(p->host, &p->pidfd); /* nobody asks for its status any more */
	off_clock_end(&p->off_cpu);
}
