/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How agents learn that a job is over: each tells agent 0 that its processes have ended, and agent
 * 0 tells all when the last one has; messages as those of agent/peers.c, by agent/job-end.h.
 */
#ifndef VFTR_T_SCALE_SIM_STATES_H
#define VFTR_T_SCALE_SIM_STATES_H

#include <stdbool.h>

#include "t/scale/sim/world.h"

/*
 * At each agent when its processes have ended: returns when the job is over everywhere, or agent 0
 * has died, or after deadline_s. sends: this one has something for others. True if any agent has,
 * or may have.
 */
bool states_end(struct sim_agent *a, bool sends, double deadline_s);

/* The last will of an agent that has died, by its proxy. */
void states_gone(struct sim_agent *a);

#endif
