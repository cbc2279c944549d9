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

/* A process that has joined. Numbered from 0, and never freed, as communicators refer to members
 * that are gone. */
struct member {
	uint64_t key;
	int agent, pid;
	int number; /* as asked for, or -1 */
	int rank;   /* in the session, in this round; -1: not started */
	bool dead, left;
	bool killed; /* by a signal */
	bool away;   /* its agent cannot be reached */
	char *name;
	char *text; /* what member_text() has returned, or NULL */
	struct group *group;
};

/* A member has called the operation, by its request of this number, and waits. */
struct arrival {
	uint32_t member, request;
};

enum operation_kind { STARTING, FINISHING, CREATING, ATTACHING };

struct operation {
	enum operation_kind kind;
	uint32_t *who;		  /* CREATING, ATTACHING: the n members that have to come */
	uint32_t n;		  /* STARTING, FINISHING: 0, as all of a group have to */
	struct arrival *arrivals; /* members that have come; at least one */
	size_t n_arrivals, cap_arrivals;
	uint64_t comm;		/* CREATING, ATTACHING: the communicator that it is on */
	int root;		/* ATTACHING: its rank in comm, or -1: not known yet */
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
	uint64_t world;		     /* the communicator of that round, or 0 */
	bool again;		     /* it has started before */
	struct operation *attaching; /* that waits for the group */
	struct group *next;
};

struct communicator {
	uint64_t id;	/* not 0 */
	uint32_t *who;	/* the n members, by rank */
	uint32_t n;	/* of them ... */
	uint32_t freed; /* ... those that have freed it */
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
/* What has become of a member that does not live: "has died" and the like; static. */
const char *member_fate(const struct coordinator *c, uint32_t member);
/* True if the member has neither ended nor left. */
bool member_lives(const struct coordinator *c, uint32_t member);

/* Sends the member the outcome of its request, without communicators. fmt NULL: no text. */
void outcome_tell(struct coordinator *c, uint32_t member, uint32_t request, enum session_code code,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Pointers to communicators are valid until the next one is made or freed. NULL: there is none. */
struct communicator *communicator_find(struct coordinator *c, uint64_t id);
/* Makes one of these n members; who is copied. */
struct communicator *communicator_new(struct coordinator *c, const uint32_t *who, uint32_t n);
void communicator_free(struct coordinator *c, struct communicator *comm);

/*
 * The member comes to an operation of this kind: of its group (comm and n are 0), or of the n
 * members in list, which is copied, on communicator comm. Begins it if it is the first. NULL: it
 * cannot, and has got the reason.
 */
struct operation *operation_arrive(struct coordinator *c, enum operation_kind kind, uint32_t member,
	uint32_t request, uint64_t comm, const uint32_t *list, uint32_t n);
/* Sends all members that have come to o this outcome, and frees o. */
void operation_fail(struct coordinator *c, struct operation *o, enum session_code code,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* If all have come, sends them the outcome, and frees o and what else ends with it. */
void operation_try(struct coordinator *c, struct operation *o);
/* Frees o without a word to those that have come. */
void operation_free(struct coordinator *c, struct operation *o);
/* The group's round is over: members that wait for the next one may start. */
void group_is_free(struct coordinator *c, struct group *g);
/* A member gives a request up, if that still waits: sends it the names of those who were missing.
 */
void operation_give_up(struct coordinator *c, uint32_t member, uint32_t request);
/*
 * Ends the operations that a member takes part in, with this outcome for the others: SESSION_DEAD,
 * as it is gone; SESSION_ABORTED, as it wants that; SESSION_MISMATCH, as it has taken itself out of
 * the round. A finish goes on without a member that is gone or out.
 */
void operations_of_member(struct coordinator *c, uint32_t member, enum session_code code);

#endif
