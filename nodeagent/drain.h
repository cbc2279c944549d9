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
/* All threads of a process. */
uint64_t drain_process(struct process *p);

/* The thread has ended: also takes what was stored and not published. */
void drain_last(struct thread_ring *t);

/* Is a ring so full that its producer will ring the doorbell soon? */
bool drain_is_urgent(const struct process *p);

#endif
