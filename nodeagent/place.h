/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the agent runs. With agent.cpu "auto": on CPUs that no traced process
 * is bound to; if there are none, away from the CPUs of the busiest threads
 * while others are free, and with a lower priority.
 */
#ifndef VFTR_NODEAGENT_PLACE_H
#define VFTR_NODEAGENT_PLACE_H

struct agent;

/* Once, at start; remembers which CPUs are allowed. */
void place_init(struct agent *a);
/* After events: looks again when processes came, or every 100 ms of work. */
void place_again(struct agent *a);

#endif
