/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes by pid, also those that ended long ago, as a process needs its parent. For a
 * process that was let go (ended.h), the data that its children may still need stay here.
 */
#ifndef VFTR_NODEAGENT_PROCESS_PIDS_H
#define VFTR_NODEAGENT_PROCESS_PIDS_H

#include <stdbool.h>

struct host;
struct forks;
struct process;

/* Adds a process that has said HELLO. */
void pids_add(struct process *p);
/* To be called before p is freed: takes p out, and keeps its forks. */
void pids_let_go(struct process *p);

/* True if a process with this pid has ever said HELLO. */
bool pids_known(const struct host *host, int pid);
/* The newest one that was not let go, or NULL; older ones follow in process.namesake. */
struct process *pids_newest(const struct host *host, int pid);
/* Forks of the last process with this pid that was let go and has made some, or NULL. */
const struct forks *pids_forks(const struct host *host, int pid);

#endif
