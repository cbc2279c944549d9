/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.budget_percent: from time to time compares the cost of tracing since the last
 * time with the CPU time of the processes: calls times the cost of two hooks, waits for
 * room in the rings, and the agent's own CPU time if it shares their CPUs. While that is
 * too much, switches functions off (shm/switches.h), those with the most calls first, but
 * only functions that call no other recorded function, so that the remaining call paths
 * are right.
 *
 * What the user switches by vftr top (host.switches) is off and on again whatever it costs or
 * calls: calls of a function that is off are counted in the same way, and no clock is read.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_H

#include "nodeagent/process/observer.h"

struct agent;

/* Compares them if that is due. Seconds until the next call. */
double overhead_tick(struct agent *a);

/* Switches the same functions off in new processes; adds them to the profile at the end. */
extern const struct process_observer overhead_observer;

#endif
