/* SPDX-License-Identifier: BSD-3-Clause */
/* When an agent has nothing more to do: a table, by what it was started for. */
#ifndef VFTR_NODEAGENT_AGENT_OVER_H
#define VFTR_NODEAGENT_AGENT_OVER_H

#include <stdbool.h>

struct agent;

/* To be asked again and again. False: at the latest in *wait_s seconds. */
bool agent_is_over(struct agent *a, double *wait_s);

#endif
