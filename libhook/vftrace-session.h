/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of processes without MPI: services, task runtimes, programs that fork. They
 * join a session through the agent of their node, and log what they send and receive.
 * See vftrace-session(3).
 *
 * Every function may be called by any thread at any time and returns VFTRACE_OK, or a code
 * that says why it did nothing. Without an agent all do nothing. None waits longer than its
 * timeout_s, or 10 seconds.
 */
#ifndef VFTRACE_SESSION_H
#define VFTRACE_SESSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vftrace_code {
	VFTRACE_OK = 0,
	VFTRACE_NO_AGENT,	   /* nothing is traced here */
	VFTRACE_ERROR_NOT_JOINED,  /* vftrace_join() comes first */
	VFTRACE_ERROR_NOT_STARTED, /* vftrace_start() comes first */
	VFTRACE_ERROR_ALREADY,	   /* this was done before */
	VFTRACE_ERROR_NUMBER,	   /* another process has this number, or it is too large */
	VFTRACE_ERROR_CONTACT,	   /* no process of this session has given it */
	VFTRACE_ERROR_TIMEOUT,	   /* the other processes did not come */
	VFTRACE_ERROR_ABORTED,	   /* a process of the session has called vftrace_abort() */
	VFTRACE_ERROR_DEAD,	   /* a process that takes part has died */
	VFTRACE_ERROR_MISMATCH,	   /* the processes have called different functions */
	VFTRACE_ERROR_ARGUMENT,
	VFTRACE_ERROR_BUSY,	  /* another thread is in the same function */
	VFTRACE_ERROR_LIMIT,	  /* too many things of this kind */
	VFTRACE_ERROR_AGENT_GONE, /* an agent does not answer */
	VFTRACE_CODES
};

/* Communicators that are always there; others come from create and attach. */
#define VFTRACE_COMM_INVALID (-1)
#define VFTRACE_COMM_WORLD   1
#define VFTRACE_COMM_SELF    2
#define VFTRACE_COMM_PARENT  3

/* What a code means, in a sentence. Never NULL. */
const char *vftrace_error_text(int code);
/* What went wrong last on this thread, with names and numbers; "" if nothing did. */
const char *vftrace_last_error(void);

/*
 * Joins the session of this node's agent. number: from 0, or -1 for the next free one;
 * name: for the logs. *contact (may be NULL): on entry NULL, "S:" and the contact of the
 * process that leads, or a contact for children (vftrace_children()); on return our own
 * contact, without blanks, which is valid until vftrace_leave().
 */
int vftrace_join(int number, const char *name, const char **contact);
/* The session will have `processes` in all, those of the n_contacts contacts (maybe 0)
 * included. Any one process calls it, before its vftrace_start(). */
int vftrace_expect(int processes, int n_contacts, const char *const *contacts);
/* Collective: returns when all have called it. timeout_s: <= 0 waits for ever. After
 * VFTRACE_ERROR_TIMEOUT it may be called again. */
int vftrace_start(double timeout_s);
/* vftrace_start() without waiting: *done becomes 1 when it is over; the code is its result. */
int vftrace_start_async(void);
int vftrace_test(int *done);
/* Collective: ends the round. Then vftrace_start() begins the next one. */
int vftrace_finish(double timeout_s);
/* Ends waiting calls of start, finish, create and attach in all processes. Does not wait. */
int vftrace_abort(void);
/* Takes this process out of the round: it has joined only. Records are kept. */
int vftrace_reset(void);
/* This process is no longer in the session. */
int vftrace_leave(void);
/* 1: there is an agent, 0: there is none; number of the present round, from 1, or 0. */
int vftrace_enabled(void);
int vftrace_round(void);

int vftrace_comm_rank(int comm, int *rank);
int vftrace_comm_size(int comm, int *size);
/* Collective over the n processes with these ranks in comm, in this order. */
int vftrace_comm_create(int comm, int n, const int *ranks, double timeout_s, int *new_comm);
int vftrace_comm_free(int *comm);

/* A contact for children that this process is going to start. */
int vftrace_children(const char **contact);
/* Collective over comm, and with the start of the children: *new_comm has the processes of
 * comm first, then the children. children and contact count at rank `root` only. */
int vftrace_attach(
	int root, int comm, int children, const char *contact, double timeout_s, int *new_comm);
/* VFTRACE_COMM_PARENT, or VFTRACE_COMM_INVALID if nobody has attached us. */
int vftrace_parent(int *comm);

/* Log a message to, or from, rank `peer` of comm; tags are 0 to 2^31 - 1. */
int vftrace_log_send(int comm, int peer, int tag, uint64_t bytes);
int vftrace_log_receive(int comm, int peer, int tag, uint64_t bytes);

enum vftrace_collective {
	VFTRACE_BARRIER,
	VFTRACE_BROADCAST,
	VFTRACE_REDUCE,
	VFTRACE_ALLREDUCE,
	VFTRACE_GATHER,
	VFTRACE_ALLGATHER,
	VFTRACE_SCATTER,
	VFTRACE_ALLTOALL,
	VFTRACE_COLLECTIVES
};
/* Log a collective operation after it; root: -1 if there is none. With begin before the
 * operation and end behind the log it has a duration. */
int vftrace_collective_begin(void);
int vftrace_collective_end(void);
int vftrace_log_collective(
	int operation, int comm, int root, uint64_t bytes_sent, uint64_t bytes_received);
/* Counts so many bytes of data under a label. */
int vftrace_log_data(uint64_t bytes, const char *label);

/* Messages and values that this thread logs until end took place at `time`, a vftrace_time(). */
int vftrace_begin_unordered(uint64_t time);
int vftrace_end_unordered(void);

/* Classes and states: regions with the name "CLASS:STATE". location: from
 * vftrace_location(), or 0. */
int vftrace_class(const char *name, int *number);
int vftrace_state(const char *name, int class_number, int *number);
int vftrace_location(const char *file, int line, int *number);
int vftrace_enter(int state, int location);
int vftrace_leave_state(int state, int location);

/*
 * Counters: values that the program sets, as the length of a queue, also without a session.
 * unit: "items", or NULL. The same name, unit and type are the same counter. A value is
 * taken as the counter's type; real ones must be finite.
 */
enum vftrace_counter_type { VFTRACE_COUNTER_INTEGER, VFTRACE_COUNTER_REAL };
int vftrace_counter_define(const char *name, const char *unit, int type, int *number);
int vftrace_counter_set(int number, double value);
int vftrace_counter_set_integer(int number, int64_t value);

/* A time stamp, for vftrace_begin_unordered(); in units of the trace's clock. */
uint64_t vftrace_time(void);

#ifdef __cplusplus
}
#endif

#endif
