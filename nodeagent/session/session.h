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
#include <stdint.h>
#include "nodeagent/process/observer.h"
#include "shm/session.h"

struct agent;

/* Takes the requests of processes, and answers. */
extern const struct process_observer session_observer;

/* Functions of the agent that sessions call. */
struct session_duties {
	/* all_idle(): no process of any node does anything, by what their agents have said */
	void (*all_idle)(struct agent *a);
	/* begin_round(): this round has begun; a process of this node learns of it next */
	void (*begin_round)(struct agent *a, uint32_t round);
};

/* sessions_begin(): to be called before all that follows; duties must stay valid until
 * sessions_end(), after which no request comes. */
void sessions_begin(struct agent *a, const struct session_duties *duties);
void sessions_end(struct agent *a);

/* Sends and takes what passes between agents. To be called again and again; returns the seconds
 * until the next call at the latest. */
double sessions_tick(struct agent *a);

/* What the processes of a node do, MPI ranks or not. */
enum session_activity {
	SESSION_NOBODY,	   /* there are none */
	SESSION_BUSY_NODE, /* one of them records events */
	SESSION_QUIET,	   /* none of them does */
};
/*
 * Tells agent 0 what the processes of this node do. Returns false if no other agent can be asked;
 * else all_idle() is called as soon as no node is busy and at least one is quiet.
 */
bool sessions_idle(struct agent *a, enum session_activity what);
/* Agent `agent', another one, and its processes are gone. */
void sessions_agent_gone(struct agent *a, int agent);

#endif
