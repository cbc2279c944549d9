/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI in a process of its own. Launchers kill all processes of a job when one
 * has died, and MPI libraries end the process when the launcher has gone; so
 * the process that the launcher knows only carries messages, and the agent is
 * its child in a session of its own. The two talk over a socket pair.
 *
 *	launcher -> courier (MPI) <-- requests, answers --> agent
 *
 * If the agent dies, the courier takes its place in the collation, with
 * nothing but the host's name. If the courier dies, the agent finds itself
 * alone: every operation gives -ECONNRESET.
 */
#ifndef VFTR_NODEAGENT_COURIER_H
#define VFTR_NODEAGENT_COURIER_H

#include <stdbool.h>
#include <stddef.h>

struct peer;

/* Whether this process is the agent of a courier (peer_shield() was called). */
bool courier_there(void);

/* Lets the courier load the plug-in. As peer_open(). */
struct peer *courier_open(const char *plugin, char **error);

/*
 * What the courier needs to take the agent's place: its plan, host and time to
 * wait, to be told after collate_start(). collated: a run is over, only the
 * end is to come. Nothing happens if peer has no courier.
 */
void courier_remember(struct peer *peer, const void *plan, size_t bytes, const char *host);
void courier_collated(struct peer *peer);

#endif
