/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outputs of the rounds of a session (vftrace-session(3)), if there are several: the
 * profile from the end of one round to the end of the next one goes to the files
 * BASE.roundN_..., besides those of the whole run. A child of the agent writes them, as
 * for agent.write_every_s (snapshot.h).
 */
#ifndef VFTR_NODEAGENT_AGENT_ROUNDS_H
#define VFTR_NODEAGENT_AGENT_ROUNDS_H

#include <stdint.h>

struct agent;

/* To be called before a process of this node learns that round `epoch` has begun. */
void rounds_begin(struct agent *a, uint32_t epoch);

/* In the child: writes the files of the round that is over, and data for the next round. 0, or 1
 * after a message. */
int rounds_write(struct agent *a);

/* After the end of all processes: the last round, if there were several. 0, or 1 after a message.
 */
int rounds_end(struct agent *a);

#endif
