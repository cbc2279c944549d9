/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The efficiency of a job by the metrics of POP, out of rank_times[] of its profile:
 * vftr-analysis(7) has the formulas. Factors are from 0 to 1; but openmp_balance is more where
 * threads are better balanced than processes, and openmp may be where ranks have different numbers
 * of threads. What cannot be told is NAN.
 */
#ifndef VFTR_NODEAGENT_REPORT_EFFICIENCY_H
#define VFTR_NODEAGENT_REPORT_EFFICIENCY_H

#include <stdbool.h>
#include <stdint.h>

struct profile;
struct profile_rank_time;

/* Why numbers are estimates. */
enum efficiency_doubt {
	DOUBT_WINDOW,  /* a rank was not seen to leave MPI_Init or to enter MPI_Finalize */
	DOUBT_KILLED,  /* a rank was cut off (profile_is_cut()): its window ends there */
	DOUBT_RANKS,   /* of some ranks nothing is known */
	DOUBT_JOBS,    /* ranks of other MPI jobs do not count */
	DOUBT_CLOCK,   /* clocks of nodes were not compared: the longest window of a node */
	DOUBT_THREADS, /* ends of threads do not tell what they did in the window */
	DOUBT_LOST,    /* calls were not recorded */
	DOUBT_PAUSED,  /* recording was paused, or paths were too many */
	DOUBT_GPU,     /* waits for GPUs of all threads count for the first one */
	DOUBT_LOCKS,   /* others worked while the first thread waited for them */
	DOUBTS
};

/* The words for these in JSON: "window" ... */
extern const char *const efficiency_doubts[DOUBTS];

struct efficiency {
	bool is_job;	  /* the numbers are of ranks; else of one process */
	bool is_mpi;	  /* a rank has left MPI_Init */
	uint32_t ranks;	  /* those whose times are known */
	uint32_t threads; /* of OpenMP at once, summed over these ranks; not hybrid: ranks */
	uint32_t nodes;	  /* that the ranks ran on */
	bool hybrid;	  /* a rank was in teams of OpenMP */
	uint32_t doubts;  /* bits, 1 << enum efficiency_doubt */
	/* of doubts about ranks: number of such ranks, and the lowest of them, as printed */
	uint32_t doubtful[DOUBTS];
	uint32_t doubtful_rank[DOUBTS];

	/* the window, and the bound of the clocks' error in it: 0 on one node, or if the clocks of
	 * nodes were not compared */
	double window_s, window_error_s;
	/* mean and greatest useful time of first threads; hybrid: of all threads in teams */
	double useful_s, useful_max_s;
	double all_useful_s; /* useful time, summed over the same */
	/* mean and greatest time of first threads outside of MPI; not hybrid: their useful time */
	double outside_s, outside_max_s;
	uint32_t rank_max; /* the rank with outside_max_s, as printed */

	/* parallel = load_balance * communication, hybrid: * openmp */
	double parallel;
	double load_balance; /* = in_nodes * between_nodes */
	double in_nodes, between_nodes;
	double communication;
	/* hybrid: openmp = openmp_balance * openmp_communication */
	double openmp, openmp_balance, openmp_communication;
};

/*
 * Sets *e. Returns false if the profile has no times of ranks, or several processes that are no
 * ranks of one job, or a window without time; then *e is of no use.
 */
bool efficiency_of(const struct profile *p, struct efficiency *e);

/* Seconds of a rank's first thread outside of MPI, in its window. */
double efficiency_outside_mpi(const struct profile_rank_time *t);

/*
 * The additive model: each value is 1 less a part of the window that is lost. process = balance +
 * communication - 1, balance = in_nodes + between_nodes - 1; hybrid: parallel = process + thread
 * - 1. thread: NAN if not hybrid.
 */
struct efficiency_additive {
	double process, balance, in_nodes, between_nodes, communication;
	double thread;
};
struct efficiency_additive efficiency_additive(const struct efficiency *e);

/*
 * Device offload: a / (a + b), where a is the time of first threads in functions, in OpenMP and in
 * waits for locks, and b their waits for GPUs, both over the ranks that used a GPU. NAN: no rank
 * did, or a + b is 0.
 */
double efficiency_offload(const struct profile *p);

/* True if the process counts: where there are ranks, of MPI or a session, only these do. */
bool efficiency_counts(const struct profile *p, const struct profile_rank_time *t);

/* Host of a rank, as the profile has it; belongs to the profile. NULL: not known. */
const char *efficiency_host(const struct profile *p, uint32_t rank);

/* One sentence on a doubt that e has, without a full stop; the caller frees. */
char *efficiency_sentence(const struct efficiency *e, enum efficiency_doubt doubt);

/*
 * Computation scaling: useful time of the reference, mostly a run on fewer threads, divided by that
 * of this run. weak: useful times per thread are compared, else their sums. NAN: one of the two has
 * no useful time.
 */
double efficiency_scaling(
	const struct efficiency *e, const struct efficiency *reference, bool weak);

#endif
