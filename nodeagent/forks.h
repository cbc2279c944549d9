/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of fork() goes on inside the functions that its parent was in. The
 * parent announces the fork; what was open then is kept for the child, which
 * names the fork when it attaches. The last few hundred are kept.
 */
#ifndef VFTR_NODEAGENT_FORKS_H
#define VFTR_NODEAGENT_FORKS_H

#include <stddef.h>
#include <stdint.h>

struct fork_frames;
struct process;
struct wire_fork;

/* What the child takes over is read now. */
void forks_add(struct process *p, const struct wire_fork *m);

/* Frames that were open in the parent of p, innermost first (not owned); their number. */
size_t forks_inherited(const struct process *p, const uint64_t **keys);

/* They are needed when p is gone: to the front of *to, where the last few hundred stay. */
void forks_leave(struct process *p, struct fork_frames **to);

void forks_free(struct process *p);

#endif
