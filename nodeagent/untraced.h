/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_NODEAGENT_UNTRACED_H
#define VFTR_NODEAGENT_UNTRACED_H

struct launch;

/*
 * COMMAND has ended and none of its processes was traced: says so, and what of the program
 * that it starts prevents that, as `vftr doctor' would. Sets LD_PRELOAD as the processes had it.
 */
void untraced_say(const struct launch *l);

/*
 * Before COMMAND is run with an agent on this node alone: says so if it is a script in a job of
 * Slurm's with several nodes, where the script may start processes that nobody traces.
 */
void untraced_elsewhere(const struct launch *l);

#endif
