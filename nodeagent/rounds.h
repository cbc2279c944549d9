/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outputs of the rounds of a session (vftrace-session(3)), where there are several: what
 * was done from the end of a round to that of the next one goes to the files
 * BASE.roundN_..., besides those of the whole run. A child of the agent writes them, as
 * for agent.write_every_s (interim.h).
 */
#ifndef VFTR_NODEAGENT_ROUNDS_H
#define VFTR_NODEAGENT_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct agent;

/* The round to which a time (in ticks) belongs; the first one began with the processes. */
unsigned rounds_at(uint64_t ticks);

/* Whether any round has begun: a session is in use. */
bool rounds_begun(void);

/* A process of this node is about to be told that round `epoch` has begun. */
void rounds_begin(struct agent *a, uint32_t epoch);

/* In the child that writes: the files of the round that is over, and what it leaves for the next.
 */
int rounds_write(struct agent *a);

/* All processes have ended: the last round, if it was not the only one. 0, or 1: said. */
int rounds_end(struct agent *a);

#endif
