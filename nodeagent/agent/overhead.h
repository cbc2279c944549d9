/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.budget_percent: from time to time compares the cost of tracing since the last time with
 * the CPU time of the processes: calls times the cost of two hooks, waits for room in the rings,
 * and the agent's own CPU time if it shares their CPUs. While that is too much, switches functions
 * off (shm/switches.h), those with the most calls first, but only functions that call no other
 * recorded function, so that the remaining call paths are right.
 *
 * Functions that the user switches off by vftr top (host.switches) stay off until the user switches
 * them on, whatever they cost and call. Calls of a function that is off, for either reason, are
 * counted; no clock is read.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_H

#include "nodeagent/process/observer.h"

struct agent;

/* Compares cost and CPU time if that is due. Returns the seconds until the next call. */
double overhead_tick(struct agent *a);

/*
 * Switches the functions that are off, off in new processes, too; adds them to the profile at the
 * end.
 */
extern const struct process_observer overhead_observer;

#endif
