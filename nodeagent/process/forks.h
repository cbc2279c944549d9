/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of fork() goes on inside the functions that its parent was in. The
 * parent announces the fork; its open frames are kept for the child, which names
 * the fork when it attaches. The last few hundred forks are kept.
 */
#ifndef VFTR_NODEAGENT_PROCESS_FORKS_H
#define VFTR_NODEAGENT_PROCESS_FORKS_H

#include <stddef.h>
#include <stdint.h>

struct fork_frames;
struct process;
struct wire_fork;

/* Keeps the open frames of the forking thread, after reading its ring to the fork. */
void forks_add(struct process *p, const struct wire_fork *m);

/* Frames that were open in the parent of p, innermost first (not owned); their number. */
size_t forks_inherited(const struct process *p, const uint64_t **keys);

/* Before p is freed: moves its forks to the front of *to, which keeps the last few hundred. */
void forks_leave(struct process *p, struct fork_frames **to);

void forks_free(struct process *p);

#endif
