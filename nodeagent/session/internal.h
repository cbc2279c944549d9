/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the agents of a session's processes (session.c) and its
 * coordinator (coordinator.c). They go from agent to agent, or directly if both are
 * in one.
 */
#ifndef VFTR_NODEAGENT_SESSION_INTERNAL_H
#define VFTR_NODEAGENT_SESSION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/session.h"

struct agent;
struct coordinator;
struct session_duties;

#define SESSION_DIED SESSION_OPERATIONS	      /* a member has died */
#define SESSION_IDLE (SESSION_OPERATIONS + 1) /* number: enum session_activity of an agent */

/* To the coordinator; `bytes` follow. */
struct session_request {
	uint32_t operation, request;
	uint64_t key; /* of the process */
	uint64_t comm;
	int32_t agent; /* filled in by the receiver */
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
	int32_t rank, size; /* START: rank in the session, and its size */
	uint32_t epoch, text_bytes;
	struct session_members made, parent;
};

/* The state of sessions in an agent; a->sessions. */
struct sessions {
	const struct session_duties *duties;
	bool in_use;
	bool leader_gone;     /* agent 0 does not answer any more */
	size_t waiting;	      /* requests of our processes without an outcome */
	double news_at, next; /* s: last message in or out; time to look again */
	/* for the coordinator, before the agents have met: struct session_request and data */
	void **queue;
	size_t n_queue, cap_queue;
	struct coordinator *coordinator; /* from the first request to this agent on */
};

/* agents.c: sends a request to the coordinator, in this or another agent. data: r->bytes of them,
 * and a NUL behind them. Sets r->agent. */
void sessions_forward(struct agent *a, struct session_request *r, const void *data);
/* Takes an outcome from the coordinator, for a process of agent `agent`; 0 is this one. Copies it.
 */
void sessions_deliver(struct agent *a, int agent, const struct session_outcome *o, size_t bytes);
/* "the agent on node1", or "" if that is this one; the caller frees. */
char *sessions_leader(const struct agent *a);

/* session.c: takes an outcome for a process of this agent; bytes may come from another agent, and
 * are checked. */
void sessions_arrived(struct agent *a, const struct session_outcome *o, size_t bytes);
/* Agent 0 is lost: ends all waiting requests. */
void sessions_leader_lost(struct agent *a);

/* coordinator.c: takes a request; r->bytes were checked, and a NUL is behind the data. */
void coordinator_take(struct agent *a, const struct session_request *r, const void *data);
/* All processes of this agent count as dead. */
void coordinator_agent_gone(struct agent *a, int agent);
void coordinator_free(struct coordinator *c);

#endif
