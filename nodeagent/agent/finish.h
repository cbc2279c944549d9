/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a run: gathers profiles, collates them with the other agents, writes them. */
#ifndef VFTR_NODEAGENT_AGENT_FINISH_H
#define VFTR_NODEAGENT_AGENT_FINISH_H

#include <time.h>

struct agent;
struct profile;

/*
 * Finishes all processes and writes this node's files; with other agents it
 * collates, and agent 0 writes the summary. 0, or 1 if a file could not be written
 * (with a message). Writes nothing if no process was traced.
 */
int agent_finish(struct agent *a);

/* Prints the digest of the job's profile on standard error, and what else a user has to know. */
void agent_tell_profile(const struct agent *a, const struct profile *p);

/*
 * In a copy of the agent (snapshot.h): the same without the other agents. Processes
 * that still run are shown as running; without other nodes it also writes the summary.
 */
int agent_write_so_far(struct agent *a);

/*
 * The first half of agent_write_so_far(): ends all processes in the copy; returns how many still
 * ran.
 */
unsigned agent_close_copy(struct agent *a);

/* What a standby (standby.h) knows when its agent has died. */
struct standby_results {
	time_t until;			    /* when the copy was made: its results end there */
	unsigned running;		    /* what agent_close_copy() has returned */
	void (*tell_when)(struct agent *a); /* returns when it may print */
};

/*
 * The second half, in a standby: writes the files of this node, from the agent's own node profile if
 * that is later, and prints that it died and where they are. 0, or 1 if one could not be written
 * (with a message).
 */
int agent_write_standby(struct agent *a, const struct standby_results *r);

/* Writes the files of a round (rounds.h) from the profile of this node; 0, or 1 after a message. */
int agent_write_round(struct agent *a, const struct profile *node, unsigned round);
/*
 * Reads the node profile of a round that agent_write_round() has written for the application of
 * `like`. NULL without *error: there is none. NULL with *error, which the caller frees: it cannot
 * be read.
 */
struct profile *agent_read_round(
	const struct agent *a, const struct profile *like, unsigned round, char **error);

#endif
