/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sampling files tell, as their writer (vfd-write.h) and reader (vfd-read.h)
 * give it. VFD_NONE stands for no number. Texts are NULL where there is none.
 */
#ifndef VFTR_NODEAGENT_VFD_TYPES_H
#define VFTR_NODEAGENT_VFD_TYPES_H

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
};

/* Numbers of threads from here on: streams of a GPU, and what runs there. */
#define VFD_THREAD_STREAM (1u << 20)

/* A thread of a process. Its lane is its number in the file. */
struct vfd_thread {
	uint32_t lane; /* VFD_NONE in arrays of the reader: not defined */
	uint32_t process;
	uint32_t number;  /* in its process, 0 is the first */
	uint32_t creator; /* number of the thread that made it */
	int32_t tid;
	const char *name;
	bool openmp; /* it had a part in a team of OpenMP; its last place there: */
	uint32_t openmp_level, openmp_number;
	int64_t start, end;
};

enum vfd_function_kind {
	VFD_FUNCTION_CODE, /* address in a module */
	VFD_FUNCTION_MPI,  /* index: in vftr_mpi_names */
	VFD_FUNCTION_REGION,
	VFD_FUNCTION_OPENMP, /* index: enum construct */
	VFD_FUNCTION_OTHER,  /* made by vftr: a pause, frames too deep ... */
};

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
};

/* A call path. Stack 0 of each lane is its root, "init". */
struct vfd_stack {
	uint32_t caller;   /* stack of the same lane; VFD_NONE for the root */
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
};

/* A window or a file. */
struct vfd_object {
	uint32_t number; /* in the file, from 1 */
	enum wire_object_kind kind;
	const char *name;
	uint32_t comm; /* or 0 */
};

enum vfd_counter_kind {
	VFD_COUNTER_SUM,     /* of what happened since the thread began, modulo 2^63 */
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

/* What is computed from sums of counters: a formula of their symbols, T and CALLS. */
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

enum vfd_message_kind { VFD_SEND, VFD_RECEIVE, VFD_COLLECTIVE, VFD_RMA, VFD_FILE };

/* How the sender of a received message is known. */
enum vfd_match {
	VFD_MATCH_NONE,	     /* it is not */
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
	VFD_MESSAGE_UNKNOWN = 1 << 5,  /* nobody saw it end */
	VFD_MESSAGE_BLOCKING = 1 << 6, /* one call, no request */
	VFD_MESSAGE_READ = 1 << 7,     /* FILE */
	VFD_MESSAGE_WRITE = 1 << 8,
};

/* One communication. What its kind does not have is 0 (peers and lanes: VFD_NONE). */
struct vfd_message {
	enum vfd_message_kind kind;
	uint32_t lane;	    /* of the thread that posted it ... */
	uint32_t stack;	    /* ... and where */
	int64_t start, end; /* writer: ticks; reader: ns. Of the call, or from post to
			       completion of the request */
	uint32_t comm;	    /* number of the communicator; RMA, FILE: of the object */
	uint32_t peer;	    /* world rank; COLLECTIVE: the root; RMA: the target */
	int32_t tag;
	uint32_t type;		 /* row of the predefined datatype from 1; 0: derived */
	uint64_t bytes;		 /* sent or received; RMA: to the target */
	uint64_t bytes_received; /* COLLECTIVE; RMA: from the target */
	uint64_t ticket;   /* SEND: among those to peer on comm; RECEIVE: among those posted on
			      comm; COLLECTIVE: instance on comm; RMA: epoch. PARTITIONED:
			      number of the init, and above 32 bits that of the start */
	uint32_t function; /* index in vftr_mpi_names: COLLECTIVE, RMA */
	uint32_t flags;
	uint64_t offset; /* FILE */
	/* RECEIVE: its sender */
	enum vfd_match match;
	uint64_t sender_ticket;
	uint32_t sender_thread; /* number in its process */
	/* 1 + the own rank in what comm's ranks are of, where that is not the process's job */
	uint32_t self;
	/* COLLECTIVE: messages that bytes and bytes_received are of; see vfd-expand.h */
	uint32_t sends, receives;
};

/* The same, told apart from the receive: that of this ticket, posted by the process. */
struct vfd_pair {
	uint32_t process, comm; /* numbers in the file */
	uint64_t ticket;
	bool partitioned;
	enum vfd_match match;
	uint64_t sender_ticket;
	uint32_t sender_thread; /* number in its process, or VFD_NONE */
};

/* What a collective call waited for others, from its enter on: known when all have left. */
struct vfd_wait {
	uint32_t lane, stack; /* of the call */
	uint32_t function;    /* what the wait is shown as, below the call */
	int64_t start, end;   /* writer: ticks; start: the call's enter */
};

/* Neighbours of a process in the topology of a communicator, in the order of its messages. */
struct vfd_neighbours {
	uint32_t process, comm;	     /* numbers in the file */
	bool received;		     /* it receives from them; else it sends to them */
	const struct wire_run *runs; /* world ranks */
	size_t n_runs;
};

/* How long the messages [first, first + n) of a collective call in one direction are. */
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
	VFD_LAUNCH_COPY, /* another one */
	VFD_LAUNCH_SET,
	VFD_LAUNCH_KINDS
};

/* A call has started something in a stream of a GPU. */
struct vfd_launch {
	uint64_t id; /* in the file, from 1 */
	enum vfd_launch_kind kind;
	uint32_t lane, stack;	    /* of the call, ... */
	int64_t time;		    /* ... whose enter was then; writer: ticks; reader: ns */
	uint32_t to_lane, to_stack; /* of the stream, and what began there ... */
	int64_t start;		    /* ... then */
	uint64_t bytes;		    /* copied or set */
};

#endif
