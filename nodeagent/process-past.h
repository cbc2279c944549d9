/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have ended. The first thousand are kept as they are until the results
 * are written. Of further ones the books are closed soon after their end, a few dozen
 * at a time: their numbers are added to those of the whole (gather_let_go()), a row
 * of the list of processes stays, and they are freed. So a node may see any number of
 * short processes. Kept are ranks, and those of whom something may still be asked.
 */
#ifndef VFTR_NODEAGENT_PROCESS_PAST_H
#define VFTR_NODEAGENT_PROCESS_PAST_H

#include <stdint.h>

struct agent;
struct process;

/* It has greeted and ended, and is no longer among the living. May free it, now or later. */
void process_past_add(struct process *p);

/*
 * The number of the k-th process without a rank that was kept, in the order of their
 * start: those that were let go have numbers of their own, behind the first thousand.
 */
uint32_t process_past_number(const struct agent *a, uint32_t k);

#endif
