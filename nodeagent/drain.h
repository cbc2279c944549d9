/* SPDX-License-Identifier: BSD-3-Clause */
/* From a thread's ring into its replay. The only user of the ring's consumer half. */
#ifndef VFTR_NODEAGENT_DRAIN_H
#define VFTR_NODEAGENT_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct process;
struct thread_ring;

/* Takes what is published. Returns bytes taken. */
uint64_t drain_thread(struct thread_ring *t);
/* The same up to a position, if it is one of those. */
uint64_t drain_thread_to(struct thread_ring *t, uint64_t position);
/* All threads of a process. */
uint64_t drain_process(struct process *p);

/* The thread has ended: also takes what was stored and not published. */
void drain_last(struct thread_ring *t);

/* Is a ring so full that its producer will ring the doorbell soon? */
bool drain_is_urgent(const struct process *p);

/*
 * In a copy of the agent (interim.h), which must not touch the ring: replays what the
 * thread has stored and not published, if all before it was read. Nothing is read
 * from it afterwards.
 */
void drain_copy(struct thread_ring *t);

#endif
