/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.budget_percent: from time to time what tracing has cost since the last look
 * is compared with the CPU time of the processes: calls times the cost of two hooks,
 * waits for room in the rings, and the agent's own CPU time where it shares their CPUs.
 * While that is too much, functions are switched off (shm/switches.h), those with the
 * most calls first. Only functions go that call nothing else that is recorded, so
 * that no call path changes but by their absence.
 */
#ifndef VFTR_NODEAGENT_BUDGET_H
#define VFTR_NODEAGENT_BUDGET_H

struct agent;
struct budget_process;
struct process;
struct profile;
struct ring_producer_shm;

/* Looks, if it is time to. Returns the seconds until it is again. */
double budget_tick(struct agent *a);

/* A process has its control page; what is off is off in it, too. */
void budget_process_begin(struct process *p);
/* A thread has ended: what it did not record. */
void budget_note(struct process *p, struct ring_producer_shm *ring);
void budget_process_free(struct budget_process *b);

/* gather.c: what was switched off, into a profile. */
void budget_gather(const struct agent *a, struct profile *out);

#endif
