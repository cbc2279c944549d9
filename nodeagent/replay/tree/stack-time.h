/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of paths that are known from stack samples: what their samples stand for. It is part of
 * the time of the exact node above, and at most what that has without its exact calls; if it were
 * more, all paths below that node get less in proportion.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_STACK_TIME_H
#define VFTR_NODEAGENT_REPLAY_TREE_STACK_TIME_H

struct calltree;

/* Once, of a tree that is whole. */
void calltree_time_stacks(struct calltree *t);

#endif
