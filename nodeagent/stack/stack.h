/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack samples of all threads of this host's processes, with profile.sample. The samples
 * that the kernel has stored are read before the records of the same time; their paths go to
 * the replays of the threads. A thread without a ring, which has recorded nothing, has a call tree
 * of samples alone, which is added to that of its process.
 *
 * Two limits, of which a warning tells when they are reached: the memory of the rings, and the CPU
 * time of the agent, which takes fewer samples then.
 */
#ifndef VFTR_NODEAGENT_STACK_STACK_H
#define VFTR_NODEAGENT_STACK_STACK_H

struct host;
struct process_observer;

extern const struct process_observer stack_observer;

/* Reads the samples that were stored, and looks for new threads. Returns the seconds until the next
 * call at the latest; NEVER_S: nothing is sampled. */
double stack_tick(struct host *host);

/* After the last process: says what was lost, and frees host->stacks. */
void stack_end(struct host *host);

#endif
