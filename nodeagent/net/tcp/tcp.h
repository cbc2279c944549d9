/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agents' messages over TCP, for sessions without MPI; see vftr-distributed(7). An
 * agent has a connection to its neighbours in the tree (net/tree.h), and to others when one of the
 * two has something for the other; a message stays here until the other side
 * has it, whatever happens to connections. Lives in the proxy; never waits for the
 * network but in receive().
 */
#ifndef VFTR_NODEAGENT_NET_TCP_TCP_H
#define VFTR_NODEAGENT_NET_TCP_TCP_H

#include <stdbool.h>

struct transport;
struct transport_plan_operations;

struct tcp_options {
	const char *peers;     /* contacts of all agents (contact.h); NULL: agent 0 sends them */
	const char *listen;    /* "ADDRESS:PORT", ":PORT"; NULL: as in peers */
	const char *secret;    /* file; NULL: the default one */
	const char *interface; /* NULL: all */
	int me;		       /* place in peers, -1: find out */
	/* those that have not come so long after the start take no part; 0: as for the dead */
	double meet_s;
	bool any_session; /* the session's name was not given: those of other agents may differ */
	/* this is agent 0, and invites the agents of these n contacts */
	bool lead;
	char **contacts;
	int n_contacts;
};

/*
 * Listens, and begins to look for the others, which goes on whenever a function of the
 * transport runs. host, session: of this agent; an agent that is silent for deadline_s is taken
 * for dead. NULL with *error, a sentence (caller frees). Before the others are known, size
 * is 0.
 */
struct transport *tcp_open(const struct tcp_options *o, const char *host, const char *session,
	double deadline_s, char **error);

/* After tcp_open(): deadline_s gets so many seconds more for each agent, when they are known. */
void tcp_more_patience(struct transport *p, double more_s);

/* The contact of this agent (contact.h); the caller frees. */
char *tcp_contact(const struct transport *p);

/*
 * To be called repeatedly: true as soon as p->plan is set, when all agents have met, or
 * deadline_s or options.meet_s after the start.
 */
bool tcp_joined(struct transport *p, const struct transport_plan_operations *o);

/* Viewers from outside of the job who know the secret reach the agent at this socket by us. */
void tcp_admit_viewers(struct transport *p, const char *socket);

/*
 * Lines about strangers, broken connections and so on since the last call, each with a
 * newline, or NULL; the caller frees. They were printed on standard error already.
 */
char *tcp_notes(struct transport *p);

#endif
