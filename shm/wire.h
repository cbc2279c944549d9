/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages on the socket RUNTIME_DIR/SESSION.sock (SOCK_SEQPACKET): attaching,
 * definitions, and the end. Every message is one packet: a struct wire_head,
 * the fixed part of its kind, then `text_bytes` bytes of NUL-terminated
 * strings. Both sides check every length before they believe it.
 *
 *   process                                agent
 *   HELLO exe argv0 cwd            ->
 *                                  <-      WELCOME expressions + control fd
 *                                          or REFUSED text, and the socket is closed
 *                                  <-      SAMPLES + fd, if WELCOME says so
 *   MODULE path                    ->      before a record can name its code
 *   THREAD name                    ->      the first may follow HELLO at once
 *                                  <-      RING + ring fd, or without one: the
 *                                          ring of an ended thread again
 *   THREAD_END name                ->      its last act: the ring is the agent's
 *   MODULE_GONE, REGION name, RANK library, THREAD_NAME name, FORK ->
 *   CONSTRUCT name, NOTE text      ->
 *   COMM groups, GONE, WINDOW, FILE name, NAME  ->     before a record can speak of it
 *   NEIGHBOURS ranks               ->      before a collective call of neighbours
 *   STACK                          ->
 *                                  <-      STACK text
 *   GPU activities, GPU_NAME name  ->      shm/gpu.h
 *   GPU_DEVICE name, GPU_STREAM name  ->
 *   COUNTER name unit              ->      before a record has a value of it
 *   OPENACC file function name     ->      a region of OpenACC: shm/openacc.h
 *   FILE_NAME path                 ->      the name of a file: shm/files.h
 *   LOCK                           ->      where a lock is: shm/locks.h
 *   SESSION                        ->      sessions without MPI: shm/session.h
 *                                  <-      SESSION_ANSWER text
 *   (one byte)                     ->      the doorbell: wake up
 *   LIVE                           ->      instead of HELLO: a viewer, see vftr-top(1)
 *                                  <-      LIVE view, again and again, or REFUSED text
 *   SWITCH function                ->      of a viewer: off or on, or all of recording,
 *                                          on all nodes
 *   GAVE_UP                        ->      the process goes on untraced
 *   (hang-up of the agent)                 the process may say HELLO to the next one
 *   BYE                            ->      the process ends in order
 *                                  <-      MAY_END, if WELCOME had last_words_ms
 *   (hang-up)                              the process has ended
 */
#ifndef VFTR_SHM_WIRE_H
#define VFTR_SHM_WIRE_H

#include <stdint.h>

#define WIRE_VERSION  23u
#define WIRE_TEXT_MAX 16384u
#define WIRE_BUILD_ID 20
#define WIRE_UNKNOWN  (-1)
#define WIRE_LIBRARY  64 /* bytes of the text of RANK, with its NUL */

enum wire_kind {
	WIRE_HELLO = 1,
	WIRE_WELCOME,
	WIRE_REFUSED,
	WIRE_MODULE,
	WIRE_MODULE_GONE,
	WIRE_THREAD,
	WIRE_RING,
	WIRE_THREAD_END,
	WIRE_REGION,
	WIRE_RANK,
	WIRE_BYE,
	WIRE_FORK,  /* a thread forks: its open frames are the child's, too */
	WIRE_STACK, /* asks for, and answers, the open frames of a ring */
	WIRE_COMM,
	WIRE_GONE, /* a communicator, window or file was freed */
	WIRE_WINDOW,
	WIRE_FILE,
	WIRE_NAME, /* the user has named a communicator or window */
	WIRE_THREAD_NAME,
	WIRE_CONSTRUCT,
	WIRE_NOTE,    /* text: a sentence for the user, shown once */
	WIRE_SESSION, /* shm/session.h */
	WIRE_SESSION_ANSWER,
	WIRE_GPU, /* shm/gpu.h */
	WIRE_GPU_NAME,
	WIRE_COUNTER,
	WIRE_GPU_DEVICE,
	WIRE_GPU_STREAM,
	WIRE_OPENACC, /* shm/openacc.h */
	WIRE_NEIGHBOURS,
	WIRE_GAVE_UP,	/* no sign of the agent for too long: the process goes on untraced */
	WIRE_MAY_END,	/* the agent's answer to BYE */
	WIRE_LIVE,	/* a viewer asks for views of the job; and each of them */
	WIRE_SWITCH,	/* a viewer wants a function off, or on again */
	WIRE_FILE_NAME, /* shm/files.h */
	WIRE_LOCK,	/* shm/locks.h */
	WIRE_SAMPLES,	/* the agent's: memory for stack samples */
	WIRE_KINDS
};

struct wire_head {
	uint32_t kind;
	uint32_t text_bytes;
	uint64_t ticks; /* when it happened, in the sender's ticks */
};

/* Of the process, since it was made; 0: not known. */
struct wire_bye {
	struct wire_head head;
	uint64_t cpu_ns;    /* CPU time of all its threads */
	uint64_t queued_ns; /* its first thread was ready to run and had no CPU */
};

struct wire_hello {
	struct wire_head head;
	uint32_t version;
	int32_t pid;
	int32_t ppid;
	int32_t parent_traced; /* pid of the traced process that forked us, or 0 */
	uint32_t parent_fork;  /* ... and number of that fork, from its FORK message */
	int32_t rank_hint;     /* from the launcher's environment, or WIRE_UNKNOWN */
	int32_t size_hint;
	uint64_t raw_ns;	 /* CLOCK_MONOTONIC_RAW read beside head.ticks */
	uint32_t uninstrumented; /* 1: the library is preloaded, and no module calls the hooks */
	uint32_t sleds;		 /* 1: the program is built with sleds that can be changed */
	uint32_t was_recorded;	 /* 1: by an agent that has gone; head.ticks: what is not read
				  * of it begins */
	uint32_t reserved;
	/* text: executable, argv[0], working directory */
};

enum wire_messages {
	WIRE_MESSAGES_NONE, /* record only the calls */
	WIRE_MESSAGES_SUMS, /* of a collective call, what it moves in all */
	WIRE_MESSAGES_EACH, /* the length of each of its messages where they differ */
};

enum wire_call_sites {
	WIRE_CALL_SITES_OFF,
	WIRE_CALL_SITES_ON,   /* record from where MPI functions are called */
	WIRE_CALL_SITES_AUTO, /* the same, if no module calls the hooks */
};

/* When the process may go over to another agent of its session. */
enum wire_successor {
	WIRE_SUCCESSOR_NEVER,
	WIRE_SUCCESSOR_OF_DEAD, /* when this one has died */
	WIRE_SUCCESSOR_ALWAYS,	/* or has ended in order */
};

struct wire_welcome {
	struct wire_head head;
	uint32_t version;
	uint32_t clock_source;
	uint64_t ring_size;
	uint32_t drop_when_full; /* 0 block, 1 drop */
	uint32_t off;		 /* 1: configured off; do nothing */
	uint32_t messages;	 /* enum wire_messages */
	uint32_t publish_forks;	 /* 1: publish FORK before any record of its team */
	uint32_t gpu;		 /* 1: record what GPUs do */
	uint32_t openacc;	 /* 1: record the events of OpenACC's runtime */
	uint32_t block_most_ms;	 /* longest wait without a sign of the agent */
	uint32_t last_words_ms;	 /* longest wait for MAY_END after BYE; 0: none */
	uint32_t call_sites;	 /* enum wire_call_sites */
	uint32_t annotations;	 /* bits of enum annotation that are wanted */
	uint32_t files;		 /* 1: record what the program does with files */
	uint32_t locks;		 /* 1: record waits for locks of the C library */
	uint32_t python;	 /* 1: record functions of Python whose names match */
	uint64_t memory_mean;	 /* shm/memory.h: 0: do not record what it does with memory */
	uint64_t memory_large;
	uint32_t python_include; /* bytes of the first of the two expressions in the text */
	uint32_t samples;	 /* 1: SAMPLES follows: the process is to sample its stacks */
	uint32_t sleds;		 /* 1: record functions by sleds, where the program has them */
	uint32_t successor;	 /* enum wire_successor */
	/* text: regular expressions of what to include and exclude, in one */
};

/* With a segment as for a ring, of which shm/stack-samples.h says what is in it. */
struct wire_samples {
	struct wire_head head;
	uint64_t ring_size;
	uint64_t period_ns; /* of a thread's CPU time */
};

struct wire_module {
	struct wire_head head;
	uint64_t base; /* an address less this is the address in the ELF file */
	uint64_t low;  /* first ... */
	uint64_t high; /* ... and one past the last executable byte */
	uint8_t build_id[WIRE_BUILD_ID];
	uint32_t build_id_bytes;
	/* text: path */
};

/*
 * Rings have an index, which is used again after THREAD_END; threads have a
 * number, which is not: 0, 1, 2 ... in this process.
 */
struct wire_thread {
	struct wire_head head;
	int32_t tid;
	uint32_t parent;       /* 1 + number of the thread that created it, or 0: unknown */
	uint32_t spare;	       /* 1 + index of a ring that an ended thread has left, or 0 */
	uint32_t was_recorded; /* 1: as for HELLO: it is inside of functions that are not known */
			       /* text: name */
};

struct wire_ring {
	struct wire_head head;
	uint64_t ring_size;
	uint32_t index;	 /* of the ring in this process; for THREAD_END */
	int32_t error;	 /* 0, or -errno: there is no ring, and no fd */
	uint32_t number; /* of the thread */
	uint32_t uses; /* of this ring before; not 0: it is the spare ring of THREAD, and has no fd
			*/
};

struct wire_region {
	struct wire_head head;
	uint64_t number; /* 0, 1, 2 ... in this process */
			 /* text: name */
};

/* A region that is a construct of OpenMP; numbered with the others. */
struct wire_construct {
	struct wire_head head;
	uint64_t number;
	uint64_t address;  /* return address of the call into the OpenMP runtime, or 0 */
	uint32_t kind;	   /* enum construct */
	uint32_t reserved; /* text: the user's name of it (of a critical section), or empty */
};

struct wire_rank {
	struct wire_head head;
	int32_t rank;
	int32_t size;
	uint64_t job;	       /* the same in all processes of one MPI_COMM_WORLD */
	uint32_t spawned;      /* 1: started by MPI_Comm_spawn */
	uint32_t thread_level; /* that MPI provides */
			       /* text: what the MPI library says it is, its beginning; or none */
};

/* How a communicator was made. */
enum wire_comm_kind {
	WIRE_COMM_PREDEFINED = 0, /* MPI_COMM_WORLD, MPI_COMM_SELF */
	WIRE_COMM_DUP,
	WIRE_COMM_CREATE,
	WIRE_COMM_SPLIT,
	WIRE_COMM_TOPOLOGY,
	WIRE_COMM_FROM_GROUP,
	WIRE_COMM_INTER,
	WIRE_COMM_MERGE,
	WIRE_COMM_SPAWN,
	WIRE_COMM_PARENT,  /* from MPI_Comm_get_parent */
	WIRE_COMM_ACCEPT,  /* also connect and join */
	WIRE_COMM_UNKNOWN, /* its making was not seen */
	WIRE_COMM_KINDS
};

/*
 * `count` members, as world ranks: first, first + stride, ... If first is WIRE_UNKNOWN
 * (stride 0), they are in no MPI_COMM_WORLD of ours. If it is less, they are members of the
 * other group of the intercommunicator between two jobs that this one comes from: rank r there
 * is wire_other(r).
 */
struct wire_run {
	int32_t first, stride, count;
};

static inline int32_t wire_other(int32_t rank)
{
	return WIRE_UNKNOWN - 1 - rank;
}

#define WIRE_RUNS_MAX (WIRE_TEXT_MAX / sizeof(struct wire_run))

/*
 * A communicator. Its members follow as runs: those of the remote group, if there is one,
 * then those of the local group; no run has members of both. Many runs take several packets,
 * each of which says how many runs came before it. The communicator is complete when all
 * `size` + `remote_size` ranks have come.
 */
struct wire_comm {
	struct wire_head head;
	uint64_t id; /* the same in all its members of one job: identity.h */
	/* of ACCEPT, by its root, and of FROM_GROUP and INTER with members of two jobs: the same on
	 * both sides; 0: not known. The parent of such an INTER leads from one job to the other */
	uint64_t port;
	uint32_t number;      /* in this process, from 1, never reused */
	uint32_t parent;      /* number of the communicator it was made from, or 0 */
	uint32_t kind;	      /* enum wire_comm_kind */
	uint32_t rank;	      /* of this process in it */
	uint32_t size;	      /* of the local group */
	uint32_t remote_size; /* 0: an intracommunicator */
	uint32_t runs_before; /* runs in earlier packets */
	uint32_t runs;	      /* in this packet; behind the struct as struct wire_run[] */
};

/*
 * Neighbours of this process in the topology of a communicator, in the order of neighbourhood
 * collectives, without MPI_PROC_NULL. Their ranks in the communicator follow as runs, as
 * WIRE_UNKNOWN where MPI does not say; a rank may come twice. Several packets as for COMM.
 */
struct wire_neighbours {
	struct wire_head head;
	uint32_t comm;
	uint32_t received;    /* 1: it receives from them; 0: it sends to them */
	uint32_t n;	      /* of them in all packets */
	uint32_t runs_before; /* runs in earlier packets */
	uint32_t runs;	      /* in this packet; behind the struct as struct wire_run[] */
	uint32_t reserved;
};

/* A window or file; numbers of their own, from 1, never reused. text: file name */
struct wire_object {
	struct wire_head head;
	uint32_t number;
	uint32_t comm; /* number of the communicator it was made on, or 0 */
};

enum wire_object_kind { WIRE_OBJECT_COMM, WIRE_OBJECT_WINDOW, WIRE_OBJECT_FILE };

/* NAME (text: the name) and GONE; GPU_NAME with an object of shm/gpu.h. */
struct wire_about {
	struct wire_head head;
	uint32_t number;
	uint32_t object; /* enum wire_object_kind */
};

enum wire_counter_type { WIRE_COUNTER_INTEGER, WIRE_COUNTER_REAL };

/* A counter of the user's; numbers from 1. Names and units have no newline. */
struct wire_counter {
	struct wire_head head;
	uint32_t number;
	uint32_t type; /* enum wire_counter_type */
		       /* text: name, unit */
};
#define COUNTER_NUMBER_MAX (1u << 20)

/* Above the index in THREAD_END: the process keeps the ring mapped as a spare one. */
#define WIRE_RING_KEPT ((uint64_t)1 << 32)

/* The thread of ring `index` forks, the process' fork `number`. */
struct wire_fork {
	struct wire_head head;
	uint32_t index, number;
	uint64_t position; /* in that ring, bytes: the frames open there are the child's, too */
};

#define WIRE_LIVE_VERSION 4u

/* A viewer asks; again before three periods, or 3 s, are over, else it has seen enough. */
struct wire_live {
	struct wire_head head;
	uint32_t version;
	uint32_t period_ms;
	uint32_t where;	 /* 1: also where threads are, as long as it asks so */
	uint64_t record; /* not 0, once: what the flight recorders of all agents keep is to be
			    written; UNIX time in ns, by which views say what becomes of it */
};

#define WIRE_FUNCTION_MAX 256u /* bytes of the text of SWITCH, with its NUL */

struct wire_switch {
	struct wire_head head;
	uint32_t version; /* WIRE_LIVE_VERSION */
	uint32_t off;	  /* 1: not to be recorded any more; 0: again */
	uint64_t stamp;	  /* UNIX time in ns: of two orders the later one counts */
			  /* text: the function, as it is shown; empty: all recording */
};

/* A view: the packed view (nodeagent/live/view.h) stands in the place of a text, and behind it
 * where threads are (nodeagent/live/where/where.h), if a viewer of this agent wants that. */
struct wire_live_view {
	struct wire_head head;
	uint32_t version;
	uint32_t agents;      /* of the job; 0: not known yet */
	uint32_t period_ms;   /* the shortest that a viewer of this agent wants */
	uint32_t patience_ms; /* until all other agents know of the viewer, at most */
	uint32_t where_bytes; /* of where threads are: the last ones */
};

/* MODULE_GONE carries `low` of the module; THREAD_END, THREAD_NAME (text: the
 * name) and STACK the ring's index. */
struct wire_number {
	struct wire_head head;
	uint64_t number;
};

#endif
