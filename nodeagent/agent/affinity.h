/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the CPUs of the agent. With agent.cpu "auto": CPUs that no traced process
 * is bound to; if there are none, away from the CPUs of the busiest threads
 * while others are free, and else among them, with no lower priority than theirs.
 */
#ifndef VFTR_NODEAGENT_AGENT_AFFINITY_H
#define VFTR_NODEAGENT_AGENT_AFFINITY_H

#include <stdbool.h>

struct agent;

/* To be called once, at start; remembers the allowed CPUs. */
void affinity_init(struct agent *a);
/* To be called after events: chooses anew when processes came, or every 100 ms of work. */
void affinity_again(struct agent *a);
/* True if the agent takes its CPU time from the processes. */
bool affinity_is_shared(const struct agent *a);

#endif
