/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ended thread did, kept apart from the sum over threads. */
#ifndef VFTR_NODEAGENT_THREADS_PAST_H
#define VFTR_NODEAGENT_THREADS_PAST_H

#include <stdint.h>

struct calltree;
struct node;
struct process;
struct thread_past;
struct thread_ring;

/*
 * t has ended and this is its tree; nothing happens without profile_table.threads
 * and logs of ranks.
 */
void threads_past_add(struct process *p, const struct thread_ring *t, struct calltree *tree);

/* Frees what it has. */
void threads_past_done(struct thread_past *past);

/* Exclusive times of threads at one node of process.past, in ticks. */
struct thread_range {
	uint32_t threads;
	uint32_t thread_min, thread_max; /* their numbers */
	uint64_t min, max;
};

/* t's tree has been added to process.past (calltree_add()) just now; as above. */
void threads_past_range(struct process *p, const struct thread_ring *t, struct calltree *tree);
/* Of a node of process.past; or NULL. */
const struct thread_range *threads_past_range_of(const struct process *p, const struct node *n);
/* All ranges. */
void threads_past_free(struct process *p);

#endif
