/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank ended badly first, and how: the others are victims of the launcher. */
#ifndef VFTR_NODEAGENT_FIRST_END_H
#define VFTR_NODEAGENT_FIRST_END_H

struct profile;

/*
 * For a node's profile with its processes: if a rank exited with another status than 0, a
 * sentence for the logs says which of those that ended badly was first, when (in seconds
 * since the first process began here), and what became of the others.
 */
void first_end_warn(struct profile *p, const char *host);

#endif
