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
 * Writes a snapshot now, unless one is being written. wait: writes one after that, and does not
 * return before it is written, but for agent.deadline_s at most.
 */
void snapshot_so_far(struct agent *a, bool wait);
/*
 * Writes a snapshot and the call stacks (deadlock.h) now. Does not wait. False: a snapshot is being
 * written, or there can be none now; call again.
 */
bool snapshot_now(struct agent *a);
/*
 * Writes the round that is over (rounds.h), after what is being written now, for which the agent
 * does not wait. False: for too long too many are being written.
 */
bool snapshot_round(struct agent *a);
/*
 * Waits until all that is being written is done, for agent.deadline_s at most; to be called before
 * the last results are written.
 */
void snapshot_end(struct agent *a);

#endif
