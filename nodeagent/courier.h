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
 * nothing but the host's name, and removes the files of its session. If the
 * courier dies, the agent finds itself alone: every operation gives -ECONNRESET.
 */
#ifndef VFTR_NODEAGENT_COURIER_H
#define VFTR_NODEAGENT_COURIER_H

#include <stdbool.h>
#include <stddef.h>

struct clock_sync;
struct peer;
struct peer_tcp_options;

/* Whether this process is the agent of a courier (peer_shield() was called). */
bool courier_there(void);

/* Lets the courier load the plug-in. As peer_open(). */
struct peer *courier_open(const char *plugin, double start_s, char **error);

/*
 * Before peer_shield(): the courier speaks TCP (peer-tcp.h), and these options stay. Then
 * courier_join() begins; contacts: those that this agent invites, whatever the options say, or
 * NULL; *text is this agent's contact, or if it fails, false, a sentence;
 * the caller frees. courier_joined(): 0 and *peer, with its plan; -EAGAIN: the others are not
 * all there yet; another -errno: the courier has gone. Clocks are compared from then on.
 * courier_notes(): lines for the log, or NULL; the caller frees.
 */
void courier_use_tcp(const struct peer_tcp_options *options);
bool courier_join(const char *host, const char *session, double deadline_s, double sync_interval_s,
	const char *contacts, char **text);
int courier_joined(struct peer **peer);
char *courier_notes(void);

/* An eventfd, rung by a courier that speaks TCP when there is news (peer.h); else -1. */
int courier_bell(void);

/*
 * What the courier needs to take the agent's place: its plan, host and time to
 * wait, to be told after collate_start(). collated: a run is over, only the
 * end is to come. Nothing happens if peer has no courier.
 */
void courier_remember(struct peer *peer, const void *plan, size_t bytes, const char *host);
void courier_collated(struct peer *peer);

/*
 * From now on the couriers compare the clocks of their nodes (clock-burst.h); to be
 * called by all agents after collate_start().
 */
void courier_compare_clocks(struct peer *peer, double interval_s);

/*
 * What is known of this node's clock, settled; the caller clears it. last_s > 0:
 * after a last comparison, for which all agents call this, and which waits at most
 * so many seconds for the parent, and again for the children. False if nothing is
 * known; *c is then empty.
 */
bool courier_clock(struct peer *peer, double last_s, struct clock_sync *c);

#endif
