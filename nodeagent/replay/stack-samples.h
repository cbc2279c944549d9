/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack samples (nodeagent/stack/) in the call tree of a thread. Each waits until the records up
 * to its time were read; then its path, less the frames around the one that is open, becomes
 * nodes below that frame's node, without calls. In frames of MPI, and in waits, there
 * is none: their time is known exactly. But one in a call of MPI tells from which path that call
 * site is reached: call-site-path.c.
 */
#ifndef VFTR_NODEAGENT_REPLAY_STACK_SAMPLES_H
#define VFTR_NODEAGENT_REPLAY_STACK_SAMPLES_H

#include <stdint.h>

struct node;
struct replay;

struct stack_sample {
	uint64_t ticks;	 /* when */
	uint64_t weight; /* ticks of CPU time for which it stands */
	/* from the outermost function to the one that ran, without the root; calls: the number of
	 * its innermost functions that a runtime of OpenMP has called, or UINT64_MAX */
	const struct node *path;
	/* the innermost function that has called one of ours: the path to it, and where in its
	 * code that was; NULL, 0: it is not known */
	const struct node *caller;
	uint64_t site;
};

/* Samples of a thread that wait for records, at most; older ones are placed by what was read. */
#define STACK_SAMPLES_WAITING 8192u

/* Adds a sample, later than those before. Its paths must be valid until replay_end(). */
void replay_add_stack_sample(struct replay *r, const struct stack_sample *s);

/* The time of the first one that waits, or UINT64_MAX. */
uint64_t replay_next_stack_sample(const struct replay *r);

/* All records up to `ticks` were read: places the samples up to then. */
void replay_place_stack_samples(struct replay *r, uint64_t ticks);

#endif
