/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main loop of a job and its iterations, out of iterations[] of its profile: vftr-analysis(7)
 * has the formulas. Times are seconds.
 */
#ifndef VFTR_NODEAGENT_REPORT_MAIN_LOOP_H
#define VFTR_NODEAGENT_REPORT_MAIN_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile;

#define LOOP_KINDS 6

/* Successive iterations on all ranks: mostly one, see main_loop.per_step. */
struct loop_step {
	uint64_t first, n; /* the first one's number, from 0; on each rank */
	uint32_t ranks;
	double mean;	/* of one iteration, over ranks */
	double least;	/* the shortest of a rank */
	double most;	/* the longest ... */
	uint64_t at;	/* ... its number ... */
	uint32_t rank;	/* ... and rank, as printed */
	double mpi;	/* the part in MPI, over ranks */
	double busy;	/* of one iteration, outside of MPI: mean over ranks ... */
	double busiest; /* ... and of the rank that has most */
	uint32_t by;	/* that rank, as printed */
	unsigned kind;	/* index into main_loop.kinds[] */
};

/* Iterations of about one duration. */
struct loop_kind {
	size_t n; /* steps */
	double median;
	uint64_t first, every; /* its first step, and how far apart they are; 0: it differs */
};

struct main_loop {
	uint32_t stack;
	uint32_t ranks;	   /* that have made it */
	uint64_t n;	   /* iterations of the rank that has made most */
	uint64_t per_step; /* a power of 2 */
	double sum, mpi;   /* seconds of a rank on average, in the loop; the part in MPI */
	double median, p90, p99, least, most;
	double trend;	/* longer every 100 iterations, by this part of the median */
	double excess;	/* seconds above the median, of a rank on average */
	double balance; /* mean over ranks of the time outside of MPI / that of the busiest */
	struct loop_step *steps;
	size_t n_steps;
	struct loop_kind kinds[LOOP_KINDS]; /* by their number of steps */
	unsigned n_kinds;
	size_t *slow; /* steps with an iteration far longer than its kind, by falling length */
	size_t n_slow;
};

/* False: so few steps that these are exceptions. */
bool loop_kind_is_usual(const struct loop_kind *k);

/* False: the profile has no main loop. The caller calls main_loop_done() if true. */
bool main_loop_of(const struct profile *p, struct main_loop *l);
void main_loop_done(struct main_loop *l);

#endif
