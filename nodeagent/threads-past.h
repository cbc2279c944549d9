/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ended thread did, kept apart from the sum over threads. */
#ifndef VFTR_NODEAGENT_THREADS_PAST_H
#define VFTR_NODEAGENT_THREADS_PAST_H

struct calltree;
struct process;
struct thread_ring;

/* t has ended and this is its tree; nothing happens without profile_table.threads. */
void threads_past_add(struct process *p, const struct thread_ring *t, struct calltree *tree);

#endif
