/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile of each ended thread, beside the sum over threads. */
#ifndef VFTR_NODEAGENT_PROCESS_THREADS_ENDED_H
#define VFTR_NODEAGENT_PROCESS_THREADS_ENDED_H

#include <stdint.h>

struct calltree;
struct node;
struct process;
struct ended_thread;
struct thread_ring;

/*
 * Adds thread t, which has ended, with its tree; does nothing if neither profile_table.threads nor
 * logs of ranks are wanted.
 */
void threads_ended_add(struct process *p, const struct thread_ring *t, struct calltree *tree);

/* Frees the arrays of the entry. */
void threads_ended_done(struct ended_thread *ended);

/* Exclusive times of threads at one node of process.ended_tree, in ticks. */
struct thread_range {
	uint32_t threads;
	uint32_t thread_min, thread_max; /* their numbers */
	uint64_t min, max;
};

/* Adds the times of t, right after calltree_add() of its tree to process.ended_tree; does nothing
 * if profile_table.threads is none and the process has no OpenMP. */
void threads_ended_range(struct process *p, const struct thread_ring *t, struct calltree *tree);
/* The range of a node of process.ended_tree; or NULL. */
const struct thread_range *threads_ended_range_of(const struct process *p, const struct node *n);
/*
 * The first thread of a rank waits for the others of its team in frame n of process.ended_tree: in
 * an omp_join, in a barrier, or at the end of a parallel region. The frame of the one for which
 * they wait: if over all such teams it is mostly the same thread, in the same call path. n: it is
 * not, or n is no such frame. Only after the last thread.
 */
const struct node *threads_ended_awaited(const struct process *p, const struct node *n);
/* Frees all ranges. */
void threads_ended_free(struct process *p);

#endif
