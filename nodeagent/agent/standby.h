/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standby: every agent.standby_s the agent leaves a copy of itself (copy.h), which sleeps. If
 * the agent is killed the copy writes this node's results, up to the moment at which it was made;
 * without it all that the agent has read would be lost. The next copy ends the one before.
 */
#ifndef VFTR_NODEAGENT_AGENT_STANDBY_H
#define VFTR_NODEAGENT_AGENT_STANDBY_H

struct agent;

/* Makes a copy if it is time to, and if there is memory for one. Returns the seconds until the next
 * call. */
double standby_tick(struct agent *a);

/* The agent has written its results, or there are none: ends the copy. */
void standby_end(struct agent *a);

#endif
