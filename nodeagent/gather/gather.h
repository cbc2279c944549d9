/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a profile from the call trees of processes: names, ranks, numbers. */
#ifndef VFTR_NODEAGENT_GATHER_GATHER_H
#define VFTR_NODEAGENT_GATHER_GATHER_H

#include "nodeagent/process/observer.h"

/* Adds the numbers of processes that are let go (process/ended.h) to host.gathered. */
extern const struct process_observer gather_observer;

/*
 * Gives each process that has said HELLO its rank for the outputs: that from MPI, else that
 * from the launcher if no other process has it, else PROFILE_UNRANKED + k in the order of
 * their start, and of their ranks if they are spawned. Call once, before gather().
 */
void gather_ranks(struct host *host);

/* Profile of all finished processes, once, or of `only` one. Never NULL. */
struct profile *gather(struct host *host, const struct process *only);

#endif
