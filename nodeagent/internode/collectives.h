/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits in collective calls whose members are on several nodes: agents compare them when the job
 * is over. Who may do so: all agents of a job, at about the same time, after the clocks were
 * compared for the last time and before results are gathered.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_COLLECTIVES_H
#define VFTR_NODEAGENT_INTERNODE_COLLECTIVES_H

#include <stddef.h>
#include <stdint.h>

#include "nodeagent/process/observer.h"

struct host;

/*
 * From the first rank on keeps such calls, if there are other agents and mpi.waits is on; at the
 * end adds the number of compared calls to the profile.
 */
extern const struct process_observer collectives_observer;

/*
 * Compares the calls, which takes at most a part of agent.deadline_s. Calls that need an agent
 * which does not answer count as not compared.
 */
void collectives_end(struct host *host);

/*
 * For the directory (directory.h), before collectives_end(): the agents to which this one reports;
 * the caller frees.
 */
uint64_t *collectives_homes(const struct host *host, size_t *n);

#endif
