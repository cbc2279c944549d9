/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets the times of paths that are known from stack samples: the CPU time for which their samples
 * stand. That is part of the exclusive time of the nearest node above that is known exactly, and at
 * most that; if it is more, all paths below that node are reduced in proportion.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_STACK_TIME_H
#define VFTR_NODEAGENT_REPLAY_TREE_STACK_TIME_H

#include <stdint.h>

struct calltree;

/* To be called once, when t is complete. */
void calltree_time_stacks(struct calltree *t);

/*
 * Sets the time of a thread that records nothing to its CPU time, cpu in ticks: at least that of
 * its samples, at most the time it has now. So its waits are left out.
 */
void calltree_keep_cpu(struct calltree *t, uint64_t cpu);

#endif
