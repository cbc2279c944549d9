/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of the time in which a process wanted to run it had a CPU. Calls are timed by a clock
 * that goes on while their thread waits for one, and on a machine with more threads than CPUs short
 * calls look long by that.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_STARVED_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_STARVED_H

#include <stdint.h>

/*
 * ns in which threads of the process were ready and had no CPU, up to now, of those that live and
 * that the kernel tells of; 0 also: not known.
 */
uint64_t starved_ns(int pid);

/* cpu, starved, blocked: ns since the last time; blocked: threads waited for room in their rings.
 * From more than 0 to 1. */
double starved_share(double cpu, double starved, double blocked);

#endif
