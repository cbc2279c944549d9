/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of processes without MPI, see vftr-distributed(7). Each agent passes the
 * requests of its processes to the coordinator, which is in agent 0 (coordinator.c), and
 * keeps the outcomes until they are fetched. The agent never waits for a process, nor for
 * another agent.
 */
#ifndef VFTR_NODEAGENT_SESSION_SESSION_H
#define VFTR_NODEAGENT_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/process/observer.h"
#include "shm/session.h"

struct agent;

/* Takes the requests of processes, and answers. */
extern const struct process_observer session_observer;

/* Functions of the agent that sessions call. */
struct session_duties {
	/* the processes of all nodes are idle: reports that */
	void (*all_idle)(struct agent *a);
	/* this round has begun; a process of this node learns of it next */
	void (*begin_round)(struct agent *a, uint32_t round);
};

/* Before any of the following; end: there will be no more requests. */
void sessions_begin(struct agent *a, const struct session_duties *duties);
void sessions_end(struct agent *a);

/* To be called repeatedly. Seconds until the next call. */
double sessions_tick(struct agent *a);
/*
 * Reports what the processes of this node do, MPI ranks or not. Returns false if no other agent can
 * be asked; else all_idle() is called as soon as no node is busy and at least one is quiet.
 */
enum session_activity { SESSION_NOBODY, SESSION_BUSY_NODE, SESSION_QUIET };
bool sessions_idle(struct agent *a, enum session_activity what);
/* Another agent and its processes are gone. */
void sessions_agent_gone(struct agent *a, int agent);

#endif
