/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agents' messages over TCP, for sessions without MPI; see vftr-distributed(7). Each
 * agent has one connection to each other one; a message stays here until the other side
 * has it, whatever happens to connections. Lives in the courier; never waits for the
 * network but in receive().
 */
#ifndef VFTR_NODEAGENT_PEER_TCP_H
#define VFTR_NODEAGENT_PEER_TCP_H

#include <stdbool.h>
#include <stddef.h>

struct peer;

struct peer_tcp_options {
	const char *peers;     /* contacts of all agents (contact.h); NULL: agent 0 will tell */
	const char *listen;    /* "ADDRESS:PORT", ":PORT"; NULL: as in peers */
	const char *secret;    /* file; NULL: the default one */
	const char *interface; /* NULL: all */
	int me;		       /* place in peers, -1: find out */
	bool any_session;      /* the session's name is of our own making: others' may differ */
	/* this is agent 0, and these n contacts are those of the others, which wait to be told */
	bool lead;
	char **contacts;
	int n_contacts;
};

/*
 * Listens, and begins to look for the others, which takes place whenever functions of the
 * peer run. host, session: of this agent; an agent that is silent for deadline_s is taken
 * for dead. NULL with *error, a sentence (caller frees). Before the others are known, size
 * is 0.
 */
struct peer *peer_tcp_open(const struct peer_tcp_options *o, const char *host, const char *session,
	double deadline_s, char **error);

/* How this agent can be reached (contact.h); the caller frees. */
char *peer_tcp_contact(const struct peer *p);

/*
 * To be called again and again: true as soon as p->plan is there, which is when all agents
 * have met, or deadline_s after the start.
 */
bool peer_tcp_joined(struct peer *p);

/*
 * Lines about strangers, cuts and the like since the last call, each with a newline, or
 * NULL; the caller frees. They were on standard error already.
 */
char *peer_tcp_notes(struct peer *p);

#endif
