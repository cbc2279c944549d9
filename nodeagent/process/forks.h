/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child of fork() goes on inside the functions that its parent was in. The
 * parent announces the fork; its open frames are kept for the child, which names
 * the fork when it attaches. 65536 forks of a process are kept, and 16 MiB of frames,
 * equal ones once; beyond that first those go that a child has taken, then the oldest.
 */
#ifndef VFTR_NODEAGENT_PROCESS_FORKS_H
#define VFTR_NODEAGENT_PROCESS_FORKS_H

#include <stddef.h>
#include <stdint.h>

struct forks;
struct process;
struct wire_fork;

/* Keeps the open frames of the forking thread, after reading its ring to the fork. */
void forks_add(struct process *p, const struct wire_fork *m);

/* Frames that were open in the parent of p, innermost first (not owned); their number. Warns if
 * they are forgotten. */
size_t forks_inherited(const struct process *p, const uint64_t **keys);

/* The process that forked p, and has the frames of forks_inherited(); owned by the host. NULL:
 * there are none, or the process was let go. */
const struct process *forks_parent(const struct process *p);

/* Before p is freed: its forks, if it has made some, replace those in *to, of another process that
 * had its pid. */
void forks_leave(struct process *p, struct forks **to);

void forks_free(struct process *p);

#endif
