/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of the agent: children with its memory, which write results while it goes on. A copy
 * shares with the agent what is mapped from segments, and the descriptors.
 */
#ifndef VFTR_NODEAGENT_AGENT_COPY_H
#define VFTR_NODEAGENT_AGENT_COPY_H

#include <stdbool.h>
#include <sys/types.h>

struct agent;

/*
 * Makes one: 0 in the copy, its pid in the agent, -1 and errno if there can be none. The copy
 * writes to no segment, reads no socket, and has no listener; its processes are as they were when
 * it was made, with what their threads have stored until then, or, with only_read, with what the
 * agent has read.
 */
pid_t copy_make(struct agent *a, bool only_read);

/* True if it has ended; then its CPU time counts for the agent. Does not wait. */
bool copy_is_reaped(struct agent *a, pid_t copy);

#endif
