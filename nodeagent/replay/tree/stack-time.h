/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of paths that are known from stack samples: what their samples stand for. It is part of
 * the time of the exact node above, and at most what that has without its exact calls; if it were
 * more, all paths below that node get less in proportion.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_STACK_TIME_H
#define VFTR_NODEAGENT_REPLAY_TREE_STACK_TIME_H

#include <stdint.h>

struct calltree;

/* Once, of a tree that is whole. */
void calltree_time_stacks(struct calltree *t);

/* The time of a thread that records nothing: its CPU time, in ticks; at least that of its samples,
 * at most what it has now. What it waits is left out. */
void calltree_keep_cpu(struct calltree *t, uint64_t cpu);

#endif
