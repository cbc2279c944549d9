/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile: call paths with their numbers, over one process, one node or the
 * whole job. The agents build one per node, merge them (merge.h), store them
 * in files (vfp.h) and print them (nodeagent/report/output.h). Times are ns.
 *
 * Invariants (profile_valid() checks them, but for the second half of P4):
 *  P1  stacks are sorted by hash, then by path (profile_stack_cmp()); the
 *      position is the number by which others refer to it; users see those of ids.h
 *  P2  each stack but the root has a parent in the array; there is one root
 *      per profile, named "init", parent PROFILE_NONE
 *  P3  no two stacks have the same path
 *  P4  excl_ns <= incl_ns, as a sum over ranks; excl = incl - children's incl
 *  P5  the keyed lists of lists.def are sorted by their keys, each key once;
 *      an unranked rank in pairs[] or rank_ranges[] is one of the `unranked` ones
 */
#ifndef VFTR_NODEAGENT_PROFILE_PROFILE_H
#define VFTR_NODEAGENT_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/profile/exact-sum.h"
#include "nodeagent/base/rank.h"

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

#define PROFILE_PAIRS_MAX	 (1u << 18) /* if there are more, ranks are grouped: pair_ranks ... */
#define PROFILE_PAIRS_GROUPED	 (1u << 17) /* ... until there are so many at most */
#define PROFILE_RANKS_MAX	 (1u << 14) /* ranks with rows of their own in rank_times[] ... */
#define PROFILE_EXTREMES	 128 /* ... of more, these with the most and the least of a measure */
#define PROFILE_COUNTER_EXTREMES 16	    /* the same of user_counters[], for each counter ... */
#define PROFILE_COUNTER_NAMES	 1024	    /* ... of which so many are told apart then */
#define PROFILE_COMMS_MAX	 (1u << 14) /* entries of comms[]: further ones are added up ... */
#define PROFILE_COMM_SIZES	 256	    /* ... those of sizes from here on by powers of 2 */
#define PROFILE_LINKS_MAX	 (1u << 14) /* entries of gpu_links[]; of more ... */
#define PROFILE_LINK_EXTREMES	 128	    /* ... of each kind those with the most and the least */
#define PROFILE_DEAD_MAX	 4096 /* entries of dead[]; of more processes the lowest ranks */
#define PROFILE_ENDS_MAX	 (1u << 14) /* entries of ends[]; of more ... */
#define PROFILE_ENDS_EACH	 1024 /* ... the earliest, and the lowest ranks of each fate */
#define PROFILE_FILES_MAX	 (1u << 15) /* entries of posix_files[]: further files are one */
#define PROFILE_LATE_MAX	 16 /* late ranks told apart in waits[] of one kind at one stack */

/*
 * Sends matched with receives (match/match.h): their numbers by label and reason. lost: by their
 * tickets; late: records that came after they had counted as lost, or twice; overflow: records
 * beyond a limit, lost, too. Of exact pairs: too_long received more than was sent, violations
 * were received before they were sent, by worst_ns at most. worst_ns is in global time: the clock
 * of a node, or those of two with their offset.
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

/*
 * CPU time and wall time, over the processes of which both are known. A rank whose first thread was
 * ready to run and had no CPU had to share one.
 */
struct profile_cpu {
	uint64_t ns, queued_ns, wall_ns; /* sums; wall_ns is 0 if nothing is known */
	/* of the rank with the least share of its wall time */
	uint32_t least_rank;
	uint64_t least_ns, least_wall_ns;
	/* of the rank whose first thread waited for a CPU for the greatest share */
	uint32_t queued_rank;
	uint64_t most_queued_ns, queued_wall_ns;
};

/*
 * Whose command line profile_start.command is: of vftr run; of a launcher's task; of the process
 * that was traced first, if no agent has started the program.
 */
enum profile_start_whose {
	PROFILE_START_RUN,
	PROFILE_START_TASK,
	PROFILE_START_PROCESS,
	PROFILE_START_KINDS
};

#define PROFILE_OPENACC_TEXTS 4 /* in profile_openacc.text */

/* The purpose of a request. */
enum profile_open_kind {
	PROFILE_OPEN_SEND,
	PROFILE_OPEN_RECEIVE,
	PROFILE_OPEN_OTHER,
	PROFILE_OPEN_KINDS
};

/* Ends of transfers of a profile_gpu_link_rest; OTHER: at a GPU where they did not begin. */
enum profile_link_end {
	PROFILE_LINK_HOST,
	PROFILE_LINK_GPU,
	PROFILE_LINK_OTHER_GPU,
	PROFILE_LINK_ENDS
};

/* What is known of a profile_rank_time. */
enum profile_rank_flags {
	RANK_LEFT_INIT = 1,
	RANK_ENTERED_FINALIZE = 2, /* neither, without MPI: from its begin to its end */
	RANK_KILLED = 4,	   /* or between MPI_Init and MPI_Finalize when the run was ended */
	RANK_HAS_MPI = 8,	   /* calls of MPI were traced */
	RANK_HAS_OPENMP = 16,
	RANK_HAS_GPU = 32,
	RANK_HAS_IO = 64,
	RANK_HAS_OFF_CPU = 128,
	/* ends of threads do not tell what they did in the window and beyond it */
	RANK_THREADS_CUT = 256,
	RANK_LOST_CALLS = 512,
	RANK_OF_LAUNCHER = 1024, /* it has not told its rank itself: no MPI_Init was seen */
	RANK_HAS_WAITS = 2048,	 /* mpi.waits: waits were looked for */
	RANK_HAS_LOCKS = 4096,	 /* locks.active: waits for locks were recorded */
	RANK_FLAGS = 8191	 /* all of them */
};

/* The records: lists.def. */
#define PROFILE_TYPE_U64			       uint64_t
#define PROFILE_TYPE_U128			       unsigned __int128
#define PROFILE_TYPE_U32			       uint32_t
#define PROFILE_TYPE_COUNT			       uint32_t
#define PROFILE_TYPE_I32			       int32_t
#define PROFILE_TYPE_I64			       int64_t
#define PROFILE_TYPE_REAL			       double
#define PROFILE_TYPE_FLAG			       bool
#define PROFILE_TYPE_END			       enum process_end
#define PROFILE_TYPE_TEXT			       __typeof__(char *)
#define PROFILE_TYPE_TEXT_OR_NULL		       __typeof__(char *)
#define PROFILE_FIELD(kind, record, member, role, ref) PROFILE_TYPE_##kind member;
#define PROFILE_FIELDS(kind, record, role, ref, ...)   PROFILE_TYPE_##kind __VA_ARGS__;
#define PROFILE_MEMBER(...)			       __VA_ARGS__;
#define PROFILE_ROWS(...)
#define PROFILE_RECORD(record, ...)                                                                \
	struct profile_##record {                                                                  \
		__VA_ARGS__                                                                        \
	};
#include "nodeagent/profile/lists.def"

/* profile.run after merging files of several runs. */
#define PROFILE_RUNS_MIXED UINT64_MAX

struct places_index;

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
	uint64_t dead_more,
		ends_more;	/* that are not in dead[] and ends[], as these are too many */
	uint64_t lost_messages; /* records of communication that were not stored */
	/* of collectives, without waits, as the agent had no room until all members had come */
	uint64_t dropped_calls;
	uint64_t ring_bytes;	/* most bytes of rings at one time */
	uint64_t open_requests; /* posted, and never seen to complete */
	/* messages of threads whose order MPI does not define */
	uint64_t ambiguous_sends, ambiguous_receives;

	struct profile_matching matching;
	struct profile_cpu cpu;

	bool begin_known;
	int64_t begin_ns; /* of the first process, by the clock of all nodes */
	/* 0, or a power of 2: a rank below PROFILE_UNRANKED in pairs[] and thread_pairs[]
	 * stands for so many ranks, itself and those after it. From 1 on PROFILE_FAR and so on are
	 * PROFILE_ELSEWHERE there, from 2 on also PROFILE_UNRANKED and so on */
	uint32_t pair_ranks;

	/* the arrays of lists.def, those of one member n_member long */
#define PROFILE_TEXTS(NAME, tag, member)                                                           \
	size_t n_##member;                                                                         \
	char **member;
#define PROFILE_LIST(NAME, tag, record, member, ...)                                               \
	size_t n_##member;                                                                         \
	struct profile_##record *member;
#include "nodeagent/profile/lists.def"

	struct places_index *places; /* of rank_ranges[], or NULL: places.c */
};

/* An empty one; profile_copy() shares nothing with p. The caller frees both. NULL may be freed. */
struct profile *profile_new(void);
void profile_free(struct profile *p);
struct profile *profile_copy(const struct profile *p);

/*
 * Adds a program of the job (path copied) to executables[]; the first one names
 * the job (executable, application). Renews the warning of profile_warn_programs().
 */
void profile_add_executable(struct profile *p, const char *path);
/* Sets or removes the warning that several programs ran, from executables[]. */
void profile_warn_programs(struct profile *p);
/* Empties ended_threads[], thread_stacks[], thread_counts[] and openmp_threads[]. */
void profile_drop_threads(struct profile *p);
/* Empties these and processes[]. */
void profile_drop_processes(struct profile *p);

/* NULL, or a static text naming the invariant that does not hold. */
const char *profile_valid(const struct profile *p);

/*
 * Order of P1 between stack i of a and stack j of b: hash, then the names from
 * the innermost outwards (strcmp), then the shorter path first.
 */
int profile_stack_cmp(const struct profile *a, uint32_t i, const struct profile *b, uint32_t j);

/* A warning that begins with this is kept for the job only if all of its nodes have it. */
#define FILTER_WARNING "filter."
/* Adds a warning (copied); duplicates are kept once. */
void profile_warn(struct profile *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * True if a window of global time is as long as `ns' by its node's clock, up to the corrections of
 * clocks: 1/64 of ns, and 1 ms.
 */
static inline bool profile_is_window(int64_t begin_ns, int64_t end_ns, uint64_t ns)
{
	const uint64_t global = (uint64_t)end_ns - (uint64_t)begin_ns;
	const uint64_t beyond = global > ns ? global - ns : ns - global;

	return begin_ns <= end_ns && beyond <= ns / 64 + 1000000;
}

/* It may have waited for others as it was killed, and they for it. */
static inline bool profile_is_cut(const struct profile_rank_time *t)
{
	return (t->flags & RANK_KILLED) && !(t->flags & RANK_ENTERED_FINALIZE);
}

/* Of the first thread in its window, in all classes but MPI. */
static inline uint64_t profile_outside_mpi_ns(const struct profile_rank_time *t)
{
	return t->useful_ns + t->openmp_wait_ns + t->openmp_idle_ns + t->gpu_wait_ns +
	       t->lock_wait_ns + t->io_ns + t->blocked_ns + t->unknown_ns;
}

/* Ranks, and processes without one, that entries of rank_times[] are of. */
uint64_t profile_timed_ranks(const struct profile *p);

/* World rank as printed, of a rank of p: unranked processes follow the MPI ranks. */
static inline uint32_t profile_rank_shown(const struct profile *p, uint32_t rank)
{
	return rank >= PROFILE_UNRANKED ? p->world_size + (rank - PROFILE_UNRANKED) : rank;
}

/*
 * Ranks of MPI jobs of the run that are not the first one, spawned or started apart; they are among
 * the unranked processes. 0 without MPI.
 */
uint32_t profile_other_ranks(const struct profile *p);

/* The rank of p that is printed so; PROFILE_NONE: there is none. */
static inline uint32_t profile_rank_of(const struct profile *p, uint32_t shown)
{
	if (shown < p->world_size)
		return shown;
	shown -= p->world_size;
	return shown < p->unranked ? PROFILE_UNRANKED + shown : PROFILE_NONE;
}

#endif
