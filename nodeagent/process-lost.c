/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that have given up waiting for us: nobody is untraced without a word. */
#include "nodeagent/agent.h"
#include "nodeagent/pids.h"
#include "nodeagent/process.h"
#include "nodeagent/session.h"
#include "shm/atomic.h"

/*
 * We have not answered for shm.block_most_s, and it goes on untraced. What it has
 * recorded until then stays; if that is nothing, it is no process of the profile.
 */
void process_gave_up(struct process *p)
{
	session_lives(p->agent);
	if (p->lost || (p->control_app && load_acquire(&p->control_app->attach_ns)))
		return;
	p->lost = p->turned_away = true;
	process_finish(p, PROCESS_RUNNING);
	pids_let_go(p);
	p->greeted = false; /* and it is freed as one that never said HELLO */
	p->agent->n_ever--;
	p->agent->lost_processes++;
}

/* Of one that was attached, when its books are closed. */
void process_warn_gave_up(const struct process *p)
{
	if (p->control_app && load_relaxed(&p->control_app->gave_up) && !p->lost)
		agent_warn(p->agent, true,
			"%s: gave up waiting for this agent: what it and its children did "
			"then is not in the profile",
			process_name(p));
}
