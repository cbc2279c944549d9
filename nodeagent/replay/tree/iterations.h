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

#include "nodeagent/replay/tree/off-cpu.h"

/* A power of 2: up to 176 KiB for a path. Smaller in tests. */
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
	uint64_t wait_ticks;	   /* part of mpi_ticks: known waits for other ranks */
	struct off_time off;	   /* time outside of MPI without a CPU */
	uint64_t most_key;	   /* of the callee that took longest above its mean, in the
				      longest call; 0: the function itself */
};

struct iterations;
struct node;

/* `times' waits for a rank, of so many ticks each, one of which began at `at': kind and late are
 * those of struct node_wait. */
struct waited {
	uint64_t at, ticks, times;
	uint32_t kind, late;
};

struct iterations *iterations_new(void);
void iterations_free(struct iterations *all);

/*
 * Adds a call that began at `since` and ends now. least: ticks, shorter calls are no main loop.
 * Returns false if the path is no main loop: then no more calls need be added.
 */
bool iterations_add(struct iterations *all, uint64_t since, uint64_t now, uint64_t least);
/* Adds ticks that were spent in MPI to the call that is open. */
void iterations_add_mpi(struct iterations *all, uint64_t ticks);

/*
 * Adds time without a CPU to the call that is open; negative, modulo 2^64, for the part of it that
 * was in MPI.
 */
void iterations_add_off(struct iterations *all, struct off_time off);
/*
 * Adds a wait for others to the call in which `at` lies, open or ended. ticks may be negative,
 * modulo 2^64, to take some back.
 */
void iterations_add_wait(struct iterations *all, uint64_t at, uint64_t ticks);
/* The same of n of them. */
void iterations_add_waits(struct iterations *all, const struct waited *w, size_t n);
/*
 * True if iterations_add_callees() should be called for a call that ends after `took' ticks. For
 * that the caller must settle `unsettled' sequences; if that is much work for so short a call, this
 * is true only for calls that took longer than others, and now and then for the means.
 */
bool iterations_compare(const struct iterations *all, uint64_t took, size_t unsettled);
/*
 * Adds the times of the functions that n has called, since the last time this was called, to the
 * calls of n since then and the one that is open.
 */
void iterations_add_callees(struct iterations *all, const struct node *n);
/*
 * Corrects run 0, of one call: it began at `since', and had mpi_ticks more in MPI. To be called
 * before runs are taken together.
 */
void iterations_begin_at(struct iterations *all, uint64_t since, uint64_t mpi_ticks);
/* Forgets call 0. To be called before runs are taken together. */
void iterations_drop_first(struct iterations *all);

/* Number of calls; of them 1 << *shift are one run, but for the last one. shift: or NULL. */
uint64_t iterations_count(const struct iterations *all, unsigned *shift);
uint64_t iterations_ticks(const struct iterations *all);
/* When the last call ended, and the first one began; 0: there was none. */
uint64_t iterations_until(const struct iterations *all);
uint64_t iterations_since(const struct iterations *all);
/*
 * Writes the ticks of the last calls, at most `most`, to ticks[], the latest one last. Returns
 * their number.
 */
size_t iterations_last(const struct iterations *all, uint64_t *ticks, size_t most);
/* True if there are several calls, and they have half of the time since the first one began. */
bool iterations_cover(const struct iterations *all, uint64_t now);
/* To be asked of each call, at its end: whether it is an outlier (outliers.h) and longer than
 * `least'. *usual: the median of those before. */
bool iterations_is_slow(struct iterations *all, uint64_t took, uint64_t least, uint64_t *usual);
size_t iterations_runs(const struct iterations *all);
/* Run i, or NULL behind the last one. */
const struct iteration_run *iterations_run(const struct iterations *all, size_t i);

#endif
