/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of processes without MPI (vftr-distributed(7)): requests of a process to its agent,
 * and their answers. A request is answered at once with PENDING, or with its outcome;
 * outcomes that come later are announced by a counter in the control page, and fetched
 * with ASK. So no thread holds a lock while it waits, and any thread may give up.
 */
#ifndef VFTR_SHM_SESSION_H
#define VFTR_SHM_SESSION_H

#include "shm/wire.h"

/* As in libhook/vftrace-session.h. */
enum session_code {
	SESSION_OK = 0,
	SESSION_NO_AGENT,
	SESSION_NOT_JOINED,
	SESSION_NOT_STARTED,
	SESSION_ALREADY,
	SESSION_NUMBER,
	SESSION_CONTACT,
	SESSION_TIMEOUT,
	SESSION_ABORTED,
	SESSION_DEAD,
	SESSION_MISMATCH,
	SESSION_ARGUMENT,
	SESSION_BUSY,
	SESSION_LIMIT,
	SESSION_AGENT_GONE,
	SESSION_CODES
};

enum session_operation {
	SESSION_JOIN = 1, /* number, or -1. text: name, contact or "" */
	SESSION_EXPECT,	  /* count of processes. text: contacts, each with its NUL, or none */
	SESSION_START,
	SESSION_FINISH,
	SESSION_CHILDREN, /* outcome: a contact for them */
	SESSION_CREATE,	  /* comm; its ranks behind, int32_t[] */
	SESSION_FREE,	  /* comm; answered at once */
	SESSION_ATTACH,	  /* comm, number: root; at root count: children, text: their contact */
	SESSION_ABORT,	  /* answered at once, as are the next three */
	SESSION_RESET,
	SESSION_LEAVE,
	SESSION_ASK,	 /* for the outcome of request `number` */
	SESSION_GIVE_UP, /* ends request `number`, which takes too long */
	SESSION_OPERATIONS
};

/* First number of a communicator of sessions; those of MPI are below. */
#define SESSION_COMM_FIRST  (1u << 23)
#define SESSION_MEMBERS_MAX (1u << 20)
#define SESSION_NAME_MAX    255u
#define SESSION_CONTACT_MAX 2048u
#define SESSION_PENDING_MAX 64u /* requests of a process whose outcome is open or not fetched */

/* The function in COLLECTIVE records of sessions; named as MPI's. */
#define SESSION_FUNCTION 0x7fff0000u /* + enum session_collective */
enum session_collective {
	SESSION_BARRIER,
	SESSION_BROADCAST,
	SESSION_REDUCE,
	SESSION_ALLREDUCE,
	SESSION_GATHER,
	SESSION_ALLGATHER,
	SESSION_SCATTER,
	SESSION_ALLTOALL,
	SESSION_COLLECTIVES
};

/* WIRE_SESSION, from the process; ranks or texts of the operation follow. */
struct wire_session {
	struct wire_head head;
	uint32_t operation; /* enum session_operation */
	uint32_t request;   /* numbered by the process, from 1 */
	uint32_t comm;
	int32_t number;
	int32_t count;
	uint32_t reserved;
};

struct wire_session_comm {
	uint32_t number; /* 0: there is none */
	uint32_t rank, size;
};

/* WIRE_SESSION_ANSWER. Text: a contact; after an error a sentence; while pending, the name of
 * the agent that will answer, or "". */
struct wire_session_answer {
	struct wire_head head;
	uint32_t request;
	uint32_t pending; /* 1: its outcome is not known yet */
	int32_t code;	  /* enum session_code */
	uint32_t epoch;
	/* START: world; CREATE, ATTACH: the new one */
	struct wire_session_comm comm;
	struct wire_session_comm self, parent; /* START */
};

#endif
