/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes have had a pid, found by the pid: the parent of a process may have
 * ended long ago, and thousands after it. Of a process that was let go
 * (process-past.h), what its children may still ask for stays here.
 */
#ifndef VFTR_NODEAGENT_PIDS_H
#define VFTR_NODEAGENT_PIDS_H

#include <stdbool.h>
#include <stdint.h>

#define PIDS_NOT_SAMPLED UINT32_MAX

struct agent;
struct fork_frames;
struct process;

/* It has said HELLO. */
void pids_add(struct process *p);
/* It is about to be freed; its forks and its number in the sampling file stay. */
void pids_let_go(struct process *p);

/* Has a process with this pid ever said HELLO? */
bool pids_known(const struct agent *a, int pid);
/* The newest one that was not let go, or NULL; older ones follow in process.namesake. */
struct process *pids_newest(const struct agent *a, int pid);
/* Forks of those that were let go, newest first. */
const struct fork_frames *pids_forks(const struct agent *a, int pid);
/* Number in the sampling file of the newest process but p, or PIDS_NOT_SAMPLED. */
uint32_t pids_sampled(const struct process *p, int pid);

#endif
