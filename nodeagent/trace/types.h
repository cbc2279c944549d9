/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contents of sampling files, as structures for the writer (trace/write/writer.h) and the
 * reader (trace/read/file.h). VFD_NONE stands for no number, NULL for no text.
 */
#ifndef VFTR_NODEAGENT_TRACE_TYPES_H
#define VFTR_NODEAGENT_TRACE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/wire.h"

#define VFD_NONE UINT32_MAX

struct vfd_process {
	uint32_t number; /* VFD_NONE in arrays of the reader: not defined */
	int32_t rank;	 /* world rank, or -1 */
	uint32_t size;	 /* of its MPI job, or 0 */
	uint64_t job;	 /* the same in all ranks of one MPI_COMM_WORLD */
	int32_t pid;
	uint32_t parent; /* number of the process that made it */
	const char *executable;
	int64_t start, end; /* writer: ticks; reader: ns; end: when it or the file ended */
	bool ended;
	uint32_t how; /* 0 exited, 1 killed by a signal, 2 executed another program */
	int32_t exit_status;
	uint64_t told; /* reader: its place among those whose jobs the file tells later, from 1;
			  0: the job is told with the process, or not at all */
};

/* From this number on, threads are streams of a GPU. */
#define VFD_THREAD_STREAM (1u << 20)

/* A thread of a process. Its track is its number in the file. */
struct vfd_thread {
	uint32_t track; /* VFD_NONE in arrays of the reader: not defined */
	uint32_t process;
	uint32_t number;  /* in its process, 0 is the first */
	uint32_t creator; /* number of the thread that made it */
	int32_t tid;
	const char *name;
	bool openmp; /* it was in a team of OpenMP; its last level and number: */
	uint32_t openmp_level, openmp_number;
	int64_t start, end;
};

enum vfd_function_kind {
	VFD_FUNCTION_CODE,   /* address in a module */
	VFD_FUNCTION_MPI,    /* index: in vftr_mpi_names */
	VFD_FUNCTION_REGION, /* index: 0, or VFD_REGION_LOCK_WAIT */
	VFD_FUNCTION_OPENMP, /* index: enum construct */
	VFD_FUNCTION_OTHER,  /* made by vftr: a pause, frames too deep ... */
};

#define VFD_REGION_LOCK_WAIT 1u /* it waits for other threads: shm/locks.h */

struct vfd_function {
	uint32_t number;  /* VFD_NONE in arrays of the reader: not defined */
	uint32_t process; /* it is a function of, or VFD_NONE: of any */
	enum vfd_function_kind kind;
	bool precise;	    /* always sampled */
	const char *name;   /* NULL until it is known */
	const char *module; /* path */
	uint8_t build_id[WIRE_BUILD_ID];
	uint32_t build_id_bytes;
	uint64_t address; /* ELF address: CODE, OPENMP */
	uint32_t index;
	const char *file; /* source file, or NULL: not known */
	uint32_t line;	  /* where it begins in the file, from 1 */
};

/* A call path. Stack 0 of each track is its root, "init". */
struct vfd_stack {
	uint32_t caller;   /* stack of the same track; VFD_NONE for the root */
	uint32_t function; /* VFD_NONE: the root, or its definition is lost */
	uint32_t depth;	   /* 0 for the root */
};

struct vfd_comm {
	uint32_t number; /* in the file, from 1 */
	uint64_t id;	 /* the same in all members and all files */
	enum wire_comm_kind kind;
	const char *name;
	uint32_t size, remote_size;  /* 0: an intracommunicator */
	const struct wire_run *runs; /* world ranks of the members, then of the remote group */
	size_t n_runs;
	/* Where members whose ranks are not known are those of another job: a number that is the
	 * same for all members, or 0; that job; the id, at its parents, of the intercommunicator to
	 * spawned processes that led to it, or, of jobs that have met by a port, at the other side;
	 * whether the own group is not that one which has this id */
	uint64_t link, link_job, spawn;
	bool is_child;
};

/* A window or a file. */
struct vfd_object {
	uint32_t number; /* in the file, from 1 */
	enum wire_object_kind kind;
	const char *name;
	uint32_t comm; /* or 0 */
};

enum vfd_counter_kind {
	VFD_COUNTER_SUM,     /* events since the thread began, modulo 2^63 */
	VFD_COUNTER_INTEGER, /* a level, int64_t */
	VFD_COUNTER_REAL,    /* a level, the bits of a double */
	VFD_COUNTER_KINDS
};

struct vfd_counter {
	uint32_t number;  /* in the file, from 1; 0 in arrays of the reader: not defined */
	uint32_t process; /* it is a counter of, or VFD_NONE: of any */
	enum vfd_counter_kind kind;
	const char *name, *symbol, *unit; /* "cycles", "CYC", "ns" */
	const char *source;		  /* "perf" ...; NULL: it could not be counted */
};

/* A formula of the symbols of counters, T and CALLS. */
struct vfd_observable {
	uint32_t number; /* from 1; 0: not defined */
	const char *name, *formula, *unit;
};

/* Values of n counters at one time. */
struct vfd_counts {
	uint32_t n;
	const uint32_t *counters; /* numbers in the file, reader: index of vfd_counters() */
	const uint64_t *values;
};

/* A round of a session. */
struct vfd_round {
	uint64_t number; /* from 1 */
	int64_t begin;	 /* writer: ticks; reader: ns */
};

enum vfd_message_kind {
	VFD_SEND,
	VFD_RECEIVE,
	VFD_COLLECTIVE,
	VFD_RMA,
	VFD_FILE,
	VFD_EPOCH, /* a call on a window, which sends nothing */
	VFD_MESSAGE_KINDS
};

/* The certainty of the sender of a received message. */
enum vfd_match {
	VFD_MATCH_NONE,	     /* unknown sender */
	VFD_MATCH_EXACT,     /* by MPI's rules */
	VFD_MATCH_AMBIGUOUS, /* one of several that threads sent at once */
	VFD_MATCH_ASSUMED,   /* a receive before it was never seen to end */
	VFD_MATCH_BROKEN,    /* records were lost on the way */
	VFD_MATCH_GUESS,     /* messages may overtake each other here */
	VFD_MATCHES
};

enum vfd_message_flag {
	VFD_MESSAGE_ANY_SOURCE = 1 << 0,
	VFD_MESSAGE_ANY_TAG = 1 << 1,
	VFD_MESSAGE_MATCHED = 1 << 2, /* by Mprobe or Improbe */
	VFD_MESSAGE_PARTITIONED = 1 << 3,
	VFD_MESSAGE_CANCELLED = 1 << 4,
	VFD_MESSAGE_UNKNOWN = 1 << 5,  /* its end was not seen */
	VFD_MESSAGE_BLOCKING = 1 << 6, /* one call, no request */
	VFD_MESSAGE_READ = 1 << 7,     /* FILE */
	VFD_MESSAGE_WRITE = 1 << 8,
	VFD_MESSAGE_EXCLUSIVE = 1 << 9, /* EPOCH: a lock */
};

/* One communication. Members that its kind does not have are 0 (peers, tracks: VFD_NONE). */
struct vfd_message {
	enum vfd_message_kind kind;
	uint32_t track;	    /* of the thread that posted it */
	uint32_t stack;	    /* of the call that posted it */
	int64_t start, end; /* writer: ticks; reader: ns. Of the call, or from post to
			       completion of the request */
	uint32_t comm;	    /* number of the communicator; RMA, FILE, EPOCH: of the object */
	uint32_t peer;	    /* world rank; COLLECTIVE: the root; RMA: the target; EPOCH: the target
			       of a lock, or one of the group, each by a message of its own */
	int32_t tag;
	uint32_t type;		 /* row of the predefined datatype from 1; 0: derived */
	uint64_t bytes;		 /* sent or received; RMA: to the target */
	uint64_t bytes_received; /* COLLECTIVE; RMA: from the target */
	uint64_t ticket;   /* SEND: among those to peer on comm; RECEIVE: among those posted on
			      comm; COLLECTIVE: instance on comm; RMA, EPOCH: epoch. PARTITIONED,
			      and of a persistent call: number of the init, and above 32 bits that
			      of the start (a persistent call of older files has 0) */
	uint32_t function; /* index in vftr_mpi_names: COLLECTIVE, RMA, EPOCH */
	uint32_t flags;
	/* FILE; EPOCH: identity of the window, the same for all its ranks. A time (writer: ticks;
	 * reader: ns): SEND, PARTITIONED: from start until the call began that made its last part
	 * ready; RECEIVE, MATCHED: from the begin of the probe that has found it until start; 0:
	 * not known */
	uint64_t offset;
	/* RECEIVE: its sender */
	enum vfd_match match;
	uint64_t sender_ticket;
	uint32_t sender_thread; /* number in its process */
	/* 1 + own rank in the session that comm's ranks are of, if not in the process's job */
	uint32_t self;
	/* COLLECTIVE: messages that bytes and bytes_received are of; see trace/read/collectives.h.
	 * sends of SEND, RECEIVE, and offset of COLLECTIVE: 1 + rank of the peer or root in comm,
	 * of its remote group if it has one, if its rank in the process's job is not known */
	uint32_t sends, receives;
};

/* The match of a receive as a record of its own: that of this ticket of the process. */
struct vfd_pair {
	uint32_t process, comm; /* numbers in the file */
	uint64_t ticket;
	bool partitioned;
	enum vfd_match match;
	uint64_t sender_ticket;
	uint32_t sender_thread; /* number in its process, or VFD_NONE */
};

/* The wait of a collective call for others, from its enter on: known when all have left. */
struct vfd_wait {
	uint32_t track, stack; /* of the call */
	uint32_t function;     /* as which the wait is shown, below the call */
	int64_t start, end;    /* writer: ticks; start: the call's enter */
};

/* A thread waited for another one of its process, which had what it wanted. A wait for several has
 * several such parts, in their order. */
struct vfd_lock_wait {
	uint32_t track, holder; /* the track of the other one */
	uint32_t kind;		/* enum wait_kind */
	bool goes_on;		/* of the wait that the track's part before it is of */
	int64_t start, end;	/* writer: ticks; reader: ns */
};

/* Neighbours of a process in the topology of a communicator, in the order of its messages. */
struct vfd_neighbours {
	uint32_t process, comm;	     /* numbers in the file */
	bool received;		     /* true: receives from them; else sends to them */
	const struct wire_run *runs; /* world ranks */
	size_t n_runs;
};

/* Lengths of the messages [first, first + n) of a collective call in one direction. */
struct vfd_lengths {
	uint32_t process, comm; /* numbers in the file */
	bool received, same;	/* same: all are bytes[0] */
	uint64_t ticket;	/* of the call */
	uint32_t first, n;
	const uint64_t *bytes;
};

enum vfd_launch_kind {
	VFD_LAUNCH_KERNEL,
	VFD_LAUNCH_TO_DEVICE, /* copies */
	VFD_LAUNCH_TO_HOST,
	VFD_LAUNCH_COPY, /* another copy */
	VFD_LAUNCH_SET,
	VFD_LAUNCH_KINDS
};

/* The start of an activity in a stream of a GPU by a call. */
struct vfd_launch {
	uint64_t id; /* in the file, from 1 */
	enum vfd_launch_kind kind;
	uint32_t track, stack;	     /* of the call */
	int64_t time;		     /* of the call's enter; writer: ticks; reader: ns */
	uint32_t to_track, to_stack; /* of the stream; of the activity */
	int64_t start;		     /* of the activity */
	uint64_t bytes;		     /* copied or set */
};

#endif
