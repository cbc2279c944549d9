/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have ended. The first thousand are kept as they are until the results
 * are written. Further ones are let go soon after their end, a few dozen at a time: their
 * numbers are added to the sums of the node (gather/), a row of the list of processes
 * stays, and they are freed. So a node may see any number of short processes. Never let go
 * are ranks, and processes whose data may still be needed; a warning says if these are all.
 */
#ifndef VFTR_NODEAGENT_PROCESS_ENDED_H
#define VFTR_NODEAGENT_PROCESS_ENDED_H

#include <stdint.h>

struct host;
struct process;

/* Takes over a process that said HELLO and has ended, and left host.live. May free it any time. */
void ended_process_add(struct process *p);

/*
 * The number of the k-th kept process without a rank, in the order of their start:
 * processes that were let go have numbers of their own, after the first thousand.
 */
uint32_t ended_process_number(const struct host *host, uint32_t k);

#endif
