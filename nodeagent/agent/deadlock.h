/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds deadlocks: with agent.deadlock_s, writes the call stacks of all threads and a
 * snapshot as soon as no thread has recorded anything for that many seconds. With agent.stop_file,
 * ends the run as soon as that file exists. Of a run that a signal ends, says what its processes
 * hung in.
 */
#ifndef VFTR_NODEAGENT_AGENT_DEADLOCK_H
#define VFTR_NODEAGENT_AGENT_DEADLOCK_H

#include <stdbool.h>

struct agent;

/* To be called repeatedly. Returns the seconds until the next call. */
double deadlock_tick(struct agent *a);
/*
 * To be called when the processes of all nodes are idle: writes the call stacks and the snapshot
 * now, or, if another snapshot is being written, after that, unless something goes on meanwhile.
 */
void deadlock_report(struct agent *a);
/*
 * To be called in a copy of the agent (snapshot.h) that has read all rings: writes the call stacks.
 */
void deadlock_write_stacks(struct agent *a);
/* If a->asked_to_end is set: notes what the processes hang in as that signal has come, once. */
void deadlock_note(struct agent *a);
/* Whether such a signal came so short a time ago that it may be the cause of their end. */
bool deadlock_was_asked(const struct agent *a);
/*
 * To be called when they have ended: warns of what was noted, unless they ended well all the same.
 * True: it has warned.
 */
bool deadlock_tell(struct agent *a);

#endif
