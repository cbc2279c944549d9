/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the summary of a run from the agents' files, if they could not make it together. */
#ifndef VFTR_NODEAGENT_AGENT_SALVAGE_H
#define VFTR_NODEAGENT_AGENT_SALVAGE_H

#include <stdbool.h>

struct agent;

/*
 * Makes a summary of all that the nodes of this run have written, unless there is one, and
 * prints where it is. hosts: those that had an agent, with blanks between them; "": not known.
 * orphans: agents may still be writing; waits until all hosts' files are there, or no file
 * has come for some seconds. Names the hosts that have written nothing. Returns
 * false if there is no summary.
 */
bool salvage_summary(struct agent *a, const char *hosts, bool orphans);

#endif
