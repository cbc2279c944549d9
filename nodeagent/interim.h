/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Results while the application runs, with agent.write_every_s: the files of this
 * node, as if all had ended now. A child of the agent writes them from its copy of
 * the memory, so that the agent goes on reading rings.
 */
#ifndef VFTR_NODEAGENT_INTERIM_H
#define VFTR_NODEAGENT_INTERIM_H

struct agent;

/* Writes if it is time. Returns the seconds after which to ask again. */
double interim_tick(struct agent *a);
/* Writes now, unless it is writing already. */
void interim_so_far(struct agent *a);
/* The same, and call stacks (idle.h). */
void interim_now(struct agent *a);
/* The round that is over (rounds.h), in any case. */
void interim_round(struct agent *a);
/* Waits until a child that writes is done: before the last results are written. */
void interim_end(struct agent *a);

#endif
