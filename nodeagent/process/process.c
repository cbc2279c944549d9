/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/process.h"

#include <stdarg.h>
#include <sys/socket.h>
#include "nodeagent/match/process.h"
#include "nodeagent/process/host.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

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

/* A thread that waits for room, or would, goes on without records. */
static void retire_rings(struct process *p)
{
	for (size_t i = 0; i < p->n_threads; i++)
		if (p->threads[i])
			store_release(&p->threads[i]->ring.consumer->retired, 1);
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
	if (!p->outside) /* else all have one ring, which is empty */
		retire_rings(p);
	if (p->match) /* what it has said may be all wrong */
		match_process_lost(p->match);
	if (p->session_match)
		match_process_lost(p->session_match);
	if (p->socket >= 0) /* nobody answers any more: let it know, it may wait */
		shutdown(p->socket, SHUT_RDWR);
	host_warn(p->host, true, "%s: its records are damaged, and no more of them is read: %s",
		process_name(p), text);
}

struct replay_counts process_counts(const struct process *p)
{
	struct replay_counts sum = p->ended_counts;

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
