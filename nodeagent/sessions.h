/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of processes without MPI, see vftr-distributed(7). Each agent passes what its
 * processes ask to the coordinator, which is in agent 0 (sessions-coordinator.c), and
 * keeps the outcomes until they are fetched. It never waits: not for a process, and not
 * for another agent.
 */
#ifndef VFTR_NODEAGENT_SESSIONS_H
#define VFTR_NODEAGENT_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include "shm/session.h"

struct agent;
struct process;

/* A request has come; `data` is behind it. Answers. */
void sessions_request(struct process *p, const struct wire_session *m, const void *data);
/* It has ended. */
void sessions_process_ended(struct process *p);
void sessions_process_free(struct process *p);
/* To be called again and again. Seconds until the next call. */
double sessions_tick(struct agent *a);
/* What the processes of this node do, MPI ranks or not. False: there are no other nodes that
 * could be asked; else idle_report() follows when no node is busy and one is quiet. */
enum session_activity { SESSION_NOBODY, SESSION_BUSY_NODE, SESSION_QUIET };
bool sessions_idle(struct agent *a, enum session_activity what);
/* Another agent is gone, and with it its processes. */
void sessions_agent_gone(struct agent *a, int agent);

#endif
