/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/budget.h"
#include "nodeagent/callers.h"
#include "nodeagent/counters.h"
#include "nodeagent/demangle.h"
#include "nodeagent/drain.h"
#include "nodeagent/forks.h"
#include "nodeagent/gpu.h"
#include "nodeagent/match-node.h"
#include "nodeagent/matching.h"
#include "nodeagent/openmp.h"
#include "nodeagent/pids.h"
#include "nodeagent/process-past.h"
#include "nodeagent/procfs.h"
#include "nodeagent/regions.h"
#include "nodeagent/sampling.h"
#include "nodeagent/sessions.h"
#include "nodeagent/symcache.h"
#include "nodeagent/threads.h"
#include "nodeagent/traffic-sync.h"
#include "nodeagent/traffic.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"
#include "shm/openacc.h"
#include "shm/ring.h"

struct process *process_new(struct agent *a, int socket, int pid)
{
	struct process *p = xcalloc(1, sizeof(*p));

	p->agent = a;
	p->socket = socket;
	p->pid = pid;
	p->pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	p->program = procfs_program(pid);
	p->rank = p->size = p->rank_hint = p->size_hint = p->job_rank = WIRE_UNKNOWN;
	p->exit_status = -1;
	p->connected_ticks = agent_ticks(a);
	p->connected_raw_ns = clock_raw_ns();
	p->code = codemap_new();
	p->past = calltree_new();
	if (a->conf->mpi_show_sync_time && !a->sync)
		a->sync = sync_new();
	p->gpu = gpu_new(p);
	p->traffic = traffic_new(a->conf, a->sync);
	return p;
}

void process_enlist(struct process *p)
{
	struct agent *a = p->agent;

	p->next = a->processes;
	p->at = &a->processes;
	if (p->next)
		p->next->at = &p->next;
	a->processes = p;
	callers_leave(p);
	p->next_live = a->live;
	a->live = p;
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
	openmp_free(p->openmp);
	free(p->executable);
	free(p->invoked_as);
	free(p->directory);
	free(p->quarantined);
	forks_free(p);
	sampling_process_free(p);
	budget_process_free(p->budget);
	sessions_process_free(p);
	codemap_free(p->code);
	gpu_free(p->gpu);
	user_counters_free(p->user_counters);
	match_process_end(p->match);
	match_process_end(p->session_match);
	traffic_free(p->traffic);
	calltree_free(p->past);
	segment_unmap_control(p->control);
	agent_close(p->agent, &p->socket);
	agent_close(p->agent, &p->pidfd);
	free(p);
}

void processes_sweep(struct agent *a)
{
	for (struct process **at = &a->live; *at;) {
		struct process *p = *at;

		if (!p->ended) {
			at = &p->next_live;
			continue;
		}
		*at = p->next_live;
		if (p->lost)
			process_free(p);
		else
			process_past_add(p);
	}
	callers_sweep(a);
}

const char *process_name(const struct process *p)
{
	static char name[64];
	int rank = p->rank != WIRE_UNKNOWN ? p->rank : p->rank_hint;

	if (rank != WIRE_UNKNOWN)
		snprintf(name, sizeof(name), "rank %d (pid %d)", rank, p->pid);
	else
		snprintf(name, sizeof(name), "process %d", p->pid);
	return name;
}

void process_quarantine(struct process *p, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (p->quarantined)
		return;
	p->quarantined = xstrdup(text);
	if (p->match) /* what it has said may be all wrong */
		match_process_lost(p->match);
	if (p->session_match)
		match_process_lost(p->session_match);
	if (p->socket >= 0) /* nobody answers any more: let it know, it may wait */
		shutdown(p->socket, SHUT_RDWR);
	agent_warn(p->agent, true, "%s: its data are not sane, no more is read from it: %s",
		process_name(p), text);
}

static bool has_exited(const struct process *p)
{
	struct pollfd f = {p->pidfd, POLLIN, 0};

	return p->pidfd < 0 || (poll(&f, 1, 0) == 1 && (f.revents & POLLIN));
}

void process_drop(struct process *p)
{
	p->ended = true;
	p->agent->callers_ended = true;
	agent_close(p->agent, &p->socket);
	agent_close(p->agent, &p->pidfd);
}

static void note_end(struct process *p)
{
	const struct agent *a = p->agent;

	p->end_ticks = agent_ticks(a);
	p->end_late_ns = a->heard_raw_ns ? clock_raw_ns() - a->heard_raw_ns : 0;
}

void process_hung_up(struct process *p)
{
	if (p->socket >= 0) {
		process_receive_all(p);
		agent_close(p->agent, &p->socket);
		note_end(p);
	}
	if (p->ended)
		return;
	if (!p->greeted) { /* somebody who came and went, or a daemon that closes what it has */
		if (!has_exited(p) && p->program && procfs_program(p->pid) == p->program)
			return;
		process_drop(p);
		return;
	}
	if (has_exited(p)) {
		process_finish(p, p->said_bye ? PROCESS_EXITED : PROCESS_KILLED);
		return;
	}
	/* alive without our socket: another program, or it closed what is ours */
	if (p->greeted && procfs_maps_has(p->pid, "memfd:vftr-control") == 0)
		process_finish(p, PROCESS_EXECED);
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

void process_finish(struct process *p, enum process_end how)
{
	if (p->ended)
		return;
	if (p->socket >= 0) /* what its last records speak of */
		process_receive_all(p);
	if (p->ended) /* by its own word */
		return;
	p->ended = true;
	p->end = how;
	p->end_s = time(NULL);
	if (how != PROCESS_RUNNING)
		find_status(p);
	if (!p->end_ticks)
		note_end(p);
	threads_all_end(p, p->end_ticks);
	gpu_end(p->gpu);
	matching_leave(p);
	sampling_process_end(p);
	sessions_process_ended(p);
	if (p->greeted)
		p->agent->n_live--;
	process_members_changed(p->agent);
	process_warn_gave_up(p);
	process_warn_limits(p);
	process_warn_unseen(p);
	agent_close(p->agent, &p->pidfd); /* nobody asks for its status any more */
}

struct replay_counts process_counts(const struct process *p)
{
	struct replay_counts sum = p->past_counts;

	for (size_t i = 0; i < p->n_threads; i++) {
		const struct replay_counts *c =
			p->threads[i] ? replay_counts(p->threads[i]->replay) : NULL;

		if (!c)
			continue;
		sum.records += c->records;
		sum.calls += c->calls;
		sum.lost += c->lost;
		sum.closed += c->closed;
		sum.stray += c->stray;
	}
	return sum;
}
