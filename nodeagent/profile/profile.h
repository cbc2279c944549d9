/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile: call paths with their numbers, over one process, one node or the
 * whole job. The agents build one per node, merge them (merge.h), store them
 * in files (vfp.h) and print them (output.h). Times are ns.
 *
 * Invariants (profile_valid() checks them):
 *  P1  stacks are sorted by hash, then by path (profile_stack_cmp()); the
 *      position is the stack id
 *  P2  each stack but the root has a parent in the array; there is one root
 *      per profile, named "init", parent PROFILE_NONE
 *  P3  no two stacks have the same path
 *  P4  excl_ns <= incl_ns, as a sum over ranks; excl = incl - children's incl
 *  P5  the arrays of communication, thread_ranges[] and openmp[] are sorted by their keys,
 *      each key once;
 *      an unranked rank in pairs[] or rank_ranges[] is one of the `unranked` ones
 */
#ifndef VFTR_NODEAGENT_PROFILE_PROFILE_H
#define VFTR_NODEAGENT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/base/rank.h"

struct profile_stack {
	uint64_t hash;	 /* stack_hash() of the path */
	uint32_t parent; /* index of the caller's stack, or PROFILE_NONE */
	uint32_t name;	 /* index into names[]: the raw (not demangled) name */
	uint64_t calls;
	uint64_t lost_calls; /* calls below this stack that were not recorded */
	uint64_t incl_ns;
	uint64_t excl_ns;
	uint32_t ranks; /* processes that have this stack */
	uint32_t rank_min, rank_max;
	uint64_t excl_min_ns, excl_max_ns; /* over the processes that have it */
	/*
	 * Sum over ranks of excl^2, in ns^2. An integer, so that the sum does not
	 * depend on the order of adding: seconds^2 are (double)excl_sumsq_ns2 * 1e-18.
	 */
	unsigned __int128 excl_sumsq_ns2;
	bool estimated;
};

/* One process; only in node profiles, never merged over nodes except the dead. */
struct profile_process {
	uint32_t rank; /* world rank, or PROFILE_UNRANKED + k */
	int32_t pid;
	int32_t parent_pid; /* of the process that forked it, or its parent when it attached */
	char *executable;
	enum process_end end;
	int exit_status; /* exit code or signal where known, else -1 */
	uint32_t threads;
	double started_s; /* since the first one on this node */
	double runtime_s;
	uint64_t records, calls, lost_calls;
	uint64_t blocked_ns;
	uint64_t closed_frames; /* frames closed by another frame's exit */
	uint64_t open_frames;	/* frames still open at the end */
	uint64_t ring_bytes;
	char *quarantined; /* why its data are incomplete, or NULL */
};

/* One ended thread, or all those beyond the first few thousand; only in node profiles. */
struct profile_thread {
	uint32_t rank;	  /* of its process, as profile_process has it */
	uint32_t number;  /* in its process, from 0; PROFILE_NONE: several threads */
	uint32_t parent;  /* number of the thread that created it, or PROFILE_NONE */
	uint32_t threads; /* in this entry: 1, or more for the rest */
	int32_t tid;
	char *name;
	uint64_t start_ns;    /* since its process started */
	uint64_t alive_ns;    /* sum, if several */
	uint64_t function_ns; /* part of alive_ns inside of traced functions */
	uint64_t calls, records, lost_calls, blocked_ns;
	/* messages as in profile_messages, posted by this thread */
	uint64_t sends, receives, bytes_sent, bytes_received;
	/* time in OpenMP teams; number of its parts in teams that other threads made */
	uint64_t team_ns, team_parts;
};

/* Calls and times of one of these threads at one stack. */
struct profile_thread_stack {
	uint32_t thread; /* index into ended_threads[] */
	uint32_t stack;	 /* index into stacks[] */
	uint64_t calls, lost_calls, incl_ns, excl_ns;
};

/* The exclusive times of the threads that were at one stack, with profile_table.threads. */
struct profile_thread_range {
	uint32_t stack; /* index into stacks[] */
	uint32_t threads;
	uint64_t min_ns, max_ns; /* least and greatest of a thread; these threads: */
	uint32_t rank_min, thread_min, rank_max, thread_max;
};

/*
 * The teams of one parallel region of OpenMP. A thread's busy time is that of its
 * part in a team (its implicit task, and tasks it runs while the team ends) but
 * for the waiting in it. Times are sums over threads and teams.
 */
struct profile_openmp {
	uint32_t stack; /* of the region; index into stacks[] */
	uint32_t ranks;
	uint64_t calls;			      /* teams */
	uint32_t size_min, size_max, threads; /* of a team; number of system threads in them */
	uint64_t wall_ns;		      /* of the thread that made the team */
	uint64_t busy_ns;
	uint64_t average_ns, most_ns; /* mean and greatest busy time in a team, summed */
	uint64_t barrier_ns, wait_ns; /* in barriers; in all waits inside of the region */
	uint64_t join_ns, start_ns;   /* from a thread's end to the team's; until it began */
	uint64_t tasks, task_ns;      /* explicit ones */
};

/*
 * A place in the tree of OpenMP threads: thread `number` of a team at `level`,
 * made by the thread at `parent`. Only in node profiles.
 */
struct profile_openmp_thread {
	uint32_t rank;	 /* of its process */
	uint32_t parent; /* index, smaller than its own; PROFILE_NONE: the initial thread */
	uint32_t level, number;
	uint64_t tasks, ns; /* implicit tasks; PROFILE_NONE's: none */
	char *threads;	    /* numbers of the system threads that worked there: "1 2 7" */
	bool more;	    /* others worked there, too */
};

/*
 * A node's clock (CLOCK_MONOTONIC_RAW) against that of agent 0's node. offset: to be
 * added for agent 0's time. error: a bound of the error after interpolation. checks:
 * comparisons with nodes other than the parent.
 */
enum profile_clock_state {
	PROFILE_CLOCK_UNKNOWN = 0,
	PROFILE_CLOCK_REFERENCE, /* of agent 0's node */
	PROFILE_CLOCK_COMPARED,
};

struct profile_clock {
	uint32_t state;
	uint32_t jumps;
	int64_t from_ns, to_ns;		  /* first and last comparison, by the node's clock */
	int64_t offset_ns, offset_end_ns; /* at these times */
	uint64_t error_ns, error_median_ns;
	uint64_t round_trip_ns;		  /* the least */
	uint64_t bursts, dropped, missed; /* used ones; too slow ones; without an answer */
	uint64_t checks, checks_beyond;	  /* checks; those outside of their bounds */
	uint64_t check_max_ns, check_rms_ns;
};

struct profile_agent {
	char *host;
	double cpu_s;
	double wall_s;
	uint64_t wakeups;
	uint64_t drained_bytes;
	uint64_t records;
	char *affinity; /* its CPUs: "cpu 3", "any cpu, nice 10" ... */
	uint32_t processes;
	bool missing; /* its data did not come; only host is known */
	struct profile_clock clock;
};

/*
 * Communication. Durations of messages: a blocking call's own; otherwise from
 * the enter of the call that posted it to the exit of the one that completed
 * it. Bandwidths are bytes per second of single messages, summed up as
 * integers, so that the order of adding does not matter.
 */

/* Messages of the calls at one stack; collectives as Vftrace counts them. */
struct profile_messages {
	uint32_t stack; /* index into stacks[] */
	uint64_t sends, receives;
	uint64_t bytes_sent, bytes_received;
	uint64_t send_ns, receive_ns; /* sums of durations */
	unsigned __int128 send_bandwidth, receive_bandwidth;
};

/* One MPI function over all its stacks. */
struct profile_function {
	uint32_t id; /* index in mpi/generate/mpi.tab */
	uint32_t ranks, rank_min, rank_max;
	uint64_t calls, ns;	 /* inclusive time */
	uint64_t min_ns, max_ns; /* over the processes that called it */
	unsigned __int128 sumsq_ns2;
	uint64_t sends, receives, bytes_sent, bytes_received;
};

/* Point-to-point messages of one size class: 0 is 0 bytes, k is 2^(k-1) to 2^k - 1. */
struct profile_size {
	uint32_t log2;
	uint64_t sends, receives, bytes_sent, bytes_received;
};

/*
 * Messages from one rank to another, point-to-point and one-sided. The two sides count
 * separately: a put or accumulate counts as sends of its origin, a get as receives.
 */
struct profile_pair {
	uint32_t from, to;		   /* ranks as profile_process has them */
	uint64_t sends, bytes_sent;	   /* as `from` recorded them */
	uint64_t receives, bytes_received; /* as `to` did */
};
#define PROFILE_PAIRS_MAX (1u << 21) /* if there are more, ranks are grouped: pair_ranks */

struct profile_comm {
	uint64_t id;
	char *name;    /* the user's, or NULL */
	uint32_t kind; /* enum wire_comm_kind */
	uint32_t size, remote_size;
	uint32_t ranks; /* members that have used it */
	uint64_t sends, receives, bytes_sent, bytes_received;
	uint64_t collectives; /* calls of collective functions, all members */
	uint64_t collective_bytes_sent, collective_bytes_received;
	uint64_t collective_ns;
	uint64_t ambiguous_sends, ambiguous_receives;
};

/* Reads and writes of a file through MPI. */
struct profile_file {
	char *name;
	uint32_t ranks; /* processes that opened it */
	uint64_t opens, reads, writes, bytes_read, bytes_written;
	uint64_t read_ns, write_ns;
};

/*
 * Sends matched with receives (match/match.h): their numbers by label and reason. worst_ns is in
 * global time: the clock of a node, or those of two with their offset.
 */
#define PROFILE_MATCH_LABELS  5
#define PROFILE_MATCH_REASONS 5
struct profile_matching {
	uint64_t pairs[PROFILE_MATCH_LABELS];
	uint64_t unmatched_sends[PROFILE_MATCH_REASONS];
	uint64_t unmatched_receives[PROFILE_MATCH_REASONS];
	uint64_t not_shipped; /* sends to another node that its agent did not get */
	uint64_t lost_sends, lost_receives;
	uint64_t late, overflow;
	uint64_t too_long;
	uint64_t violations, worst_ns;
	uint32_t worst_from, worst_to; /* ranks; valid with violations */
};

/* Messages from the thread that sent them to the thread that posted their receives. */
struct profile_thread_pair {
	uint32_t from, from_thread, to, to_thread; /* ranks, numbers in their processes */
	uint64_t messages, bytes;		   /* as received */
};

/* Activities of GPUs of one name, a kernel's or "memcpy HtoD", that were started at one stack. */
struct profile_gpu {
	uint32_t stack;	 /* of the call that started it; index into stacks[] */
	uint32_t kind;	 /* enum gpu_kind */
	uint32_t detail; /* of the kind, shm/gpu.h */
	uint32_t
		function; /* that started it: its interface << 24 | its number (CBID), 0: unknown */
	uint32_t ranks;
	uint32_t registers, shared_bytes;  /* of a kernel, the most */
	uint32_t threads_min, threads_max; /* in a block of it */
	uint64_t calls, ns, min_ns, max_ns, bytes;
	uint64_t started,
		latency_ns; /* number with a known call; time from its begin to their start */
	uint64_t blocks_min, blocks_max;
	uint64_t calls_min, calls_max; /* of one process */
	/* of the launch with the most threads */
	uint32_t grid[3], block[3];
	uint32_t local_bytes;	  /* of a thread */
	uint32_t occupancy;	  /* in 1/1000, 0: not known */
	uint32_t occupancy_bound; /* enum gpu_bound */
	char *name;
};

/* A GPU over all processes that used it; in times, overlapping activities count once. */
struct profile_gpu_device {
	uint64_t uuid[2]; /* the first 8 bytes, the highest first, and the others */
	uint32_t rank;	  /* the lowest that used it */
	uint32_t number;  /* of the device in that process */
	uint32_t processes;
	uint32_t multiprocessors, capability; /* 10 * major + minor */
	uint64_t memory_bytes;
	uint64_t calls, kernels, bytes;
	uint64_t busy_ns, kernel_ns, copy_ns;
	uint64_t sum_ns; /* sum of the busy times of the processes */
	char *name;	 /* or NULL */
};

/* Transfers from one GPU (both words 0: the host) to another, by copies or unified memory. */
struct profile_gpu_link {
	uint64_t from[2], to[2]; /* uuid[] */
	uint32_t kind, detail;	 /* shm/gpu.h */
	uint64_t calls, bytes, ns;
};

/*
 * A stream of a process, or (context and stream PROFILE_NONE) a device as one process
 * has used it. Times are those in which at least one activity of the kind ran.
 */
struct profile_gpu_stream {
	uint32_t rank, device, context, stream;
	uint64_t calls, kernels, bytes;
	uint64_t busy_ns, kernel_ns, copy_ns;
	uint64_t span_ns; /* from the first begin to the last end */
	char *name;	  /* of the device; of a stream its own; or NULL */
};

#define PROFILE_OPENACC_TEXTS 4

/* The purpose of a request. */
enum profile_open_kind {
	PROFILE_OPEN_SEND,
	PROFILE_OPEN_RECEIVE,
	PROFILE_OPEN_OTHER,
	PROFILE_OPEN_KINDS
};

/* Ranks first to last ran on this host. */
struct profile_rank_range {
	uint32_t first, last;
	char *host;
};

/* The other records are in lists.def, with what becomes of their members. */
#define PROFILE_FIELD_U64			       uint64_t
#define PROFILE_FIELD_U32			       uint32_t
#define PROFILE_FIELD_COUNT			       uint32_t
#define PROFILE_FIELD_I32			       int32_t
#define PROFILE_FIELD_I64			       int64_t
#define PROFILE_FIELD_FLAG			       bool
#define PROFILE_FIELD_END			       enum process_end
#define PROFILE_FIELD_TEXT			       char *
#define PROFILE_FIELD(kind, record, member, role, ref) PROFILE_FIELD_##kind member;
#define PROFILE_RECORD(record, ...)                                                                \
	struct profile_##record {                                                                  \
		__VA_ARGS__                                                                        \
	};
#include "nodeagent/profile/lists.def"

/* profile.run after merging files of several runs. */
#define PROFILE_RUNS_MIXED UINT64_MAX

struct profile {
	char *application; /* basename of the executable */
	char *executable;
	uint64_t run;		/* the same number in all files of a run; 0: not known */
	int64_t start_s, end_s; /* UNIX time of first attach and last end */
	double runtime_s;	/* of the longest process; without MPI, first start to last end */
	uint32_t world_size;	/* MPI ranks of the job, 0 without MPI */
	uint32_t ranks;		/* processes that are in this profile */
	uint32_t unranked;	/* those of them in no MPI job */
	uint32_t threads;
	uint64_t records, calls, lost_calls;
	uint64_t blocked_ns;
	uint64_t hook_ns_total;	 /* estimated time spent in hooks, all ranks */
	uint64_t lost_processes; /* gave up waiting for their agent; in no other sum */
	uint64_t lost_messages;	 /* records of communication that were not stored */
	uint64_t ring_bytes;	 /* most bytes of rings at one time */
	uint64_t open_requests;	 /* posted, and never seen to complete */
	/* messages of threads whose order MPI does not define */
	uint64_t ambiguous_sends, ambiguous_receives;

	struct profile_matching matching;

	/* 0, or a power of 2: a rank below PROFILE_UNRANKED in pairs[] and thread_pairs[]
	 * stands for so many ranks, itself and those after it */
	uint32_t pair_ranks;
	bool begin_known;
	int64_t begin_ns; /* of the first process, by the clock of all nodes */

	/* the arrays of lists.def, those of one member n_member long */
#define PROFILE_TEXTS(NAME, tag, member)                                                           \
	size_t n_##member;                                                                         \
	char **member;
#define PROFILE_LIST(NAME, tag, record, member, ...)                                               \
	size_t n_##member;                                                                         \
	struct profile_##record *member;
#include "nodeagent/profile/lists.def"
};

struct profile *profile_new(void);
void profile_free(struct profile *p);
struct profile *profile_copy(const struct profile *p);

/*
 * Adds a program of the job (path copied) to executables[]; the first one names
 * the job (executable, application).
 */
void profile_add_executable(struct profile *p, const char *path);
/* Sets or removes the warning that several programs ran, from executables[]. */
void profile_warn_programs(struct profile *p);
/* Frees ended_threads[], thread_stacks[], thread_counts[] and openmp_threads[]; processes[], too.
 */
void profile_drop_threads(struct profile *p);
void profile_drop_processes(struct profile *p);

/* NULL, or a static text naming the invariant that does not hold. */
const char *profile_valid(const struct profile *p);

/*
 * Order of P1 between stack i of a and stack j of b: hash, then the names from
 * the innermost outwards (strcmp), then the shorter path first.
 */
int profile_stack_cmp(const struct profile *a, uint32_t i, const struct profile *b, uint32_t j);

/* Adds a warning (copied); duplicates are kept once. */
void profile_warn(struct profile *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* World rank as printed: unranked processes follow the MPI ranks. */
static inline uint32_t profile_rank_shown(const struct profile *p, uint32_t rank)
{
	return rank >= PROFILE_UNRANKED ? p->world_size + (rank - PROFILE_UNRANKED) : rank;
}

#endif
