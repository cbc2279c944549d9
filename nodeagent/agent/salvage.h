/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the summary of a run from the agents' files, if they could not make it together. */
#ifndef VFTR_NODEAGENT_AGENT_SALVAGE_H
#define VFTR_NODEAGENT_AGENT_SALVAGE_H

#include <stdbool.h>

struct agent;

/*
 * Sees to it that there is a summary with all that the nodes of this run have written, and
 * says where it is. hosts: those that had an agent, with blanks between them; "": not known.
 * orphans: agents may still be writing, and are waited for: until all hosts' files
 * are there, or none has come for some seconds. Hosts that left nothing are named.
 */
void salvage_summary(const struct agent *a, const char *hosts, bool orphans);

#endif
