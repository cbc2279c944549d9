/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of processes without MPI, see vftr-distributed(7). Each agent passes the
 * requests of its processes to the coordinator, which is in agent 0 (coordinator.c), and
 * keeps the outcomes until they are fetched. It never waits: not for a process, and not
 * for another agent.
 */
#ifndef VFTR_NODEAGENT_SESSION_SESSION_H
#define VFTR_NODEAGENT_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/process/observer.h"
#include "shm/session.h"

struct agent;

/* Takes what processes ask for, and answers. */
extern const struct process_observer session_observer;

/* What the agent does when a session asks for it. */
struct session_duties {
	/* the processes of all nodes are idle: it is to be reported */
	void (*all_idle)(struct agent *a);
	/* a process of this node is about to be told that this round has begun */
	void (*begin_round)(struct agent *a, uint32_t round);
};

/* Before any of the following; end: there will be no more requests. */
void sessions_begin(struct agent *a, const struct session_duties *duties);
void sessions_end(struct agent *a);

/* To be called repeatedly. Seconds until the next call. */
double sessions_tick(struct agent *a);
/* What the processes of this node do, MPI ranks or not. False: there are no other nodes that
 * could be asked; else all_idle() follows when no node is busy and one is quiet. */
enum session_activity { SESSION_NOBODY, SESSION_BUSY_NODE, SESSION_QUIET };
bool sessions_idle(struct agent *a, enum session_activity what);
/* Another agent and its processes are gone. */
void sessions_agent_gone(struct agent *a, int agent);

#endif
