/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates the time of calls that were counted and not timed (shm/switches.h): their number times
 * the mean of timed calls. That is the mean of the last timed calls of the same path that
 * calltree_price() has seen, or else of the same function on other paths. The estimate is taken
 * from the exclusive time of the caller, in which these calls lie, and is at most that: so
 * inclusive times of callers stay exact.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_ESTIMATE_H
#define VFTR_NODEAGENT_REPLAY_TREE_ESTIMATE_H

#include <stdbool.h>

struct calltree;
struct node;

/*
 * To be called now and then for each node while the program runs. in_window: all calls since the
 * last time were to be timed. Calls that were counted before get the mean of the timed calls in
 * this window and the one before, so that the estimate follows a program that changes. The few
 * calls that are timed outside of windows count only as long as there was no window: if a thread
 * waited for a CPU in one of them, that would be the mean.
 */
void calltree_price(struct node *n, bool in_window);

/*
 * Makes the estimates. hook: ticks of a hook, which each timed call has in its time. t is complete;
 * a second call, with more calls in the tree, replaces the estimates of the first.
 */
void calltree_estimate(struct calltree *t, double hook);

#endif
