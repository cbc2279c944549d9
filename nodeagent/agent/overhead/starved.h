/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the time in which a process wanted to run and had a CPU. The clock of the hooks goes
 * on while a thread waits for a CPU, so on a machine with more threads than CPUs short calls look
 * long; this part tells by how much.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_STARVED_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_STARVED_H

#include <stdint.h>

/*
 * ns until now in which the living threads of the process were ready and had no CPU, as far as the
 * kernel tells; 0 also if that is not known.
 */
uint64_t starved_ns(int pid);

/*
 * running_share() of a process; 1 as long as no CPU time is known. cpu: CPU time, starved: growth
 * of starved_ns(), blocked: waits for room in rings, all in ns since the last time.
 */
double starved_share(double cpu, double starved, double blocked);

#endif
