/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sessions of processes without MPI: services, task runtimes, programs that fork. They
 * join a session through the agent of their node, and log what they send and receive.
 * See vftrace-session(3).
 *
 * Any thread may call any function at any time. Unless its comment says more, a function
 * returns VFTRACE_OK, or a code that says why it did nothing: VFTRACE_NO_AGENT where
 * nothing is traced. Functions with a timeout_s wait for other processes that many seconds
 * and at most one more; timeout_s <= 0 waits for ever. vftrace_join(), vftrace_expect() and
 * vftrace_children() wait as with a timeout_s of 10. None waits for an agent of this node
 * that gives no sign longer than shm.block_most_s (vftr-config(5)).
 *
 * Limits: names and labels have 1 to 255 bytes, contacts at most 2048, and messages less
 * than 2^56.
 */
#ifndef VFTRACE_SESSION_H
#define VFTRACE_SESSION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum vftrace_code {
	VFTRACE_OK = 0,
	VFTRACE_NO_AGENT,	   /* there is no agent, or tracing is off */
	VFTRACE_ERROR_NOT_JOINED,  /* vftrace_join() comes first */
	VFTRACE_ERROR_NOT_STARTED, /* vftrace_start() comes first */
	VFTRACE_ERROR_ALREADY,	   /* this was done before */
	VFTRACE_ERROR_NUMBER,	   /* another process has it, or there are fewer processes */
	VFTRACE_ERROR_CONTACT,	   /* no process of this session has given this contact */
	VFTRACE_ERROR_TIMEOUT,	   /* the other processes did not come in time */
	VFTRACE_ERROR_ABORTED,	   /* a process of the session has called vftrace_abort() */
	VFTRACE_ERROR_DEAD,	   /* a process that takes part has died, ended or left */
	VFTRACE_ERROR_MISMATCH,	   /* the processes have called different functions; or an
				      end of this thread has no begin */
	VFTRACE_ERROR_ARGUMENT,	   /* an argument makes no sense */
	VFTRACE_ERROR_BUSY,	   /* another thread is in the same function */
	VFTRACE_ERROR_LIMIT,	   /* too many things of this kind, or no memory */
	VFTRACE_ERROR_AGENT_GONE,  /* an agent does not answer */
	VFTRACE_CODES
};

/* Communicators of every process that has started; PARENT: of one that was attached. Others
 * come from create and attach. A number is valid in one process only. */
#define VFTRACE_COMM_INVALID (-1)
#define VFTRACE_COMM_WORLD   1
#define VFTRACE_COMM_SELF    2
#define VFTRACE_COMM_PARENT  3

/* A sentence that says what the code means; static, never NULL. */
const char *vftrace_error_text(int code);
/* A sentence about the last error on this thread, with names and numbers; "" if there was
 * none. Valid until the next error on this thread, or its end; never NULL. */
const char *vftrace_last_error(void);

/*
 * Joins the session of this node's agent. number: the rank to have, 0 to 2^20 - 1, or -1 for
 * the next free one; name: for the logs. contact may be NULL. *contact on entry: NULL, "S:"
 * and the contact of the process that leads, or a contact for children (vftrace_children()).
 * *contact on return: the contact of this process, a word without blanks; the library owns
 * it, and it is valid until vftrace_leave().
 */
int vftrace_join(int number, const char *name, const char **contact);
/* Sets the number of processes of the session, 1 to 2^20. Among them are those that gave the
 * n_contacts contacts (0 or more), which must have joined. Any one process of the session
 * calls it, before its vftrace_start(). */
int vftrace_expect(int processes, int n_contacts, const char *const *contacts);
/* Collective: begins a round; returns when all processes of the session have called it.
 * After VFTRACE_ERROR_TIMEOUT it may be called again. */
int vftrace_start(double timeout_s);
/* vftrace_start() without waiting. vftrace_test() sets *done to 1 when the start is over, and
 * returns its result; until then it sets *done to 0 and returns VFTRACE_OK. */
int vftrace_start_async(void);
int vftrace_test(int *done);
/* Collective: ends the round when all living processes have called it, also if it returns
 * VFTRACE_ERROR_DEAD. After it, vftrace_start() begins the next round. */
int vftrace_finish(double timeout_s);
/* Ends the calls of start, finish, create and attach that wait, in all processes of the
 * session: they return VFTRACE_ERROR_ABORTED. Does not wait. */
int vftrace_abort(void);
/* Takes this process out of the round; it stays in the session. Its records are kept. */
int vftrace_reset(void);
/* Takes this process out of the session. */
int vftrace_leave(void);
/* Returns 1 if there is an agent, else 0. */
int vftrace_enabled(void);
/* Returns the number of the present round, from 1; 0 if this process is in none. */
int vftrace_round(void);

/* Rank of this process in comm, from 0; number of processes in comm. */
int vftrace_comm_rank(int comm, int *rank);
int vftrace_comm_size(int comm, int *size);
/* Collective over the n processes (1 to 4096) with these ranks in comm; all pass the same
 * list. Process i of the list has rank i in *new_comm. */
int vftrace_comm_create(int comm, int n, const int *ranks, double timeout_s, int *new_comm);
/* Frees a communicator of create or attach, in this process only; sets *comm to
 * VFTRACE_COMM_INVALID. */
int vftrace_comm_free(int *comm);

/* Makes a contact for children that this process is going to start; it can be used once.
 * *contact is valid until the calling thread calls this again, or ends. */
int vftrace_children(const char **contact);
/* Collective over comm, together with vftrace_start() in the children. *new_comm has the
 * processes of comm first, then the children. Only rank `root` of comm needs to give the
 * number of children and the contact that they got. */
int vftrace_attach(
	int root, int comm, int children, const char *contact, double timeout_s, int *new_comm);
/* Sets *comm to VFTRACE_COMM_PARENT, or to VFTRACE_COMM_INVALID if no process has attached
 * this one. */
int vftrace_parent(int *comm);

/* Log a message of `bytes` bytes to rank `peer` of comm before it is sent, or from that rank
 * when it has come. tag: 0 to 2^31 - 1. */
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
/* vftrace_log_collective() logs an operation (enum vftrace_collective) that has taken place;
 * root: its rank in comm, or -1 if there is none. To give it a duration, call begin before
 * the operation and end after vftrace_log_collective(). */
int vftrace_collective_begin(void);
int vftrace_collective_end(void);
int vftrace_log_collective(
	int operation, int comm, int root, uint64_t bytes_sent, uint64_t bytes_received);
/* Counts `bytes` bytes of data, less than 2^56, under a label. */
int vftrace_log_data(uint64_t bytes, const char *label);

/* Messages, operations, data and values that this thread logs between begin and end took
 * place at `time`, an earlier result of vftrace_time(). */
int vftrace_begin_unordered(uint64_t time);
int vftrace_end_unordered(void);

/* States: vftrace_enter() and vftrace_leave_state() begin and end a region "CLASS:STATE", or
 * "CLASS:STATE@FILE:LINE" with a location (0: none). The first three functions set *number,
 * from 1; equal arguments give equal numbers. They need an agent and no session. */
int vftrace_class(const char *name, int *number);
int vftrace_state(const char *name, int class_number, int *number);
int vftrace_location(const char *file, int line, int *number);
int vftrace_enter(int state, int location);
int vftrace_leave_state(int state, int location);

/*
 * Counters: values that the program sets, as the length of a queue. They need an agent and
 * no session. name and unit have no newline; unit: as "items", or NULL, at most 255 bytes.
 * The same name, unit and type give the same *number. Both functions set counters of both
 * types: an integer counter rounds a real value. Real values must be finite.
 */
enum vftrace_counter_type { VFTRACE_COUNTER_INTEGER, VFTRACE_COUNTER_REAL };
int vftrace_counter_define(const char *name, const char *unit, int type, int *number);
int vftrace_counter_set(int number, double value);
int vftrace_counter_set_integer(int number, int64_t value);

/* Returns the present time in ticks of the trace's clock, for vftrace_begin_unordered(); 0
 * without an agent. */
uint64_t vftrace_time(void);

#ifdef __cplusplus
}
#endif

#endif
