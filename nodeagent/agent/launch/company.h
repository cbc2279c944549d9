/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For an agent that is started together with others: its lines on standard output for the
 * front (distributed.c), which starts the agents and the command and waits for both.
 */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_COMPANY_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_COMPANY_H

#include <stdbool.h>

struct agent;

/*
 * To be called before meeting the others. From here on the front learns when this process ends.
 * Exits with a message if a launcher has started several that can never meet.
 */
void company_expect(struct agent *a);

/*
 * To be called if this agent cannot take part: prints why, also for the front. Returns true if a
 * launcher has started the other agents; then the caller ends them by peers_refuse().
 */
bool company_refuse(struct agent *a, const char *why);

/* Tells the front that all agents have met, so that it runs the command. */
void company_met(struct agent *a);

#endif
