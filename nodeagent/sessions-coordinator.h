/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the coordinator of sessions knows, all in agent 0: members, in groups of those that
 * start together; communicators; and operations that wait for some of their members.
 * sessions-coordinator.c takes the requests, sessions-operation.c keeps the operations.
 */
#ifndef VFTR_NODEAGENT_SESSIONS_COORDINATOR_H
#define VFTR_NODEAGENT_SESSIONS_COORDINATOR_H

#include "nodeagent/map64.h"
#include "nodeagent/sessions.h"
#include "nodeagent/sessions-internal.h"

struct group;

/* Never freed: communicators keep those that are gone. */
struct member {
	uint64_t key;
	int agent, pid;
	int number; /* as asked for, or -1 */
	int rank;   /* in the session, in this round; -1: not started */
	bool dead, left;
	bool killed; /* by a signal */
	bool away;   /* its agent cannot be reached */
	char *name;
	struct group *group;
};

struct arrival {
	uint32_t member, request;
};

enum operation_kind { STARTING, FINISHING, CREATING, ATTACHING };

struct operation {
	enum operation_kind kind;
	uint32_t *who; /* members that it waits for; of STARTING: those that have come */
	uint32_t n, wanted;
	struct arrival *arrivals;
	size_t n_arrivals, cap_arrivals;
	uint64_t comm;
	int root;		/* ATTACHING */
	struct group *children; /* ... of the root, or NULL: it has not come */
	struct operation *next;
};

/* Processes that start together, or the children of one contact. */
struct group {
	uint64_t contact; /* 0: the first group */
	uint32_t expected, joined;
	uint32_t lost;	  /* have died since they joined, and nobody has taken their place */
	char *lost_name;  /* of the last of these */
	uint32_t started; /* round in which it did, or 0 */
	bool again;	  /* it has started before */
	struct operation *attaching; /* who waits for it */
	struct group *next;
};

struct communicator {
	uint64_t id;
	uint32_t *who;
	uint32_t n, freed;
};

struct coordinator {
	struct agent *agent;
	uint64_t session;      /* makes identities unlike those of other runs */
	uint32_t round, ranks; /* ranks given out in this round */
	uint64_t comms_ever;
	struct member *members;
	size_t n_members, cap_members;
	struct map64 by_key; /* of members */
	struct group *groups;
	struct communicator *comms;
	size_t n_comms, cap_comms;
	struct operation *operations;
	enum session_activity *activity; /* by agent */
	int n_activity;
	bool all_quiet; /* and they were told */
};

/* "worker (pid 17 on node2)"; valid for the next four calls. */
const char *member_text(const struct coordinator *c, uint32_t member);
/* What has become of one that does not. */
const char *member_fate(const struct coordinator *c, uint32_t member);
bool member_lives(const struct coordinator *c, uint32_t member);

/* An outcome without communicators. fmt NULL: no text. */
void outcome_tell(struct coordinator *c, uint32_t member, uint32_t request, enum session_code code,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

struct communicator *communicator_find(struct coordinator *c, uint64_t id);
/* who is copied. */
struct communicator *communicator_new(struct coordinator *c, const uint32_t *who, uint32_t n);
void communicator_free(struct coordinator *c, struct communicator *comm);

/*
 * The member takes part in an operation of this kind: on a communicator, or of its group.
 * `list`: CREATING, members; it is copied. NULL if it cannot, which it was told.
 */
struct operation *operation_arrive(struct coordinator *c, enum operation_kind kind, uint32_t member,
	uint32_t request, uint64_t comm, const uint32_t *list, uint32_t n);
/* Everybody gets this outcome; o is gone. */
void operation_fail(struct coordinator *c, struct operation *o, enum session_code code,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* If all have come it is over. */
void operation_try(struct coordinator *c, struct operation *o);
void operation_free(struct coordinator *c, struct operation *o);
/* Its round is over: who waits for the next one, may start. */
void group_is_free(struct coordinator *c, struct group *g);
/* A member does not wait any more: it is told what it has waited for. */
void operation_give_up(struct coordinator *c, uint32_t member, uint32_t request);
/* It is gone, or wants all of its operations to end. */
void operations_of_member(struct coordinator *c, uint32_t member, enum session_code code);

#endif
