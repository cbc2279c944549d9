/* SPDX-License-Identifier: BSD-3-Clause */
/* Of agents that write to one folder, one at a time: those of this host, and those of others where
 * the file system has locks. */
#ifndef VFTR_NODEAGENT_AGENT_FOLDER_LOCK_H
#define VFTR_NODEAGENT_AGENT_FOLDER_LOCK_H

#include <stdbool.h>

/*
 * A descriptor of the folder, locked where that can be; closing it ends that. -1: there is none.
 * Waits for 30 s at most, and then returns it without the lock. That is said, but not where
 * siblings, agents of the same run, are what it waits for: `siblings', and the folder has
 * changed meanwhile.
 */
int folder_lock(const char *folder, bool siblings);

#endif
