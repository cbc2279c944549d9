/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have given up waiting for us: nobody is untraced without a word. */
#include "nodeagent/process/host.h"
#include "nodeagent/process/pids.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rendezvous.h"
#include "shm/atomic.h"

/*
 * We have not answered for shm.block_most_s, and it goes on untraced. What it has
 * recorded until then stays; if that is nothing, it is no process of the profile.
 */
void process_gave_up(struct process *p)
{
	session_lives(p->host);
	if (p->lost || (p->control_app && load_acquire(&p->control_app->attach_ns)))
		return;
	p->lost = p->turned_away = true;
	process_finish(p, PROCESS_RUNNING);
	pids_let_go(p);
	p->greeted = false; /* and it is freed as one that never said HELLO */
	p->host->n_ever--;
	p->host->lost_processes++;
}

/* Warns at the end of a process that was attached. */
void process_warn_gave_up(const struct process *p)
{
	if (p->control_app && load_relaxed(&p->control_app->gave_up) && !p->lost)
		host_warn(p->host, true,
			"%s: gave up waiting for this agent: what it and its children did "
			"then is not in the profile",
			process_name(p));
}
