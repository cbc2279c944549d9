/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of calls that were counted and not timed (shm/switches.h): as many times the mean of the
 * function's timed calls, of the same path if there are some. It is taken from the exclusive time
 * of the caller, which has it so far, and is never more than that: so all inclusive times of
 * callers stay exact.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_ESTIMATE_H
#define VFTR_NODEAGENT_REPLAY_TREE_ESTIMATE_H

struct calltree;

/*
 * hook: ticks of a hook, which each timed call has in its time. Of a tree that is whole; a further
 * call, which may know more calls, replaces the estimates of the one before.
 */
void calltree_estimate(struct calltree *t, double hook);

#endif
