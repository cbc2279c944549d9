/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the agent runs. With agent.cpu "auto": on CPUs that no traced process
 * is bound to; if there are none, away from the CPUs of the busiest threads
 * while others are free, and else among them, with no lower priority than theirs.
 */
#ifndef VFTR_NODEAGENT_PLACE_H
#define VFTR_NODEAGENT_PLACE_H

#include <stdbool.h>

struct agent;

/* Once, at start; remembers which CPUs are allowed. */
void place_init(struct agent *a);
/* After events: looks again when processes came, or every 100 ms of work. */
void place_again(struct agent *a);
/* Whether it takes its CPU time from the processes. */
bool place_is_shared(void);

#endif
