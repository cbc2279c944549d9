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

/* The thread ended: also takes what was stored and not published, closes its
 * frames at end_ticks and adds its tree to the process's. Frees t. */
void drain_last(struct thread_ring *t, uint64_t end_ticks);

/* Is a ring so full that its producer will ring the doorbell soon? */
bool drain_is_urgent(const struct process *p);

#endif
