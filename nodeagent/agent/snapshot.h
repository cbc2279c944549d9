/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Snapshots: with agent.write_every_s, the files of this node while the application runs,
 * as if all processes had ended now. A child of the agent writes them from its copy of
 * the memory, so that the agent goes on reading rings.
 */
#ifndef VFTR_NODEAGENT_AGENT_SNAPSHOT_H
#define VFTR_NODEAGENT_AGENT_SNAPSHOT_H

#include <stdbool.h>

struct agent;

/* Writes a snapshot if it is due. Returns the seconds until the next call. */
double snapshot_tick(struct agent *a);
/*
 * Writes a snapshot now, unless one is being written. wait: does not return before it is written.
 */
void snapshot_so_far(struct agent *a, bool wait);
/*
 * Writes a snapshot and the call stacks (deadlock.h) now, unless a snapshot is being written. Does
 * not wait.
 */
void snapshot_now(struct agent *a);
/* Writes the round that is over (rounds.h), after a snapshot that is being written. */
void snapshot_round(struct agent *a);
/* Waits until a child that writes is done; to be called before the last results are written. */
void snapshot_end(struct agent *a);

#endif
