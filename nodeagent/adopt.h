/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sidecar agents are often started at the same moment as the job. A process
 * that comes first finds no agent and starts one of its own; that agent then
 * has the node's processes, and this one would wait for ever. So an agent to
 * which nobody comes looks for agents that processes started on its node since
 * (or just before) it began, waits for them, and takes the node profile that
 * they wrote for its own.
 *
 * The runtime directory, which is this node's, is looked at each time. The output
 * directory may be one of thousands of agents and on another machine: it is listed
 * when such an agent was seen, or when the directory has changed, which is asked for
 * ever less often, every 5 s in the end.
 */
#ifndef VFTR_NODEAGENT_ADOPT_H
#define VFTR_NODEAGENT_ADOPT_H

#include <stdbool.h>

struct agent;

/*
 * Asked now and then while no process has come. True when such agents have been
 * seen and all have ended; a->adopted is then the profile they left, or NULL.
 */
bool adopt_look(struct agent *a);

#endif
