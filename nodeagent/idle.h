/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When nothing goes on any more: with agent.deadlock_s, call stacks of all threads and
 * the results so far, as soon as no thread has recorded anything for so long; with
 * agent.stop_file, the end of the run as soon as that file is there.
 */
#ifndef VFTR_NODEAGENT_IDLE_H
#define VFTR_NODEAGENT_IDLE_H

struct agent;

/* To be called again and again. Seconds until the next call. */
double idle_tick(struct agent *a);
/* Now, as the processes of all nodes are idle. */
void idle_report(struct agent *a);
/* In a copy of the agent, in which all rings were read: writes the call stacks. */
void idle_write_stacks(struct agent *a);

#endif
