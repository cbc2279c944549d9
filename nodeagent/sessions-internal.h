/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What passes between the agents of a session's processes (sessions.c) and its
 * coordinator (sessions-coordinator.c), by way of messages between agents, or directly
 * where both are in one.
 */
#ifndef VFTR_NODEAGENT_SESSIONS_INTERNAL_H
#define VFTR_NODEAGENT_SESSIONS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/session.h"

struct agent;

#define SESSION_DIED SESSION_OPERATIONS	      /* one more: a member has */
#define SESSION_IDLE (SESSION_OPERATIONS + 1) /* number: what an agent's processes do */

/* To the coordinator; `bytes` follow. */
struct session_request {
	uint32_t operation, request;
	uint64_t key; /* of the process */
	uint64_t comm;
	int32_t agent; /* filled in by whoever receives it */
	int32_t pid;
	int32_t number, count;
	uint32_t bytes, reserved;
};

struct session_members {
	uint64_t id; /* of a communicator; 0: there is none */
	uint32_t rank, n;
};

/*
 * To the agent of process `key`. Behind it, the ranks of the members of the
 * communicators `made` and `parent`, int32_t[], then text_bytes with a NUL.
 */
struct session_outcome {
	uint64_t key, job;
	uint32_t request;
	int32_t code;
	int32_t rank, size; /* START: in the session, and of it */
	uint32_t epoch, text_bytes;
	struct session_members made, parent;
};

/* sessions-agents.c: to the coordinator, wherever it is. */
void sessions_forward(struct agent *a, struct session_request *r, const void *data);
/* Takes an outcome, which is for one of our own processes or for another agent. */
void sessions_deliver(struct agent *a, int agent, const struct session_outcome *o, size_t bytes);
/* How this agent is reached, for contacts. */
const char *sessions_place(const struct agent *a);
/* "the agent on node1", or "" if that is this one; good until the next call. */
const char *sessions_leader(const struct agent *a);
/* Whether it does not answer any more. */
bool sessions_leader_gone(void);

/* sessions.c: an outcome for this agent. It may have come from another one. */
void sessions_arrived(struct agent *a, const struct session_outcome *o, size_t bytes);
/* Nothing will come of what processes wait for. */
void sessions_leader_lost(struct agent *a);
/* How many requests have no outcome yet. */
size_t sessions_waiting(void);

/* sessions-coordinator.c; r->bytes were checked, and a NUL is behind them. */
void coordinator_take(struct agent *a, const struct session_request *r, const void *data);
void coordinator_agent_gone(struct agent *a, int agent);
/* Nobody is in a session any more. */
void coordinator_free(void);

#endif
