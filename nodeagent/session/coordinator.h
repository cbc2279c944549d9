/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the coordinator of sessions, in agent 0: members, in groups of those that
 * start together; communicators; and operations that wait for some of their members.
 * coordinator.c takes the requests, operation.c keeps the operations.
 */
#ifndef VFTR_NODEAGENT_SESSION_COORDINATOR_H
#define VFTR_NODEAGENT_SESSION_COORDINATOR_H

#include "nodeagent/base/map.h"
#include "nodeagent/session/session.h"
#include "nodeagent/session/internal.h"

struct group;

/* Never freed: communicators refer to members that are gone. */
struct member {
	uint64_t key;
	int agent, pid;
	int number; /* as asked for, or -1 */
	int rank;   /* in the session, in this round; -1: not started */
	bool dead, left;
	bool killed; /* by a signal */
	bool away;   /* its agent cannot be reached */
	char *name;
	char *text; /* member_text() */
	struct group *group;
};

struct arrival {
	uint32_t member, request;
};

enum operation_kind { STARTING, FINISHING, CREATING, ATTACHING };

struct operation {
	enum operation_kind kind;
	uint32_t *who; /* members that it waits for; STARTING: members that have come */
	uint32_t n, wanted;
	struct arrival *arrivals;
	size_t n_arrivals, cap_arrivals;
	uint64_t comm;
	int root;		/* ATTACHING */
	struct group *children; /* ATTACHING: of the root, or NULL: the root has not come */
	struct operation *next;
};

/* Processes that start together, or the children of one contact. */
struct group {
	uint64_t contact; /* 0: the first group */
	uint32_t expected, joined;
	uint32_t lost;		     /* members that died after joining and were not replaced */
	char *lost_name;	     /* of the last of these */
	uint32_t started;	     /* round in which the group started, or 0 */
	bool again;		     /* it has started before */
	struct operation *attaching; /* that waits for the group */
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
	bool all_quiet; /* all nodes were quiet, and know that */
};

/* "worker (pid 17 on node2)"; valid until the next call for this member. */
const char *member_text(const struct coordinator *c, uint32_t member);
/* For a member that does not live: "has died" and the like. */
const char *member_fate(const struct coordinator *c, uint32_t member);
bool member_lives(const struct coordinator *c, uint32_t member);

/* Sends an outcome without communicators. fmt NULL: no text. */
void outcome_tell(struct coordinator *c, uint32_t member, uint32_t request, enum session_code code,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

struct communicator *communicator_find(struct coordinator *c, uint64_t id);
/* who is copied. */
struct communicator *communicator_new(struct coordinator *c, const uint32_t *who, uint32_t n);
void communicator_free(struct coordinator *c, struct communicator *comm);

/*
 * The member joins an operation of this kind, on a communicator or of its group.
 * `list`: CREATING, members; it is copied. NULL if it cannot; the member has got the reason.
 */
struct operation *operation_arrive(struct coordinator *c, enum operation_kind kind, uint32_t member,
	uint32_t request, uint64_t comm, const uint32_t *list, uint32_t n);
/* Sends all members of o this outcome, and frees o. */
void operation_fail(struct coordinator *c, struct operation *o, enum session_code code,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Ends o if all have come. */
void operation_try(struct coordinator *c, struct operation *o);
void operation_free(struct coordinator *c, struct operation *o);
/* The group's round is over: members that wait for the next one may start. */
void group_is_free(struct coordinator *c, struct group *g);
/* A member gives a request up: sends it the names of those who were missing. */
void operation_give_up(struct coordinator *c, uint32_t member, uint32_t request);
/* Ends all operations of a member that is gone, or that wants it. */
void operations_of_member(struct coordinator *c, uint32_t member, enum session_code code);

#endif
