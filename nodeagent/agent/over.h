/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides when an agent ends: a table with a row for each form of agent (enum agent_form). */
#ifndef VFTR_NODEAGENT_AGENT_OVER_H
#define VFTR_NODEAGENT_AGENT_OVER_H

#include <stdbool.h>

struct agent;

/* Returns true if the agent is to end; else the caller asks again in at most *wait_s seconds. */
bool agent_is_over(struct agent *a, double *wait_s);

#endif
