/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_UNTRACED_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_UNTRACED_H

#include <stdbool.h>

struct conf;
struct launch;

/* True if the user wants nothing recorded: the key off, or VFTR_OFF. */
bool untraced_is_off(const struct conf *conf);
/* Says so, if it is so; for the end of a run. */
void untraced_say_off(const struct conf *conf);

/*
 * To be called after COMMAND has ended and none of its processes was traced: prints that, with the
 * reasons that `vftr doctor' finds in the program; or, where the agent has refused some, that it
 * has refused so many and has said why. Sets LD_PRELOAD of this process as COMMAND's processes had
 * it.
 */
void untraced_say(const struct launch *l, unsigned refused);

/*
 * To be called before COMMAND is run with an agent on this node only: warns if COMMAND is a script
 * in a Slurm job with several nodes, as processes that it starts on other nodes are not traced.
 */
void untraced_elsewhere(const struct launch *l);

#endif
