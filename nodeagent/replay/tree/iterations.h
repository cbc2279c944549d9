/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the successive calls of one call path lasted, and what of it was spent in MPI: the
 * iterations of a program, if the path is that of its main loop. Up to ITERATION_RUNS calls each
 * has a run of its own; of more, runs of 2, 4, 8 ... successive calls are taken together. What is
 * learnt of a call later, as what it has waited for others, is added by the time at which it was.
 * Times are ticks, where a name does not say ns. For one thread.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_ITERATIONS_H
#define VFTR_NODEAGENT_REPLAY_TREE_ITERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A power of 2: 96 KiB for a path. Smaller in tests. */
#ifndef ITERATION_RUNS
#define ITERATION_RUNS 2048u
#endif

#define ITERATION_LAST 64u /* calls, of which each one's time is known */

/* Fewer calls are no main loop; nor are those that have less than this part of the time. */
#define ITERATION_CALLS_LEAST 16u
#define ITERATION_COVERED     2u

/* Successive calls. */
struct iteration_run {
	uint64_t ticks, mpi_ticks; /* of all of them */
	uint64_t least, most;	   /* of one of them */
	uint64_t most_at;	   /* its number, from 0 */
	uint64_t most_mpi;	   /* its time in MPI */
	uint64_t since;		   /* when the first one began */
	uint64_t wait_ticks;	   /* of mpi_ticks: for other ranks, as far as it is known */
	uint64_t off_ns;	   /* outside of MPI, without a CPU */
	uint64_t most_key;	   /* of the callee that took longest above its mean, in the
				      longest call; 0: the function itself */
};

struct iterations;
struct node;

struct iterations *iterations_new(void);
void iterations_free(struct iterations *all);

/* A call begun at `since` ends now. False: it is no main loop; nothing more need be told. */
bool iterations_add(struct iterations *all, uint64_t since, uint64_t now, uint64_t least);
/* Of the call that is open, so many ticks were spent in MPI. */
void iterations_add_mpi(struct iterations *all, uint64_t ticks);

/* Of the call that is open so much was without a CPU; less, modulo 2^64, for what of it was in MPI.
 */
void iterations_add_off(struct iterations *all, uint64_t ns);
/* The open call waited for others, or a call that has ended: that in which `at` lies. ticks may be
 * less, modulo 2^64, to take some back. */
void iterations_add_wait(struct iterations *all, uint64_t at, uint64_t ticks);
/*
 * True if a call that ends after so many ticks should be compared by its callees. Their times are
 * right only when so many sequences were settled; if that is much for so short a call, only one
 * that took longer than others is compared, and one now and then for the means.
 */
bool iterations_compare(const struct iterations *all, uint64_t took, size_t unsettled);
/* What the functions that n has called until now took in all: what they took since it was told
 * before is of the calls since then, and of the one that is open. */
void iterations_add_callees(struct iterations *all, const struct node *n);
/* Run 0, of one call, began earlier, and had so much more of MPI. To be told before runs are taken
 * together. */
void iterations_begin_at(struct iterations *all, uint64_t since, uint64_t mpi_ticks);
/* Forgets call 0. The same. */
void iterations_drop_first(struct iterations *all);

/* Number of calls; of them 1 << *shift are one run, but for the last one. */
uint64_t iterations_count(const struct iterations *all, unsigned *shift);
uint64_t iterations_ticks(const struct iterations *all);
/* When the last call ended, and the first one began; 0: there was none. */
uint64_t iterations_until(const struct iterations *all);
uint64_t iterations_since(const struct iterations *all);
/* How long the last calls took, the latest one last: at most `most`. Returns their number. */
size_t iterations_last(const struct iterations *all, uint64_t *ticks, size_t most);
/* True if there are several, and they have half of the time since the first one began. */
bool iterations_cover(const struct iterations *all, uint64_t now);
/* To be asked of each call, at its end: whether it is an outlier (outliers.h) and longer than
 * `least'. *usual: the median of those before. */
bool iterations_is_slow(struct iterations *all, uint64_t took, uint64_t least, uint64_t *usual);
size_t iterations_runs(const struct iterations *all);
/* Run i, or NULL behind the last one. */
const struct iteration_run *iterations_run(const struct iterations *all, size_t i);

#endif
