/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of calls that were counted and not timed (shm/switches.h): as many times the mean of the
 * function's timed calls, of the same path if there are some: of the last ones that
 * calltree_price() has seen. It is taken from the exclusive time
 * of the caller, which has it so far, and is never more than that: so all inclusive times of
 * callers stay exact.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_ESTIMATE_H
#define VFTR_NODEAGENT_REPLAY_TREE_ESTIMATE_H

#include <stdbool.h>

struct calltree;
struct node;

/*
 * To be called now and then of each node while the program runs; in_window: all calls since the
 * last time were to be timed. If there are some, those that were counted before have the mean of
 * these and of the ones in the window before: so the estimate follows a program that changes. At
 * the edges of a window a few calls were timed, and a thread that waited for a CPU in one of these
 * would make it the mean: they only say something as long as there was no window.
 */
void calltree_price(struct node *n, bool in_window);

/*
 * hook: ticks of a hook, which each timed call has in its time. Of a tree that is whole; a further
 * call, which may know more calls, replaces the estimates of the one before.
 */
void calltree_estimate(struct calltree *t, double hook);

#endif
