/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI in a process of its own. Launchers kill all processes of a job when one
 * has died, and MPI libraries end the process when the launcher has gone; so
 * the process that the launcher knows only carries messages, and the agent is
 * its child in a session of its own. The two talk over a socket pair.
 *
 *	launcher -> proxy (MPI) <-- requests, answers --> agent
 *
 * If the agent dies, the proxy takes its place in the collation, with
 * nothing but the host's name, and removes the files of its session. If the
 * proxy dies, the agent finds itself alone: every operation gives -ECONNRESET.
 */
#ifndef VFTR_NODEAGENT_PROXY_PROXY_H
#define VFTR_NODEAGENT_PROXY_PROXY_H

#include <stdbool.h>

struct clock_sync;
struct transport;
struct tcp_options;

/* Functions that the proxy calls; each may be NULL. */
struct proxy_duties {
	void (*begin)(void);	    /* after the fork: closes descriptors of the agent */
	void (*agent_killed)(void); /* removes what the agent has left behind */
	/* Sends what other agents wait for before they collate. */
	void (*take_over)(struct transport *transport);
};

/*
 * For agents that a launcher started; to be called first in main, before any
 * thread. The caller becomes the proxy: it stays with the launcher, does the
 * agent's MPI, passes SIGTERM, SIGINT, SIGHUP and SIGUSR1 on, and ends with the
 * agent's status, or with 0 when it had to take over for an agent that was
 * killed. The rest of the program runs in a child, where this returns (and gets
 * SIGTERM if the proxy dies). If fork fails it returns in the caller, and MPI
 * will be in the agent itself. duties: NULL, or valid until the end.
 */
void proxy_shield(const struct proxy_duties *duties);

/* True if this process is the agent of a proxy (proxy_shield() was called). */
bool proxy_there(void);

/*
 * Joins the other agents by a plug-in (transport_plugin()), in the proxy if there is one, else in
 * this process. They have start_s seconds to meet. NULL with *error: a sentence (caller frees).
 */
struct transport *proxy_open(const char *plugin, double start_s, char **error);

/*
 * Before proxy_shield(): the proxy speaks TCP (net/tcp/tcp.h); the options stay valid. Then
 * proxy_join() begins; contacts: agents to invite, in place of those in the options, or NULL;
 * *text is this agent's contact, or, if it returns false, a sentence; the caller frees.
 * proxy_joined(): 0 and *transport, with its plan; -EAGAIN: the others are not
 * all there yet; another -errno: the proxy has gone. Clocks are compared from then on.
 * proxy_notes(): lines for the log, or NULL; the caller frees.
 */
void proxy_use_tcp(const struct tcp_options *options);
bool proxy_join(const char *host, const char *session, double deadline_s, double more_s,
	double sync_interval_s, const char *contacts, char **text);
int proxy_joined(struct transport **transport);
char *proxy_notes(void);

/* After proxy_join(): viewers from outside, who know the secret, reach the agent's socket. */
void proxy_admit_viewers(const char *socket);

/*
 * An eventfd that the proxy rings, with TCP when transport->news grows, with MPI for the tag of
 * transport->listen() (net/transport.h); -1: there is no proxy.
 */
int proxy_bell(void);
/* True if it rings for each message (TCP). */
bool proxy_rings_for_all(void);

/*
 * From now on the proxies compare the clocks of their nodes (clock/burst.h); to be
 * called by all agents after collate_start().
 */
void proxy_compare_clocks(struct transport *transport, double interval_s);

/*
 * The comparisons of this node's clock, settled; the caller clears *c. last_s > 0:
 * after a last comparison, for which all agents call this, and which waits at most
 * so many seconds for the parent, and again for the children. False, with *c empty,
 * if there are none.
 */
bool proxy_clock(struct transport *transport, double last_s, struct clock_sync *c);

#endif
